package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/process"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// siftRig is a group of three memory nodes, and CPU nodes.
type siftRig struct {
	t       testing.TB
	program process.Program
	dir     string
	device  string
	memory  map[string]*process.Process
	at      map[string]string // addresses of all
	cpus    map[string]*process.Process
	flags   string // of CPU nodes, besides
}

// small are the flags of a small store, which all nodes have.
const small = " --key 16 --value 64 --keys 64 --log 16 --slots 8"

// quick are those of CPU nodes that do not wait long.
const quick = " --period 20ms --missed 10 --lease 60ms --back-off 20ms"

func newSiftRig(t testing.TB, cpus int) *siftRig {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &siftRig{t: t, dir: t.TempDir(), device: testDevices()[0], memory: map[string]*process.Process{}, at: map[string]string{}, cpus: map[string]*process.Process{}}
	r.program = process.Program{Path: self, Env: []string{asProgram + "=1"}, Logs: r.dir}
	for _, name := range []string{"m1", "m2", "m3"} {
		r.at[name] = "127.0.0.1:0"
		r.lend(name)
	}
	for i := range cpus {
		r.cpu(i + 1)
	}
	return r
}

// start starts a server, and waits until it is ready.
func (r *siftRig) start(name, args string) *process.Process {
	r.t.Helper()
	p, err := r.program.Start(name, "test", strings.Fields("sift "+args+" --device "+r.device)...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if p.Kill() == nil {
			_ = p.Bury(func(string) {}) // it may be dead already
		}
	})
	if r.at[name], err = p.Ready(r.t.Context(), time.Minute); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// lend starts a memory node, again at the same address.
func (r *siftRig) lend(name string) {
	r.t.Helper()
	r.memory[name] = r.start(name, "memnode --name "+name+" --listen "+r.at[name]+" --marker "+filepath.Join(r.dir, name+".marker")+small)
}

// named are the memory nodes as a flag.
func (r *siftRig) named() string {
	return " --memory m1=" + r.at["m1"] + " --memory m2=" + r.at["m2"] + " --memory m3=" + r.at["m3"]
}

// cpu starts a CPU node.
func (r *siftRig) cpu(number int) {
	r.t.Helper()
	name := fmt.Sprint("cpu", number)
	r.cpus[name] = r.start(name, fmt.Sprintf("cpunode --node %d --listen 127.0.0.1:0", number)+r.named()+small+quick+r.flags)
}

// kill kills a node and waits until it is dead.
func (r *siftRig) kill(p *process.Process) {
	r.t.Helper()
	if err := p.Kill(); err != nil {
		r.t.Fatal(err)
	}
	if err := p.Bury(func(string) {}); err != nil {
		r.t.Fatal(err)
	}
}

// role waits until a node prints a line that satisfies is, and returns it.
func (r *siftRig) role(name string, is func(line string) bool) string {
	r.t.Helper()
	for {
		line, err := r.cpus[name].Next(r.t.Context(), time.Minute)
		if err != nil {
			r.t.Fatal(err)
		}
		if r.t.Logf("%s: %s", name, line); is(line) {
			return line
		}
	}
}

// client are the arguments of a client of some CPU nodes, all if none is named.
func (r *siftRig) client(args string, cpus ...string) []string {
	out := strings.Fields("sift " + args + " --key 16 --value 64 --wait 60s --device " + r.device)
	for name := range r.cpus {
		if len(cpus) == 0 || slices.Contains(cpus, name) {
			out = append(out, "--cpu", name+"="+r.at[name])
		}
	}
	return out
}

func serves(line string) bool { return strings.HasPrefix(line, "serves") }

func serveAll(line string) bool { return serves(line) && strings.HasSuffix(line, "memory m1 m2 m3") }

