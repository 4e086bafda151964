package cli

import (
	"runtime/debug"
	"testing"
)

func TestVersionSaysWhatTheProgramWasBuiltFrom(t *testing.T) {
	for _, x := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "github.com/verbatim-rdma/verbatim", Version: "v0.9.0"}},
			"github.com/verbatim-rdma/verbatim v0.9.0, go1.26.8"},
		{debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/own", Version: "(devel)"}, Deps: []*debug.Module{
			{Path: "example.com/other", Version: "v1.0.0"},
			{Path: "github.com/verbatim-rdma/verbatim", Version: "v0.9.0", Replace: &debug.Module{Path: "../verbatim"}}}},
			"example.com/own (devel), github.com/verbatim-rdma/verbatim v0.9.0 => ../verbatim, go1.26.8"},
	} {
		if got := version(&x.info, true); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
	if got := version(nil, false); got != "unknown" {
		t.Errorf("%q of a program without build information", got)
	}
}
