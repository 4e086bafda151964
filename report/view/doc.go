// Package view makes pages of runs: one file that opens from disk, needs no network
// and shows a counterexample step by step.
//
// [New] turns a replay into a [Document], which is data: hosts, events, rows, requests,
// memory, operations, source lines. [Write] puts it into a page with the front end,
// which is TypeScript without a framework in front/ and built into dist/ by
//
//	go generate ./report/view
//
// with esbuild; a test compares dist/ with front/. The front end draws what is in the
// document and infers nothing about cards: the simulator decides whether and when a
// piece landed.
//
// # What may be in a document
//
// Names of hosts, files and regions, texts of scenarios and contents of memory may
// hold anything. They enter the page as JSON in which <, > and & are escaped, and from
// there the DOM tree as text, never as markup; the page's content security policy
// allows no script but its own and no connection at all.
package view