// CPU nodes and memory nodes are killed one after the other, and the store keeps what it has acknowledged.
func TestSiftRunsOnMachines(t *testing.T) {
	r := newSiftRig(t, 1)
	r.role("cpu1", serveAll)
	says(t, program(t, r.client("put protocol sift")...), 0, "ok")
	says(t, program(t, r.client("get protocol")...), 0, "sift")
	says(t, program(t, r.client("get nothing")...), 2, `the key "nothing" is not there`)
	says(t, program(t, r.client("put protocol "+strings.Repeat("x", 65))...), 2, "a value of 65 bytes: at most 64", "--value")
	says(t, program(t, r.client("put "+strings.Repeat("k", 17)+" v")...), 2, "a key of 17 bytes: 1 to 16")
	says(t, program(t, append(r.client("get protocol"), "--value", "65", "--wait", "0s")...), 3, "--key and --value must be those of the CPU nodes")

	r.cpu(2)
	r.kill(r.cpus["cpu1"])
	r.role("cpu2", serveAll)
	says(t, program(t, r.client("get protocol")...), 0, "sift") // the first address is that of a dead one, or the second
	delete(r.cpus, "cpu1")

	r.kill(r.memory["m2"])
	r.role("cpu2", func(line string) bool { return serves(line) && strings.HasSuffix(line, "failed m2") })
	says(t, program(t, r.client("put without m2")...), 0, "ok")
	r.lend("m2")
	r.role("cpu2", serveAll)
	r.kill(r.memory["m1"]) // m2 has to have what it missed
	says(t, program(t, r.client("get protocol")...), 0, "sift")
	says(t, program(t, r.client("get without")...), 0, "m2")
	says(t, program(t, r.client("delete protocol")...), 0, "ok")
	says(t, program(t, r.client("get protocol")...), 2, "is not there")

	r.kill(r.memory["m3"]) // a majority is lost
	says(t, program(t, append(r.client("put a b"), "--wait", "300ms")...), 3, "sift/kv:")
}

// The marker file distinguishes a memory node's first start from restarts. A node without a marker never starts empty.
func TestMarkerShowsTheFirstStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m1")
	for i, x := range []struct {
		file string
		want bool
	}{{"", false}, {file, true}, {file, true}, {"", false}} { // a start that fails creates none
		if first, err := firstStart(x.file); err != nil || first != x.want {
			t.Errorf("start %d, with marker %q: %v, %v", i, x.file, first, err)
		}
	}
	if err := mark(file); err != nil {
		t.Fatal(err)
	}
	if first, err := firstStart(file); err != nil || first {
		t.Errorf("after the first start: %v, %v", first, err)
	}
	if err := mark(file); !errors.Is(err, os.ErrExist) {
		t.Errorf("two first starts: %v", err)
	}
}

// What is no file cannot have been created by an earlier start.
func TestAMarkerIsAFile(t *testing.T) {
	dir := t.TempDir()
	nowhere := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "nothing"), nowhere); err != nil {
		t.Fatal(err)
	}
	for _, x := range []string{dir, os.DevNull, nowhere} {
		first, err := firstStart(x)
		if first && err == nil {
			err = mark(x)
		}
		if err == nil || !strings.Contains(err.Error(), x) {
			t.Errorf("%s: %v, %v", x, first, err)
		}
	}
}

