package lint

import (
	"path"
	"slices"
	"strings"
)

// layer is a group of packages with the same place in the direction of imports.
type layer struct {
	name string
	// at are the folders of the layer; "x/..." takes the folders below x too. An entry
	// such as "*check" stands for every folder below another one whose name ends so, and all below it.
	at []string
	// may names the other layers that it may import. Packages of one layer may
	// import each other, except as apart allows.
	may []string
	// apart: only packages below the same folder of at may import each other.
	apart bool
	// modules are the other modules that it may import; "*" is any.
	modules []string
	// holds describes the content of the layer, for the tables of pages; page names the page
	// below docs with a longer description.
	holds, page string
	why         string
}

// below are the layers that everything from verbs/sim on may use.
var below = []string{"verbs", "host", "codec", "fingerprint", "faults", "model", "coord"}

// layers is the direction of imports as a table: which may import which, and why.
var layers = []layer{
	{name: "verbs", at: []string{"verbs"},
		holds: "the vocabulary of RDMA: types and interfaces, named as in libibverbs",
		why:   "every package speaks it, so it holds types and interfaces and imports the standard library alone"},
	{name: "host", at: []string{"host"}, may: []string{"verbs"},
		holds: "what protocol code gets from its machine: tasks, clock, random numbers, locks, memory, messages",
		why:   "every package speaks it"},
	{name: "pages", at: []string{"internal/pages"}, may: []string{"verbs", "host"}, modules: []string{"golang.org/x/sys/unix"},
		holds: "memory that cards may reach",
		why:   "memory for cards, which both the binding and the host need; it uses their vocabulary and knows neither"},
	{name: "mistake", at: []string{"internal/mistake"},
		holds: "suggestions for misspelt words, and lines with a caret, for errors about a text",
		why:   "words and lines, for errors about any text: it knows no language"},
	{name: "codec", at: []string{"codec/...", "internal/codec/..."}, modules: []string{"github.com/klauspost/reedsolomon"},
		holds: "short messages with bounds (`codec/wire`), erasure codes (`codec/erasure`), and records in a file of fixed size",
		why:   "bytes in, bytes out: it knows no machine"},
	{name: "fingerprint", at: []string{"fingerprint"},
		holds: "128-bit hashes of everything that distinguishes two states",
		why:   "one definition of what distinguishes two states, for the simulator, services and checks"},
	{name: "faults", at: []string{"faults/..."}, may: []string{"verbs", "host", "mistake"},
		holds: "hardware profiles and fault budgets, as data", page: "profiles",
		why: "it is data: profiles and budgets, not what carries them out"},
	{name: "model", at: []string{"model/..."}, may: []string{"verbs", "host", "fingerprint", "faults"},
		modules: []string{"github.com/anishathalye/porcupine"},
		holds:   "sequential specifications, histories, and the promise of a log that is recovered",
		why:     "a specification is a pure function"},
	{name: "strace", at: []string{"strace/..."},
		holds: "recordings of system calls, read into workloads",
		why:   "it turns a recording of system calls into data"},
	{name: "coord", at: []string{"coord/..."}, may: []string{"verbs", "host", "codec", "fingerprint", "faults", "model"},
		holds: "the coordination service: small values, compare-and-set, sessions", page: "controllers",
		why: "protocols use it on every backend"},
	{name: "coord/etcd", at: []string{"coord/etcd/..."}, may: []string{"coord"},
		modules: []string{"go.etcd.io/etcd", "go.uber.org/zap", "google.golang.org/grpc"},
		holds:   "an etcd cluster as the coordination service", page: "controllers",
		why: "the operating system's network as a coord.Client knows no card and no protocol"},
	{name: "kit", at: []string{"kit/..."}, may: []string{"verbs", "host", "codec", "coord"},
		holds: "what protocols share: counting quorums, lending memory and connecting to it, calls over Send and Recv, controller entries",
		why:   "what protocols have in common knows no protocol and no backend"},
	{name: "pair", at: []string{"internal/pair"}, may: []string{"verbs", "host", "kit"},
		holds: "two connected hosts, for tests whose subject is something else",
		why:   "tests of any layer that has both take it; it knows no backend"},
	{name: "pmemhost", at: []string{"internal/pmemhost"}, may: []string{"verbs", "host"},
		holds: "a host with persistent memory only, which tests crash at any step",
		why:   "tests of any layer that keeps logs use it; it knows no log"},
	{name: "cluster", at: []string{"cluster/..."}, may: []string{"verbs", "host", "coord"},
		holds: "what processes do besides running the protocol: sessions, names, addresses, the coordinator", page: "controllers",
		why: "what processes do besides the protocol is checked as the protocol is; it knows no protocol, and takes what it guards as an interface"},
	{name: "protocol", at: []string{"protocol/..."}, apart: true,
		may:   []string{"verbs", "host", "codec", "coord", "kit"},
		holds: "protocols; `protocol/ncl` is NCL, the near-compute log of SplitFT; `protocol/arcadia` the replicated log of Arcadia; `protocol/sift` the replicated memory and the key-value store of Sift; `protocol/raftr` Raft-R, its baseline", page: "ncl",
		modules: []string{"go.etcd.io/raft/v3"},
		why:     "the code that is checked is the code that runs on hardware; protocol/raftr takes the library for Raft"},
	{name: "splitfs", at: []string{"splitfs/..."}, may: []string{"verbs", "host", "codec", "coord", "protocol"},
		modules: []string{"github.com/ncruces/go-sqlite3", "github.com/hanwen/go-fuse/v2", "github.com/cockroachdb/pebble", "golang.org/x/sys/unix"},
		holds:   "files on NCL or in a directory, for SQLite, Pebble and mounts", page: "splitfs",
		why: "it is an application of protocol/ncl on any backend; what joins it to a program has a package of its own"},
	{name: "verbs/verbstest", at: []string{"verbs/verbstest/..."}, may: []string{"verbs", "host"},
		holds: "a suite of cases that every implementation of `verbs` passes", page: "fidelity",
		why: "a suite that knows a backend can be lenient with it"},
	{name: "goroutine", at: []string{"internal/goroutine"}, modules: []string{"github.com/petermattis/goid"},
		holds: "which goroutine calls, for one error of the simulator",
		why:   "it distinguishes goroutines, and knows nothing about what they do"},
	{name: "verbs/sim", at: []string{"verbs/sim/..."}, may: append(slices.Clone(below), "goroutine"),
		holds: "the simulator of hosts with RDMA cards, in which every source of nondeterminism is a choice", page: "semantics",
		why: "a simulator that knows a protocol can be wrong in its favour"},
	{name: "sleepers", at: []string{"internal/sleepers"}, may: []string{"verbs"},
		holds: "which waiters of a completion channel sleep, and which are woken",
		why:   "completion channels of any card take it; it knows none"},
	{name: "verbs/hw", at: []string{"verbs/hw/..."}, may: append(slices.Clone(below), "pages", "sleepers"),
		holds: "the binding to libibverbs, under the build tag `rdma`", page: "hardware",
		why: "the binding knows the card and no protocol"},
	{name: "verbs/soft", at: []string{"verbs/soft/..."}, may: []string{"verbs", "sleepers"},
		holds: "a card made of goroutines, over TCP, for machines without a card", page: "hardware",
		why: "a card made of goroutines knows what a card does, and nothing of the programs that use it"},
	{name: "host/oshost", at: []string{"host/oshost/..."}, may: []string{"verbs", "host", "codec", "pages"},
		modules: []string{"golang.org/x/sys/unix"},
		holds:   "a host on the operating system, for any card", page: "hardware",
		why: "the operating system as a host.Host takes any verbs.Device, so it needs neither the binding nor a C compiler"},
	{name: "whole", at: []string{"internal/whole"},
		holds: "files that are written atomically",
		why:   "it writes files and knows nothing of what is in them"},
	{name: "explore", at: []string{"explore/..."}, may: append(slices.Clone(below), "verbs/sim", "whole"),
		modules: []string{"*"},
		holds:   "the checker: search, shrinking, replay; `explore/timeline` draws runs, `explore/scenario` is a kit for scenarios, and `explore/audit` tests the rules of the search",
		why:     "the checker treats every scenario the same"},
	{name: "litmus/lang", at: []string{"litmus/lang"}, may: []string{"verbs", "faults", "mistake"},
		holds: "the language of litmus tests: tree, parser, printer", page: "litmus",
		why: "a test is a text, whoever runs it: the language knows neither the simulator nor the checker"},
	{name: "litmus", at: []string{"litmus/..."}, may: append(slices.Clone(below), "mistake", "litmus/lang", "kit", "verbs/sim", "explore"),
		holds: "litmus tests, which are small programs with a question, and their search", page: "litmus",
		why: "a test is a text: it knows the vocabulary and the checker, and no protocol"},
	{name: "semantics", at: []string{"semantics/..."}, may: []string{"verbs", "faults", "litmus/lang"},
		holds: "the rules of docs/semantics.md as a second machine, small and slow, which runs litmus tests", page: "semantics",
		why: "it judges the simulator, so it shares no code with it: it knows the text of a test, and the profiles as data"},
	{name: "report/view", at: []string{"report/view/..."}, may: []string{"fingerprint", "verbs/sim", "explore"},
		holds: "counterexamples as pages", page: "viewer",
		why: "a page is data of any run: it knows no protocol"},
	{name: "litmus/device", at: []string{"litmus/device/..."}, may: []string{"verbs", "host", "host/oshost", "faults", "litmus", "litmus/lang"},
		holds: "litmus tests on cards, compared with the simulator", page: "fidelity",
		why: "it runs tests on any verbs.Device, so the comparison with the simulator needs neither the binding nor a card"},
	{name: "scenario", at: []string{"examples/...", "*check"}, modules: []string{"*"},
		may:   append(slices.Clone(below), "strace", "cluster", "kit", "protocol", "splitfs", "verbs/sim", "verbs/hw", "host/oshost", "explore", "pmemhost"),
		holds: "scenarios: a protocol, a workload, a model and faults",
		why:   "a scenario joins a protocol, a workload, a model and faults"},
	{name: "determinism", at: []string{"internal/determinism"}, modules: []string{"golang.org/x/tools/go/analysis"},
		holds: "the rules for code that the checker runs, for this module and as a `go/analysis` analyzer", page: "own",
		why: "it reads code, and runs none"},
	{name: "lint", at: []string{"internal/lint/..."}, may: []string{"determinism"}, modules: []string{"*"},
		holds: "the rules of this repository that a machine can check, as tests",
		why:   "it reads the other packages and runs none"},
	{name: "source", at: []string{"internal/source"},
		holds: "where the source tree of this module is",
		why:   "it finds a folder"},
	{name: "explore/coverage", at: []string{"explore/coverage/..."}, may: []string{"source"}, modules: []string{"golang.org/x/tools/cover"},
		holds: "which lines of a protocol a search reached",
		why:   "it reads the counters of the program that it is linked into"},
	{name: "explore/mutant", at: []string{"explore/mutant/..."}, may: []string{"explore", "mistake", "source"},
		modules: []string{"github.com/bluekeyes/go-gitdiff"},
		holds:   "deliberate bugs, and whether they are caught", page: "mutants",
		why: "it runs the go command and the programs that it builds, and reads what they found"},
	{name: "explore/mutant/generate", at: []string{"explore/mutant/generate"}, may: []string{"explore/mutant"}, modules: []string{"golang.org/x/tools/go"},
		holds: "the operators that generate mutants", page: "mutants",
		why: "it needs the Go type checker, which the commands that check do not link"},
	{name: "explore/matrix", at: []string{"explore/matrix/..."}, may: []string{"faults", "verbs/sim", "explore"},
		holds: "the promises of cards that a protocol depends on", page: "matrix",
		why: "it combines many checks of any scenarios"},
	{name: "number", at: []string{"internal/number"},
		holds: "numbers formatted for people",
		why:   "it formats numbers of any kind"},
	{name: "docs", at: []string{"internal/docs/..."}, modules: []string{"golang.org/x/net/html"},
		holds: "the pages of this repository: their links, their order, and the site that `scripts/site` makes of them",
		why:   "a page is a text: it knows no package"},
	{name: "report", at: []string{"report/..."}, modules: []string{"golang.org/x/net/html"},
		may:   []string{"faults", "verbs/sim", "explore", "explore/matrix", "explore/mutant", "explore/coverage", "number"},
		holds: "the page of `check --report`", page: "viewer",
		why: "a page is data of any checks: it knows no protocol"},
	{name: "bench", at: []string{"bench/..."}, modules: []string{"*"},
		may:   []string{"verbs", "host", "faults", "coord", "kit", "protocol", "splitfs", "verbs/sim", "verbs/hw", "host/oshost"},
		holds: "latency and throughput on cards, compared with perftest, and in the simulator", page: "benchmarks",
		why: "it runs the same loops on every backend, and looks for no bugs"},
	{name: "cmd/internal", at: []string{"cmd/internal/..."}, may: []string{"faults", "mistake", "litmus", "litmus/lang"},
		modules: []string{"github.com/spf13/cobra", "github.com/jedib0t/go-pretty/v6"},
		holds:   "code shared by the commands",
		why:     "all commands import it, so it knows the purpose of none"},
	{name: "cmd/verbatim", at: []string{"cmd/verbatim/..."}, modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/tools/go/analysis", "github.com/fsnotify/fsnotify"},
		may: append(slices.Clone(below), "strace", "protocol", "verbs/sim", "explore", "litmus", "litmus/lang", "scenario", "explore/mutant", "explore/matrix", "explore/coverage", "mistake", "source",
			"report", "report/view", "whole", "number", "determinism", "cmd/internal"),
		holds: "the command that checks",
		why:   "it checks, and is built in seconds: what runs protocols on machines and measures them is in cmd/verbatim-run"},
	{name: "cmd/verbatim-mutate", at: []string{"cmd/verbatim-mutate"}, may: []string{"explore/mutant/generate"},
		holds: "the command that generates mutants, for `verbatim mutants --generate`", page: "mutants",
		why: "it is separate so that `cmd/verbatim` builds in seconds"},
	{name: "farm", at: []string{"farm/..."}, modules: []string{"github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2", "github.com/nats-io/nuid"},
		holds: "command lines that run on many machines", page: "farm",
		why: "a job is a command line of any program: it knows nothing of what it runs"},
	{name: "cmd/verbatim-farm", at: []string{"cmd/verbatim-farm/..."}, modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"},
		may:   []string{"farm", "faults", "explore", "explore/mutant", "mistake", "cmd/internal"},
		holds: "the command that runs checks on many machines", page: "farm",
		why: "it is separate so that `cmd/verbatim` stays small: it links a server"},
	{name: "cmd/verbatim-run", at: []string{"cmd/verbatim-run/..."}, modules: []string{"*"},
		may: append(slices.Clone(below), "coord/etcd", "cluster", "protocol", "splitfs", "verbs/hw", "verbs/soft", "host/oshost", "litmus", "litmus/lang", "litmus/device", "scenario", "bench", "mistake",
			"whole", "number", "cmd/internal"),
		holds: "the command that runs protocols on machines, and measures them",
		why:   "it joins everything that runs on machines, and nothing imports it"},
}

