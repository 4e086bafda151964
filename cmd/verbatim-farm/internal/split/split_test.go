package split_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-farm/internal/split"
	"github.com/verbatim-rdma/verbatim/farm"
)

// source has three scenarios of two protocols, one of them deep, and a tree with two mutants of one.
func source(t *testing.T) *split.Source {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{"a/one.patch", "a/two.patch", "litmus/rule.patch", "a/notes", "../../t.litmus"} {
		name = filepath.Join(root, "testdata", "mutants", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &split.Source{Root: root, Parts: 2, Ask: func(args ...string) ([]byte, error) {
		asked := strings.Join(args, " ")
		lines := map[string]string{"a/x": `{"name":"a/x","deep":false}`, "a/y": `{"name":"a/y","deep":true}`, "b/z": `{"name":"b/z","deep":false}`, "deep/d": `{"name":"deep/d","deep":true}`}
		var out []string
		for _, name := range []string{"a/x", "a/y", "b/z", "deep/d"} {
			protocol, _, _ := strings.Cut(name, "/")
			if asked == "list scenarios --json" && protocol != "deep" || strings.Contains(asked, " "+name+" ") || strings.Contains(asked, " "+protocol+" ") {
				out = append(out, lines[name])
			}
		}
		if out == nil && !strings.Contains(asked, "a/broken") {
			return nil, errors.New("no such scenario")
		}
		return []byte(strings.Join(out, "\n")), nil
	}}
}

func TestCommandsAreDivided(t *testing.T) {
	for line, want := range map[string]string{
		"check --json":                        "check a/x --json; check b/z --json",
		"check":                               "check a/x --out={folder}; check b/z --out={folder}",
		"check --deep --json":                 "check a/x --deep --json; check a/y --deep --json; check b/z --deep --json",
		"check a --profile iba --json":        "check a/x --profile iba --json",
		"check a/y b --json":                  "check a/y --json; check b/z --json",
		"check b a b/z --json=true":           "check b/z --json=true; check a/x --json=true",
		"check a --out d":                     "check a/x --out={folder}",
		"mutants a":                           "check a/x --strategy=exhaustive; SOURCE mutants a --no-control --name=one; SOURCE mutants a --no-control --name=two",
		"mutants a --no-control --json":       "SOURCE mutants a --no-control --name=one --json; SOURCE mutants a --no-control --name=two --json",
		"mutants a --name two":                "SOURCE mutants a --name two",
		"mutants litmus":                      "SOURCE mutants litmus --no-control --name=rule",
		"mutants a --generate --sample 9":     "SOURCE mutants a --part=1/2 --at-least=0 --generate --sample 9 --json; SOURCE mutants a --part=2/2 --at-least=0 --generate --sample 9 --json",
		"mutants a --generate --at-least 95":  "SOURCE mutants a --part=1/2 --at-least=0 --generate --json; SOURCE mutants a --part=2/2 --at-least=0 --generate --json",
		"matrix --max-runs 9":                 "matrix a --max-runs 9; matrix b --max-runs 9",
		"matrix b a":                          "matrix b; matrix a",
		"litmus generate --size 3":            "litmus generate --size 3",
		"mutants a --timers free --json":      "check a/x --strategy=exhaustive --timers=free; SOURCE mutants a --no-control --name=one --timers free --json; SOURCE mutants a --no-control --name=two --timers free --json",
		"mutants a --no-control=false":        "check a/x --strategy=exhaustive; SOURCE mutants a --no-control --name=one; SOURCE mutants a --no-control --name=two",
		"mutants a --generate=false --name x": "SOURCE mutants a --generate=false --name x",
		"mutants a --sqlite --no-control":     "SOURCE mutants a --sqlite --no-control",
		"check a b --deep=false --json":       "check a/x --deep=false --json; check b/z --deep=false --json",
		"check a/broken --json":               "check a/broken --json",
		"check a --faults none -h":            "check a --help",
		"matrix --help":                       "matrix --help",
		"litmus t.litmus --profile strong":    "SOURCE litmus t.litmus --profile strong",
		"litmus":                              "SOURCE litmus",
	} {
		p, err := split.Of(strings.Fields(line), source(t))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		var got []string
		for _, j := range p.Jobs {
			text := strings.Join(j.Args, " ")
			if j.Source {
				text = "SOURCE " + text
			}
			got = append(got, text)
		}
		if d := cmp.Diff(want, strings.Join(got, "; ")); d != "" {
			t.Errorf("%s: -want +got:\n%s", line, d)
		}
	}
}

func TestWhatCannotBeDividedIsRefused(t *testing.T) {
	for line, want := range map[string]string{
		"":                                    "name a command",
		"--json check":                        "name a command",
		"chek a":                              `"chek"; known: check`,
		"replay f":                            `"replay"; known: check`,
		"check a --save s":                    "--save names a file of the machine",
		"check a --html=x":                    "--html names a file of the machine",
		"mutants a --generate --results f":    "--results names a file of the machine",
		"mutants":                             "takes one protocol",
		"mutants --generate a":                `"a": names come before flags`,
		"mutants nobody":                      "there are no patches in testdata/mutants/nobody",
		"mutants a --generate --at-least x":   `--at-least "x": it must be a percentage`,
		"check nobody":                        "no such scenario",
		"check a --json b":                    `"b": names come before flags`,
		"check a --profile iba b":             `"b": names come before flags`,
		"check a --seed=1 b":                  `"b": names come before flags`,
		"check -- a":                          "names come before flags",
		"matrix a --markdown b":               "names come before flags",
		"check a --watch":                     "--watch never ends",
		"check a --trace f":                   "--trace names a file of the machine",
		"check a --profile ./my.profile":      "is a file of one machine",
		"litmus --profile strong,x.profile":   "is a file of one machine",
		"check deep":                          "names only scenarios that take hours",
		"litmus ../t.litmus":                  "no *.litmus file or folder in the source tree",
		"litmus missing.litmus":               "no *.litmus file or folder in the source tree",
		"mutants a --generate --at-least=":    "must be a percentage",
		"mutants a --generate --at-least NaN": "must be a percentage",
	} {
		if p, err := split.Of(strings.Fields(line), source(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", line, p, err, want)
		}
	}
	none := source(t)
	none.Root = ""
	if _, err := split.Of([]string{"mutants", "a"}, none); !errors.Is(err, split.ErrUsage) {
		t.Errorf("mutants without a source tree: %v", err)
	}
}

// The score of the parts is that of all mutants together.
func TestTheScoreIsThatOfAllParts(t *testing.T) {
	outputs := []string{`{"id":"f:swap:1","result":"scenario","seconds":1}
{"id":"f:swap:2","result":"survives","file":"f.go","line":7,"seconds":3}
{"score":{"mutants":2}}
`, `{"id":"f:swap:3","result":"equivalent"}
{"id":"f:swap:4","result":"test","seconds":2}
{"score":{"mutants":2}}
`}
	for flags, want := range map[string]struct {
		enough bool
		text   string
	}{
		"":                                      {false, "survives: f:swap:2 at f.go:7\n4 mutants: 1 are caught by scenarios, 1 by unit tests alone, 1 are equivalent, and 1 survive\n"},
		"--at-least 66":                         {true, "66.7 % are caught, 33.3 % by scenarios alone"},
		"--at-least=66 --scenarios-at-least=34": {false, ""},
		"--at-least=66 --scenarios-at-least=33": {true, ""},
		"--json":                                {false, `{"score":{"mutants":4,"by_scenario":1,"by_test":1,"equivalent":1,"survive":1,`},
	} {
		p, err := split.Of(strings.Fields("mutants a --generate "+flags), source(t))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, text := range outputs {
			if err := p.Score.Add(&b, &farm.Result{Stdout: []byte(text)}); err != nil {
				t.Fatal(err)
			}
		}
		if lines := strings.Count(b.String(), "\n"); flags == "--json" && lines != 4 || flags != "--json" && lines != 0 {
			t.Errorf("%s: %d lines before the score", flags, lines)
		}
		enough, err := p.Score.End(&b)
		if err != nil || enough != want.enough || !strings.Contains(b.String(), want.text) {
			t.Errorf("%s: enough %v, %v:\n%s", flags, enough, err, b.String())
		}
	}
	for _, text := range []string{"panic: x\n", "", `{"id":"f:swap:3","result":"test"}`, `{"score":{"mutants":1}}`} {
		if err := new(split.Score).Add(nil, &farm.Result{Stdout: []byte(text)}); err == nil {
			t.Errorf("%q counts as the whole result of a part", text)
		}
	}
}