// Clients of Redis use a store, and learn from an error which node does not lead.
func TestSiftSpeaksRESP(t *testing.T) {
	r := newSiftRig(t, 0)
	front := func(number int) *goredis.Client {
		name := fmt.Sprint("cpu", number)
		cmd := program(t, strings.Fields(fmt.Sprintf("sift cpunode --node %d --listen 127.0.0.1:0 --resp 127.0.0.1:0 --device %s", number, r.device)+r.named()+small+quick)...)
		out := launched(t, cmd)
		line, err := out.ReadString('\n')
		_, addr, ok := strings.Cut(strings.TrimSpace(line), ", RESP at ")
		if err != nil || !ok {
			t.Fatalf("%s says %q, %v", name, line, err)
		}
		for number == 1 && !serves(line) {
			if line, err = out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		c := goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: -1})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	leads, follows, ctx := front(1), front(2), t.Context()
	if err := leads.Set(ctx, "protocol", "sift", 0).Err(); err != nil {
		t.Error(err)
	}
	if v, err := leads.Get(ctx, "protocol").Result(); v != "sift" || err != nil {
		t.Error(v, err)
	}
	if n, err := leads.Del(ctx, "protocol", "none").Result(); n != 1 || err != nil {
		t.Error(n, err)
	}
	if v, err := leads.Info(ctx).Result(); !strings.Contains(v, "sift:serves in term 1: memory m1 m2 m3") || err != nil {
		t.Error(v, err)
	}
	for what, err := range map[string]error{
		"TOOLONG sift/kv: key or value outside the limits: a value of 65 bytes: at most 64": leads.Set(ctx, "k", strings.Repeat("x", 65), 0).Err(),
		"NOTLEADING this node does not lead":                                                follows.Set(ctx, "k", "v", 0).Err(),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	full := error(nil)
	for i := 0; i < 65 && full == nil; i++ {
		full = leads.Set(ctx, fmt.Sprint("key", i), "v", 0).Err()
	}
	if full == nil || !strings.HasPrefix(full.Error(), "FULL ") {
		t.Error(full)
	}
}

// A memory node with persistent memory keeps it over a restart, and does not begin a new group with what is left of an
// old one.
func TestSiftMemoryIsPersistent(t *testing.T) {
	r := newSiftRig(t, 0)
	dir := t.TempDir()
	persistent := "memnode --name m2 --listen 127.0.0.1:0 --pmem " + dir + small + " --marker " + filepath.Join(dir, "marker")
	r.kill(r.memory["m2"])
	r.at["m2"] = "127.0.0.1:0"
	p := r.start("m2", persistent)
	persistent = strings.ReplaceAll(persistent, "127.0.0.1:0", r.at["m2"])
	r.cpu(1)
	r.role("cpu1", serveAll)
	says(t, program(t, r.client("put protocol sift")...), 0, "ok")
	r.kill(p)
	r.role("cpu1", func(line string) bool { return strings.HasSuffix(line, "failed m2") })
	p = r.start("m2", persistent)
	r.role("cpu1", serveAll)
	r.kill(r.memory["m1"])
	says(t, program(t, r.client("get protocol")...), 0, "sift")
	r.kill(p)
	says(t, program(t, strings.Fields("sift "+strings.TrimSuffix(persistent, "marker")+"another --device "+r.device)...), 2, `the region "sift-m2" of a new group has content`)
}

// Bench measures a store that runs.
func TestSiftBench(t *testing.T) {
	r := newSiftRig(t, 1)
	says(t, program(t, append(r.client("bench --clients 2 --duration 100ms --spread 10 --size 8"), "--json")...), 0, `"op":"put"`, `"op":"get"`, `"unknown":0`)
	says(t, program(t, r.client("bench --clients 2 --duration 100ms --spread 1000 --size 8 --gets 0")...), 3, "the store is full")
}

// Bad flags are reported before anything is opened.
func TestSiftUsage(t *testing.T) {
	const three = " --memory m1=127.0.0.1:1 --memory m2=127.0.0.1:2 --memory m3=127.0.0.1:3"
	for _, x := range []struct {
		args string
		code int
		want string
	}{
		{"sift memnod", 2, "memnod"},
		{"sift memnode", 2, "--name is required"},
		{"sift memnode --name a --keys 0", 2, "at least one each"},
		{"sift memnode --name a --value 1000000", 2, "up to 524288"},
		{"sift memnode --name a --slots 1", 2, "--slots 1"},
		{"sift memnode --name a --device soft --listen 127.0.0.1:0 --marker /no/such/directory/m", 2, "--marker: open /no/such/directory/m"},
		{"sift memnode --name a --device soft --listen 127.0.0.1:0 --marker /", 2, "--marker: / is not a regular file"},
		{"sift memnode --name a --device soft --listen 127.0.0.1:0 --pmem /no/such", 2, "--pmem: stat /no/such"},
		{"sift memnode --name a --device soft --listen 127.0.0.1:0 --pmem /dev/null", 2, "--pmem: /dev/null is no directory"},
		{"sift memnode --name a --keys 9223372036854775807", 2, "together at most"},
		{"sift memnode --name a --device soft --listen 192.0.2.77:0", 2, "192.0.2.77"},
		{"sift memnode --name a/b --device soft", 2, `Name "a/b"`},
		{"sift cpunode --node 1 --coord --resp 127.0.0.1:0" + three, 2, "--coord and --resp exclude each other"},
		{"sift cpunode --node 1 --coord --session-ttl 300ms" + three, 2, "--session-ttl 300ms: it must be at least 400ms"},
		{"sift cpunode --node 1 --session-ttl 1s" + three, 2, "--session-ttl needs --coord"},
		{"sift cpunode --node 1 --coord --value 63" + three, 2, "values of 63: at least 13 and 64"},
		{"ncl recover --file f --sift cpu1", 2, `--sift "cpu1": want NAME=ADDRESS`},
		{"ncl recover --file f --sift cpu1=10.0.0.4:7031 --coord 10.0.0.9:7000", 2, "--coord and --sift exclude each other"},
		{"ncl recover --file f --sift cpu1=10.0.0.4:7031 --etcd 10.0.0.9:2379", 2, "--etcd and --sift exclude each other"},
		{"sift cpunode", 2, "--node 0: want a unique number of this CPU node"},
		{"sift cpunode --node 65535", 2, "--node 65535"},
		{"sift cpunode --node 1", 2, "--memory was given 0 times"},
		{"sift cpunode --node 1 --memory m1=127.0.0.1:1 --memory m2=127.0.0.1:2", 2, "--memory was given 2 times"},
		{"sift cpunode --node 1 --memory m1", 2, `--memory "m1": want NAME=ADDRESS`},
		{"sift cpunode --node 1 --memory cpu1=127.0.0.1:1", 2, "a name of its own"},
		{"sift cpunode --node 1 --memory m1=10.0.0.1", 2, "missing port"},
		{"sift cpunode --node 1 --memory m1=10.0.0.1:70210", 2, "no port from 1 to 65535"},
		{"sift cpunode --node 1 --memory m1=:7021", 2, "no host"},
		{"sift cpunode --node 1 --memory m1=127.0.0.1:1 --memory m2=127.0.0.1:1 --memory m3=127.0.0.1:2", 2, "m1 has this address, too"},
		{"sift cpunode --node 1 --back-off 2000000h" + three, 2, "back-off 2000000h0m0s"},
		{"sift cpunode --node 1 --lease 300ms" + three, 2, "a lease of 300ms"},
		{"sift cpunode --node 1 --period 0s" + three, 2, "period 0s"},
		{"sift cpunode --node 1 --call-timeout -1s" + three, 2, "--call-timeout -1s"},
		{"sift cpunode --node 1 --device soft --gid nonsense" + three, 2, "nonsense"},
		{"sift cpunode --node 1 --device soft --listen 127.0.0.1:0 --resp nowhere:port" + three, 2, "--resp nowhere:port"},
		{"sift put a", 2, "takes a key and a value, not 1 arguments"},
		{"sift put a b", 2, "--cpu is required"},
		{"sift get a --cpu x", 2, `--cpu "x": want NAME=ADDRESS`},
		{"sift get a --cpu cpu1=nowhere", 2, "missing port"},
		{"sift bench --device soft --cpu cpu1=127.0.0.1:1 --key 8", 2, "--spread 1000: keys such as bench-999 have 9 bytes: at most --key 8"},
		{"sift get a --cpu client=127.0.0.1:1", 2, "a name of its own"},
		{"sift get a --device soft --cpu cpu1=127.0.0.1:1 --timeout 0s", 2, "--timeout 0s"},
		{"sift get a --device soft --cpu cpu1=127.0.0.1:1 --wait 0s", 3, "127.0.0.1:1: connect: connection refused"},
		{"sift put a b --device soft --cpu cpu1=127.0.0.1:1 --wait 0s", 3, "sift/kv: no coordinator"},
		{"sift soak --rounds 0", 2, "0 rounds"},
		{"sift soak --clients 17", 2, "17 clients (1 to 16)"},
		{"sift bench --gets 101 --cpu cpu1=127.0.0.1:1", 2, "--gets 101"},
		{"sift bench --size 9999 --cpu cpu1=127.0.0.1:1", 2, "--size 9999"},
		{"sift bench --clients 0 --cpu cpu1=127.0.0.1:1", 2, "--clients 0"},
		{"sift bench --duration 0s --cpu cpu1=127.0.0.1:1", 2, "--duration 0s"},
	} {
		code, _, stderr := command.Call(strings.Fields(x.args)...)
		if code != x.code || !strings.Contains(stderr, x.want) {
			t.Errorf("%s: exit status %d\n%s", x.args, code, stderr)
		}
	}
}

// liar is a host that answers all requests to a service with nonsense.
func liar(t *testing.T, name, service string) string {
	t.Helper()
	h, err := oshost.New(oshost.Config{Name: name, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := h.Listen(service)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	go func() {
		for r, err := l.Accept(verbs.Forever); err == nil; r, err = l.Accept(verbs.Forever) {
			r.Reply(bytes.Repeat([]byte{0xff}, 1000))
		}
	}()
	return h.Addr()
}

// A CPU node reports in its log the problem of a memory node.
func TestSiftNodesThatDoNotFit(t *testing.T) {
	r := newSiftRig(t, 0)
	cpu := "sift cpunode --node 1 --listen 127.0.0.1:0 --device " + r.device + quick
	at := func(addr string) string { return strings.ReplaceAll(r.named(), "m2="+r.at["m2"], "m2="+addr) }
	for _, x := range []struct {
		name, args string
		want       []string
	}{
		{"of another size", cpu + r.named() + strings.ReplaceAll(small, "--keys 64", "--keys 65"), []string{"no connection to m2", "it has another configuration: a memory of"}},
		{"of one size with other limits", cpu + r.named() + strings.ReplaceAll(small, "--key 16 --value 64", "--key 24 --value 56"), []string{"no connection to m2", "it has another configuration"}},
		{"whose address is that of another one", cpu + strings.ReplaceAll(at(r.at["m3"]), "m3="+r.at["m3"], "m3=127.0.0.1:1") + small, []string{"no connection to m2", "this is host m3, the request is for", "m2"}},
		{"that is not there", cpu + at("127.0.0.1:1") + small, []string{"no connection to m2", "connection refused"}},
		{"of another version", cpu + at(foreign(t, "77")) + small, []string{"no connection to m2", `it has version "77"`}},
		{"that is something else", cpu + at(foreign(t, "")) + small, []string{"no connection to m2", "is not a Verbatim host"}},
		{"that answers nonsense", cpu + at(liar(t, "m2", "sift")) + small, []string{"no connection to m2", "sift: malformed message", "greeting of 1000 bytes"}},
	} {
		t.Run(x.name, func(t *testing.T) { logs(t, x.args, x.want...) })
	}
	says(t, program(t, strings.Fields("sift get a --wait 0s --device "+r.device+" --cpu cpu1="+liar(t, "cpu1", "sift/kv"))...), 3, "malformed greeting of 1000 bytes")
	says(t, program(t, strings.Fields("sift put a b --wait 0s --device "+r.device+" --cpu cpu1="+r.at["m1"])...), 3, "this is host m1, the request is for", "cpu1")
}

// logs waits until a CPU node writes a line that contains all of want into its log.
func logs(t *testing.T, args string, want ...string) {
	t.Helper()
	cmd := program(t, strings.Fields(args)...)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // the node never exits by itself
	defer late.Stop()
	var all strings.Builder
	for s := bufio.NewScanner(log); s.Scan(); {
		fmt.Fprintln(&all, s.Text())
		if !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(s.Text(), w) }) {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			return
		}
	}
	t.Errorf("%s: %v: no line with %q:\n%s", args, cmd.Wait(), want, all.String())
}

// Killing, stopping and cutting off the processes loses nothing. `verbatim-run sift soak` runs more rounds.
func TestSiftSoak(t *testing.T) {
	t.Setenv(asProgram, "1")
	code, out, stderr := command.Call(strings.Fields("sift soak --rounds 8 --seed 3 --json --verbose --device " + testDevices()[0])...)
	if code != 0 || !strings.Contains(out, `"ok":true,"rounds":8,`) {
		t.Errorf("exit status %d\n%s", code, out)
	}
	t.Logf("%s%s", stderr, out)
}

// pageCommands are the commands of docs/sift-run.md.
func pageCommands(t *testing.T) (commands []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "sift-run.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if c, ok := strings.CutPrefix(line, "    "); ok {
			commands = append(commands, strings.TrimSuffix(c, "\n"))
		}
	}
	return commands
}

