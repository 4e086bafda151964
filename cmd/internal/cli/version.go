package cli

import (
	"runtime/debug"
	"strings"
)

// module is the path of this module.
const module = "github.com/verbatim-rdma/verbatim"

// version describes the versions that the go command has recorded in a program: its module, verbatim if that is another
// module, and Go.
func version(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return "unknown"
	}
	parts := []string{about(&info.Main)}
	for _, m := range info.Deps {
		if m.Path == module {
			parts = append(parts, about(m))
		}
	}
	return strings.Join(append(parts, info.GoVersion), ", ")
}

func about(m *debug.Module) string {
	name := strings.TrimSpace(m.Path + " " + m.Version)
	if m.Replace != nil {
		name += " => " + about(m.Replace)
	}
	return name
}
