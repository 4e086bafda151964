package lint

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

var rewrite = flag.Bool("rewrite", false, "write the findings of testdata and the tables of pages anew")

const root = "../.."

// exports are shared: the go command is asked once for the standard library.
var exports = sync.OnceValue(func() *Exports { return NewExports(root) })

// TestRepository applies every rule to this repository.
func TestRepository(t *testing.T) {
	repo, err := Load(os.DirFS(root), exports())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Check(repo) {
		t.Error(f)
	}
}

// TestRules holds the findings in each file of testdata against the packages in it.
func TestRules(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no files in testdata", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			head, want, ok := bytes.Cut(text, []byte("-- findings --\n"))
			if !ok {
				t.Fatal("no section of findings")
			}
			var got strings.Builder
			for _, f := range Check(load(t, string(head))) {
				fmt.Fprintln(&got, f)
			}
			if *rewrite {
				text = append(head, "-- findings --\n"+got.String()...)
				if err := os.WriteFile(name, text, 0o666); err != nil {
					t.Fatal(err)
				}
			} else if got.String() != string(want) {
				t.Errorf("found\n%swant\n%s(go test ./internal/lint -rewrite writes them anew)", got.String(), want)
			}
		})
	}
}

// TestMends holds what no rewriting may lose: each of these breaks a rule, is
// found on its line, and the message names what takes its place.
func TestMends(t *testing.T) {
	const sim = "-- verbs/sim/doc.go --\n// Package sim is the simulator.\npackage sim\n\n// World is a world.\ntype World struct{}\n"
	for _, tc := range []struct {
		name, imports, body, mend string
		line                      int
	}{
		{"simulator", `_ "m.test/verbs/sim"`, "", "put what needs the simulator into protocol/bad/badcheck", 4},
		{"clock", `"time"`, "func f() time.Time {\n\treturn time.Now()\n}", "use host.Host.Now", 7},
		{"sleep", `"time"`, "func f() { time.Sleep(time.Second) }", "use host.Host.Sleep", 6},
		{"goroutine", `"fmt"`, "func f() {\n\tgo fmt.Println()\n}", "use host.Host.Go", 7},
		{"random", `"math/rand/v2"`, "func f() int { return rand.Int() }", "use host.Host.Rand", 4},
		{"mutex", `"sync"`, "func f(m *sync.Mutex) { m.Lock() }", "use host.Mutex", 4},
		{"map", `"fmt"`, "func f(m map[int]int) {\n\tfor k := range m {\n\t\tfmt.Println(k)\n\t}\n}", "collect the keys, slices.Sort them", 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := "// Package bad is bad.\npackage bad\n\nimport " + tc.imports + "\n\n" + tc.body + "\n"
			found := Check(load(t, "-- go.mod --\nmodule m.test\n"+sim+"-- protocol/bad/bad.go --\n"+src))
			if len(found) != 1 {
				t.Fatalf("found %v, want one finding", found)
			}
			f := found[0]
			if f.File != "protocol/bad/bad.go" || f.Line != tc.line || !strings.Contains(f.Text, tc.mend) {
				t.Errorf("found %v, want line %d and %q", f, tc.line, tc.mend)
			}
		})
	}
}

// TestLength: one line more than the limits is found, the limits are not.
func TestLength(t *testing.T) {
	lengthOf := func(file, fn int) string {
		body := "// Package p is long.\npackage p\n\nfunc f() {\n" + strings.Repeat("\n", fn-2) + "}\n"
		return "-- go.mod --\nmodule m.test\n-- model/p.go --\n" + body + strings.Repeat("//\n", file-strings.Count(body, "\n"))
	}
	if found := Check(load(t, lengthOf(maxFileLines, maxFuncLines))); len(found) != 0 {
		t.Errorf("at the limits: found %v", found)
	}
	found := Check(load(t, lengthOf(maxFileLines+1, maxFuncLines+1)))
	if len(found) != 2 || found[0].Line != 4 || found[1].Line != maxFileLines+1 {
		t.Errorf("past the limits: found %v, want lines 4 and 701", found)
	}
}

// TestText puts its needles together, as the rule does.
func TestText(t *testing.T) {
	text := "see host" + machineRoots[0] + "x and x.test" + machineRoots[1] + "\n" +
		"run " + machineRoots[0] + "main/run\n" +
		"GOPROXY=https://" + registryHosts[0] + "\n"
	found := Check(load(t, "-- go.mod --\nmodule m.test\n-- docs/a.md --\n"+text))
	if len(found) != 2 || found[0].Line != 2 || found[1].Line != 3 {
		t.Fatalf("found %v, want lines 2 and 3", found)
	}
	for i, mend := range []string{"make it relative to the repository", "name the package"} {
		if !strings.Contains(found[i].Text, mend) {
			t.Errorf("%v does not say %q", found[i], mend)
		}
	}
}

// TestTable: every name in the table of layers is a layer, and the direction
// has no cycle, so that the table is an order.
func TestTable(t *testing.T) {
	for i, l := range layers {
		if l.why == "" || l.holds == "" {
			t.Errorf("layer %s does not say why, or what it holds", l.name)
		}
		if _, err := os.Stat(root + "/docs/" + l.page + ".md"); l.page != "" && err != nil {
			t.Error(err)
		}
		for _, name := range l.may {
			j := slices.IndexFunc(layers, func(l layer) bool { return l.name == name })
			if j < 0 || j >= i {
				t.Errorf("layer %s may import %s, which is not above it in the table", l.name, name)
			}
		}
	}
	for pair := range mends {
		for _, name := range pair {
			if !slices.ContainsFunc(layers, func(l layer) bool { return l.name == name }) {
				t.Errorf("mends has %v, and %s is not a layer", pair, name)
			}
		}
	}
}

// load makes a repository from files in the form of txtar: "-- name --" lines,
// each followed by the text of that file.
func load(t *testing.T, archive string) *Repo {
	t.Helper()
	fsys := fstest.MapFS{}
	var file *fstest.MapFile
	for line := range strings.Lines(archive) {
		name, ok := strings.CutPrefix(line, "-- ")
		if ok && strings.HasSuffix(name, " --\n") {
			file = &fstest.MapFile{Mode: 0o666}
			fsys[strings.TrimSuffix(name, " --\n")] = file
		} else if file != nil {
			file.Data = append(file.Data, line...)
		}
	}
	repo, err := Load(fsys, exports())
	if err != nil {
		t.Fatal(err)
	}
	return repo
}