// mends suggests what to do instead of an import, by importing and imported layer.
var mends = map[[2]string]string{
	{"protocol", "verbs/sim"}:   "take a host.Host and its verbs.Device as arguments, and put what needs the simulator into %s",
	{"protocol", "verbs/hw"}:    "take a host.Host and its verbs.Device as arguments; the program that starts the protocol picks the backend",
	{"protocol", "host/oshost"}: "take a host.Host as an argument; the program that starts the protocol picks the backend",
	{"protocol", "explore"}:     "put the scenario into %s",
	{"protocol", "faults"}:      "put the fault budget into the scenario, %s; the protocol finds out what the card can do with verbs.Device.Attr",
	{"protocol", "model"}:       "put the specification and what records the history into the scenario, %s",
	{"protocol", "scenario"}:    "let the scenario import the protocol",
	{"protocol", "protocol"}:    "move what both need into a package below kit or codec",
	{"verbs/sim", "protocol"}:   "put what needs both into the protocol's scenario package",
	{"verbs/sim", "explore"}:    "declare in verbs/sim the interface that it needs, and let explore implement it",
	{"explore", "protocol"}:     "take a scenario as an argument; the scenario package imports the protocol",
}

// layerOf returns the layer of the package, which is that of the innermost folder in the
// table, or nil.
func layerOf(pkg string) *layer {
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		for i := range layers {
			for _, at := range layers[i].at {
				suffix, any := strings.CutPrefix(at, "*")
				if at == dir+"/..." || at == pkg && dir == pkg || any && strings.Contains(dir, "/") && strings.HasSuffix(dir, suffix) {
					return &layers[i]
				}
			}
		}
	}
	return nil
}

