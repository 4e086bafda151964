package lint

import (
	"os/exec"
	"strings"
	"testing"
)

// TestSameFilesWithAndWithoutRDMA: what runs on hardware is what was checked. The
// go command compiles the same files of each package that protocols consist of,
// whether the binding is built or not.
func TestSameFilesWithAndWithoutRDMA(t *testing.T) {
	list := func(flags ...string) string {
		t.Helper()
		const files = "{{.ImportPath}}: {{.GoFiles}} {{.CgoFiles}} {{.CFiles}} {{.SFiles}} {{.EmbedFiles}} {{.Imports}}"
		args := append([]string{"list", "-f", files}, flags...)
		cmd := exec.Command("go", append(args, "./protocol/...", "./coord/...", "./verbs", "./host")...)
		cmd.Dir = "../.."
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
		}
		return string(out)
	}
	without, with := list(), list("-tags", "rdma")
	if without != with {
		t.Errorf("without the tag rdma the go command compiles\n%swith it\n%s", without, with)
	}
	for _, pkg := range []string{"protocol/ncl:", "coord:", "verbs:", "host:"} {
		if !strings.Contains(without, pkg) {
			t.Errorf("the list lacks %s\n%s", pkg, without)
		}
	}
}