// freePorts finds two digits so that nobody listens on any of the ports that begin with them and end with one of ends.
func freePorts(t *testing.T, ends ...string) string {
	t.Helper()
	for prefix := 20; prefix < 60; prefix++ {
		free := true
		for _, end := range ends {
			l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", prefix, end))
			if free = free && err == nil; err == nil {
				_ = l.Close()
			}
		}
		if free {
			return fmt.Sprint(prefix)
		}
	}
	t.Fatal("no ports are free")
	return ""
}

// The commands of docs/sift-run.md work one after the other, with other ports, the devices of the other tests, and less of
// everything. Those of Redis are left out: it may not be there, and the first node may not lead.
func TestSiftPageIsTrue(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	shorter := strings.NewReplacer("127.0.0.1:70", "127.0.0.1:"+freePorts(t, "21", "22", "23", "31", "32", "41", "42"), "--duration 5s", "--duration 100ms", "--rounds 100", "--rounds 2")
	var script []string
	for _, c := range pageCommands(t) {
		if !strings.HasPrefix(c, "redis-") && !strings.HasPrefix(c, "go build ") {
			script = append(script, shorter.Replace(c))
		}
	}
	if len(script) < 8 {
		t.Fatalf("%d commands", len(script))
	}
	dir := t.TempDir()
	clitest.Write(t, filepath.Join(dir, "verbatim-run"), "#!/bin/sh\n"+asProgram+"=1 exec "+self+" \"$@\" --device "+testDevices()[0]+"\n")
	if err := os.Chmod(filepath.Join(dir, "verbatim-run"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", "set -e; trap 'kill -9 $(jobs -p)' EXIT\n"+strings.Join(script, "\n"))
	cmd.Dir = dir
	says(t, cmd, 0, "m1 at", "cpu2 at", "\nok\n", "\nsift\n", "put: ", "get: ", "CLEAN: ")
}
