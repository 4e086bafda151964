// Package lint holds the rules of this repository that a compiler does not
// check, as tests: which package may import which, what a deterministic package
// may not touch, how long a file may be. Each finding suggests what to do instead.
//
// The rules run with go test ./... over the whole repository, see [Rules]. The
// files in testdata show their messages: each holds small packages and the
// findings expected for them, and
//
//	go test ./internal/lint -rewrite
//
// rewrites the findings, and the tables of packages in docs/packages.md and docs/architecture.md,
// which are made from layers.go.
//
// # Where to look
//
// Which package may import which is the table in layers.go. What deterministic
// packages may not use, and what takes its place, are the tables of package
// determinism.
//
// # Exceptions
//
// A range over a map whose order does not matter, in a way the rule cannot see,
// carries the reason on its line or the line above:
//
//	//lint:ordered every iteration writes its own slot
//
// No other rule has an exception.
package lint
