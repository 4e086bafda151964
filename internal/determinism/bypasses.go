package determinism

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strconv"
)

// banned is something that a deterministic package may not use.
type banned struct {
	why, protocol, sim string // what to do instead; sim is empty where the simulator may use it
}

const (
	simClock = "use the world's virtual clock"
	simRand  = "make it a choice of the world"
	simPlain = "use plain variables: a world has one thread"
)

// bannedImports are the packages that a deterministic package may not import. A name
// that ends in /... includes the packages below.
var bannedImports = map[string]banned{
	"math/rand":             {"its numbers are not recorded choices", "use host.Host.Rand", simRand},
	"math/rand/v2":          {"its numbers are not recorded choices", "use host.Host.Rand", simRand},
	"crypto/rand":           {"its numbers are not recorded choices", "use host.Host.Rand", simRand},
	"hash/maphash":          {"its seed differs from run to run", "use hash/crc32 or hash/fnv", "use hash/fnv"},
	"sync":                  {"the scheduler cannot see who waits", "use host.Mutex and host.Cond", simPlain},
	"sync/atomic":           {"the scheduler cannot see who waits", "use host.Mutex, or host.Region for words that a card reaches", simPlain},
	"context":               {"it waits for channels and the wall clock", "pass a timeout, as host.Host.Call takes one", "pass a timeout"},
	"os/...":                {"it reaches past the host", "use host.Host.OpenPMEM for what must last and arguments for settings", "take it as an argument"},
	"net/...":               {"it reaches past the host", "use host.Host.Call and host.Host.Listen", "deliver messages inside the world"},
	"syscall":               {"it reaches past the host", "use the methods of host.Host", "take it as an argument"},
	"log/...":               {"it writes past the host", "use host.Host.Logf", "use the world's log"},
	"runtime/...":           {"it shows the scheduler of the Go runtime", "use the methods of host.Host", ""},
	"unsafe":                {"memory that a card reaches is shown through its region", "use host.Region", ""},
	"reflect":               {"it ranges over maps in their order, and makes channels", "name the types", ""},
	"encoding/gob":          {"it writes maps in their order", "use encoding/binary, or encoding/json", "use encoding/binary"},
	"weak":                  {"it shows what the garbage collector has done", "keep a pointer", "keep a pointer"},
	"flag":                  {"it reaches past the host", "take it as an argument", "take it as an argument"},
	"io/ioutil":             {"it reaches past the host", "use host.Host.OpenPMEM for what must last and arguments for settings", "take it as an argument"},
	"path/filepath":         {"it reaches past the host", "use path for names", ""},
	"golang.org/x/sync/...": {"the scheduler cannot see who waits", "use host.Host.Go, host.Mutex and host.Cond", simPlain},
	"golang.org/x/sys/...":  {"it reaches past the host", "use the methods of host.Host", "take it as an argument"},
	"C":                     {"it reaches past the host", "put the binding into verbs/hw", "put the binding into verbs/hw"},
}

const timers = "give the call that waits a timeout, or start a task that sleeps"

// bannedTime are the functions of package time that read the clock or wait.
// Durations and constants are fine.
var bannedTime = map[string]banned{
	"Now":       {"it reads the wall clock", "use host.Host.Now", simClock},
	"Since":     {"it reads the wall clock", "use host.Host.Now", simClock},
	"Until":     {"it reads the wall clock", "use host.Host.Now", simClock},
	"Sleep":     {"it waits for the wall clock", "use host.Host.Sleep", simClock},
	"After":     {"it waits for the wall clock", timers + " (host.Host.Go, host.Host.Sleep)", simClock},
	"AfterFunc": {"it waits for the wall clock", timers + " (host.Host.Go, host.Host.Sleep)", simClock},
	"Tick":      {"it waits for the wall clock", timers + " (host.Host.Go, host.Host.Sleep)", simClock},
	"NewTimer":  {"it waits for the wall clock", timers + " (host.Host.Go, host.Host.Sleep)", simClock},
	"NewTicker": {"it waits for the wall clock", timers + " (host.Host.Go, host.Host.Sleep)", simClock},
}

var (
	bannedGo      = banned{"the scheduler does not know its goroutine", "use host.Host.Go", "make a coroutine with iter.Pull"}
	bannedChannel = banned{"the scheduler cannot see who waits", "use a slice under a host.Mutex and a host.Cond", simPlain}
)

// mend is the advice for a replacement, empty if the code may stay.
func (b banned) mend(simulator bool) string {
	if simulator {
		return b.sim
	}
	return b.protocol
}

// Bypasses finds everything that bypasses the host: other packages, the clock, goroutines and channels.
func Bypasses(c *Code) []Finding {
	var found []Finding
	report := func(pos token.Pos, what string, b banned) {
		if mend := b.mend(c.Simulator); mend != "" {
			found = append(found, Finding{pos, fmt.Sprintf("%s in %s: %s; %s", what, c.Name, b.why, mend)})
		}
	}
	for _, f := range c.Files {
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if b, ok := bannedImport(path); ok && err == nil {
				report(spec.Pos(), "import of "+path, b)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if what, b := bannedNode(c.Info, n); what != "" {
				report(n.Pos(), what, b)
			}
			return true
		})
	}
	return found
}

func bannedImport(imp string) (banned, bool) {
	if b, ok := bannedImports[imp]; ok {
		return b, true
	}
	for dir := imp; dir != "."; dir = path.Dir(dir) {
		if b, ok := bannedImports[dir+"/..."]; ok {
			return b, true
		}
	}
	return banned{}, false
}

func bannedNode(info *types.Info, n ast.Node) (string, banned) {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go statement", bannedGo
	case *ast.SelectStmt:
		return "select statement", bannedChannel
	case *ast.SendStmt:
		return "send on a channel", bannedChannel
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receive from a channel", bannedChannel
		}
	case *ast.ChanType:
		return "channel type", bannedChannel
	case *ast.RangeStmt:
		if _, ok := coreType(info, n.X).(*types.Chan); ok {
			return "range over a channel", bannedChannel
		}
	case *ast.Ident:
		if obj := info.Uses[n]; isPackageFunc(obj, "time") {
			return "time." + obj.Name(), bannedTime[obj.Name()]
		}
	}
	return "", banned{}
}
