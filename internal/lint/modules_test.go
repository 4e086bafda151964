package lint

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What a check is built of. Whoever imports the checker builds these too, and a newcomer
// waits for all that `verbatim check` is built of before the first verdict.
var (
	checking = []string{"github.com/anishathalye/porcupine", "github.com/petermattis/goid", "github.com/klauspost/reedsolomon", "github.com/klauspost/cpuid/v2"}
	// Raft-R alone, and a command built with its tag: go.etcd.io/raft brings protobuf.
	withRaft = append(slices.Clone(checking), "go.etcd.io/raft/v3", "google.golang.org/protobuf")
	command  = append(slices.Clone(checking), "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/jedib0t/go-pretty/v6",
		"github.com/mattn/go-runewidth", "github.com/rivo/uniseg", "github.com/bluekeyes/go-gitdiff", "golang.org/x/tools", "golang.org/x/text", "golang.org/x/net",
		"github.com/fsnotify/fsnotify", "golang.org/x/sys")
)

// TestModules holds packages against the modules that they may pull in, however far away.
func TestModules(t *testing.T) {
	const mend = "use a lighter module, or move the code that needs it into another command"
	for _, x := range []struct {
		packages, modules []string
		without           []string // packages of the standard library
	}{
		{strings.Fields("./verbs ./verbs/sim ./host ./faults/... ./model/... ./coord ./coord/coordtest ./fingerprint ./strace ./internal/codec/... ./protocol/ncl/... ./protocol/arcadia/... ./protocol/sift/... " +
			"./explore ./explore/audit ./explore/matrix ./explore/programs ./explore/scenario ./explore/yardstick ./litmus ./litmus/generate ./report/view ./examples/..."), checking, []string{"net", "crypto/tls"}},
		{strings.Fields("./protocol/raftr/... ./explore"), withRaft, []string{"net", "crypto/tls"}},
		{[]string{"./cmd/verbatim"}, command, []string{"net/http", "crypto/tls", "go/types", "html/template"}},
		{[]string{"-tags=rdma", "./cmd/verbatim"}, command, []string{"net/http", "crypto/tls", "go/types", "html/template"}},
	} {
		cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{else}}std{{end}} {{join .Imports \" \"}}"}, x.packages...)...)
		cmd.Dir = "../.."
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, stderr.String())
		}
		module, imports := map[string]string{}, map[string][]string{}
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			module[f[0]], imports[f[0]] = f[1], f[2:]
		}
		if len(module) < 60 {
			t.Errorf("%v: %d packages", x.packages, len(module))
		}
		may := func(pkg string) bool {
			m := module[pkg]
			return m == "std" && !slices.Contains(x.without, pkg) || m == "github.com/verbatim-rdma/verbatim" || slices.Contains(x.modules, m)
		}
		for pkg := range module { //lint:ordered each is reported
			for _, to := range imports[pkg] {
				if _, listed := module[to]; listed && may(pkg) && !may(to) {
					t.Errorf("%s pulls in %s, which %s imports; %s", strings.Join(x.packages, " "), to, pkg, mend)
				}
			}
		}
	}
}
