package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
)

func TestGenerate(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, x := range []struct {
		args string
		code int
		want string // of stdout, or of stderr if it is wrong
	}{
		{"--size 2", cli.OK, "35 programs, 3 of them separate profiles"},
		{"--size 2 --list", cli.OK, "A-wx-wx\n"},
		{"--size 2 --out files", cli.OK, "0 undecided"},
		{"--program A-wx-wy_B-ly-lx", cli.OK, "  relaxed ooo srd iba\n    B.r1=2 B.r2=0 B:x=1 B:y=2\n"},
		{"--program A-wx-wx --profile strong,strong+Placement=AnyOrder", cli.OK, "  strong+Placement=AnyOrder\n    B:x=1\n"},
		{"--program A-wx-wx --knobs", cli.OK, "strong+Placement=Blocks128"},
		{"--size 4 --max-time 1ns --program A-wx-wx", cli.Bad, "exclude each other"},
		{"--program A-wx-wx --max-time 1ns", cli.RanOut, "undecided: A-wx-wx under strong"},
		{"", cli.Bad, "a size from 1 to"},
		{"--size 99", cli.Bad, "a size from 1 to"},
		{"--size 2 --workers -1", cli.Bad, "at least 1"},
		{"--program A-wx", cli.Bad, "no order can be seen at x"},
		{"--program nonsense", cli.Bad, "a thread is A, C or B"},
		{"--size 2 --profile weak", cli.Bad, "unknown profile"},
		{"extra", cli.Bad, "extra"},
		{"--size 2 --list --json", cli.Bad, "--list only prints names: omit --json"},
		{"--size 2 --list --profile strong", cli.Bad, "--list only prints names: omit --json"},
	} {
		code, stdout, stderr := call(append([]string{"litmus", "generate"}, strings.Fields(x.args)...)...)
		text := stdout
		if x.code == cli.Bad {
			text = stderr
		}
		if code != x.code || !strings.Contains(text, x.want) {
			t.Errorf("generate %s: status %d, want %d; want %q in\n%s%s", x.args, code, x.code, x.want, stdout, stderr)
		}
		if x.code != cli.Bad && stderr != "" {
			t.Errorf("generate %s: it is not quiet: %s", x.args, stderr)
		}
	}
	if code, stdout, stderr := call("litmus", "files"); code != cli.OK || !strings.Contains(stdout, " ok; ") || strings.Contains(stdout, "wrong") {
		t.Errorf("the files that were made: status %d\n%s%s", code, stdout, stderr)
	}
}

func TestGenerateJSON(t *testing.T) {
	args := []string{"litmus", "generate", "--size", "2", "--json"}
	_, first, _ := call(args...)
	_, again, _ := call(append(args, "--workers", "1")...)
	if first != again {
		t.Error("two runs print different things")
	}
	n := 0
	for line := range strings.Lines(first) {
		n++
		var x generatedLine
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		if x.Program == "" || x.Size != 2 || len(x.States) == 0 || len(x.Profiles) != 6 || x.Runs == 0 || len(x.Undecided) != 0 {
			t.Errorf("odd line: %s", line)
		}
		for _, s := range x.States {
			if len(s.Profiles) == 0 {
				t.Errorf("%s: nobody allows %s", x.Program, s.State)
			}
		}
	}
	if n != 35 {
		t.Errorf("%d lines, want 35", n)
	}
}