// checkImports checks every import of the code against the table. Tests may import
// anything: they are not part of the package that they test.
func checkImports(r *Repo) []Finding {
	var found []Finding
	for _, p := range r.Packages {
		if len(p.Code()) == 0 {
			continue
		}
		from := layerOf(p.Path)
		if from == nil {
			found = append(found, r.finding(p.Code()[0].AST.Package,
				"package %s has no place in the table of layers; give it a row in internal/lint/layers.go that says what it may import and why", p.Path))
			continue
		}
		for _, f := range p.Code() {
			for _, spec := range f.AST.Imports {
				if text := importMend(r, p.Path, from, importPath(spec)); text != "" {
					found = append(found, r.finding(spec.Pos(), "%s imports %s, and %s may not (%s); %s",
						p.Path, strings.TrimPrefix(importPath(spec), r.Module+"/"), from.name, from.why, text))
				}
			}
		}
	}
	return found
}

// importMend returns empty if package pkg may import imp, and otherwise the advice.
func importMend(r *Repo, pkg string, from *layer, imp string) string {
	rel, local := r.local(imp)
	if !local {
		if !strings.Contains(strings.Split(imp, "/")[0], ".") || from.allows(imp) {
			return "" // the standard library has no dot in its first element
		}
		return "use the standard library, or add the module to the row of " + from.name + " in internal/lint/layers.go if it is a codec"
	}
	to := layerOf(rel)
	switch {
	case to == nil:
		return "give " + rel + " a row in internal/lint/layers.go first"
	case to == from && (!from.apart || family(pkg) == family(rel)):
		return ""
	case slices.Contains(from.may, to.name):
		return ""
	}
	if mend := mends[[2]string{from.name, to.name}]; mend != "" {
		return strings.ReplaceAll(mend, "%s", scenarioOf(pkg))
	}
	return "move what both need into a layer that " + from.name + " may import: " + strings.Join(append([]string{"the standard library"}, from.may...), ", ")
}

func (l *layer) allows(imp string) bool {
	return slices.ContainsFunc(l.modules, func(m string) bool {
		return m == "*" || imp == m || strings.HasPrefix(imp, m+"/")
	})
}

// family returns the protocol that a package belongs to: protocol/ncl for protocol/ncl/wire.
func family(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}

// scenarioOf returns where the scenarios of a protocol live.
func scenarioOf(pkg string) string { return family(pkg) + "/" + path.Base(family(pkg)) + "check" }
