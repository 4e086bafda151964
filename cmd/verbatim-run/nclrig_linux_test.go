package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord/etcd/etcdtest"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
)

// testDevices are the devices of scripts/rxe-vm, and elsewhere devices of software.
func testDevices() []string {
	if env := os.Getenv("VERBATIM_RXE_DEVICES"); env != "" {
		return strings.Split(env, ",")
	}
	return []string{soft.Name, soft.Name, soft.Name}
}

// nclRig is a controller and three peers.
type nclRig struct {
	devices []string
	coord   string    // the address of the coordinator, if it is not another controller
	control string    // the flags about the controller
	peers   [3]string // addresses
	servers []*exec.Cmd
}

// newNCLRig starts the processes: with a coordinator, or with the controller that the
// flags say.
func newNCLRig(t *testing.T, control ...string) *nclRig {
	t.Helper()
	return newRichRig(t, "2MiB", control...)
}

// newRichRig is one whose peers lend so much.
func newRichRig(t *testing.T, memory string, control ...string) *nclRig {
	t.Helper()
	r := &nclRig{devices: testDevices(), control: strings.Join(control, " ")}
	if len(control) == 0 {
		_, r.coord = served(t, "ncl", "coord", "--listen", "127.0.0.1:0", "--session-ttl", "2s")
		r.control = "--coord " + r.coord
	}
	for i := range r.peers {
		r.peers[i] = r.peer(t, i, memory)
	}
	return r
}

// peer starts the i-th peer, from 0, and returns its address.
func (r *nclRig) peer(t *testing.T, i int, memory string) string {
	t.Helper()
	cmd, at := served(t, strings.Fields(fmt.Sprintf("ncl peer --name peer%d --device %s --memory %s --listen 127.0.0.1:0 %s", i+1,
		r.devices[i%len(r.devices)], memory, r.control))...)
	r.servers = append(r.servers, cmd)
	return at
}

// app are the flags for a file whose peers the controller knows.
func (r *nclRig) app(file string) string {
	return " --device " + r.devices[0] + " --call-timeout 60s --file " + file + " " + r.control
}

// access are the flags for a file with the three peers named.
func (r *nclRig) access(file string) string {
	return r.app(file) + " --peer peer1=" + r.peers[0] + " --peer peer2=" + r.peers[1] + " --peer peer3=" + r.peers[2]
}

// foreign is a server that answers with headers of its own, and its address.
func foreign(t *testing.T, version string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if version != "" {
			w.Header().Set("Verbatim-Version", version)
		}
		w.WriteHeader(http.StatusUpgradeRequired)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// impostor is a host called name that answers requests to a log peer with nonsense.
func impostor(t *testing.T, name string) string {
	t.Helper()
	h, err := oshost.New(oshost.Config{Name: name, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := h.Listen("ncl")
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

// Errors of a wrong control plane name the cause, the place and the remedy.
func TestNCLControlErrors(t *testing.T) {
	r := newNCLRig(t)
	says(t, program(t, strings.Fields("ncl write --size 4KiB"+r.access("there"))...), 0, "open: 0 records, 3 of 3 peers")
	replace := strings.ReplaceAll
	file := r.access("FILE") + " --size 4KiB" // of its own for each: a peer that was asked keeps the memory
	there := r.access("there")
	for _, x := range []struct {
		name, args string
		code       int
		want       []string
	}{
		{"no memory left to lend", "ncl write" + r.access("large") + " --size 4MiB", 2, []string{"peer1", "no memory left to lend", "--memory"}},
		{"no memory by the controller's figures", "ncl write" + r.app("larger") + " --size 4MiB", 2,
			[]string{"too few peers", "peer3 has 20", "bytes left to lend, and the file takes 8388624", "--memory"}},
		{"a peer of nonsense", "ncl write" + replace(file, r.peers[1], impostor(t, "peer2")), 3,
			[]string{"alloc at peer peer2: ncl: malformed message: lend: malformed greeting of 1000 bytes"}},
		{"recovery from a peer of nonsense", "ncl recover" + replace(there, r.peers[1], impostor(t, "peer2")), 0,
			[]string{"recover at peer peer2: ncl: malformed message", "2 of 3 peers"}},
		{"the file is there", "ncl write" + there, 2, []string{"file exists", "--resume", "--release"}},
		{"the file is not there", "ncl recover" + r.access("none"), 2, []string{`"none"`, "no such file", "--app (app)"}},
		{"peer of another version", "ncl write" + replace(file, r.peers[1], foreign(t, "77")), 3,
			[]string{"peer2", "another version", `it has version "77" of the protocol, this host has 1`, "run the same release on both"}},
		{"no peer at all", "ncl write" + replace(file, r.peers[1], foreign(t, "")), 3, []string{"peer2", "is not a Verbatim host"}},
		{"the address of another peer", "ncl write" + replace(file, "peer2="+r.peers[1], "peer2="+r.peers[2]), 3,
			[]string{"this is host peer3, the request is for", "peer2"}},
		{"the address of the coordinator", "ncl write" + replace(file, r.peers[1], r.coord), 3, []string{"this is host coord"}},
		{"nobody there", "ncl write" + replace(file, r.peers[1], "127.0.0.1:1"), 3, []string{"peer2", "127.0.0.1:1: connect: connection refused"}},
		{"no coordinator", "ncl recover" + replace(there, r.coord, "127.0.0.1:1"), 3, []string{"coord", "127.0.0.1:1: connect: connection refused"}},
		{"coordinator of another version", "ncl recover" + replace(there, r.coord, foreign(t, "77")), 3, []string{"coord", `it has version "77"`}},
		{"two peers are gone", "ncl recover" + replace(replace(there, r.peers[1], "127.0.0.1:1"), r.peers[2], "127.0.0.1:1"), 3,
			[]string{"1 of 3 peers are left and 2 are needed", "peer2", "peer3", "connection refused"}},
		{"a second peer of a name", "ncl peer --name peer1 --wait 0s --memory 1MiB --listen 127.0.0.1:0 --device " + r.devices[0] + " " + r.control, 3,
			[]string{"a peer peer1 lives at " + r.peers[0] + ", and this one is at 127.0.0.1:", "another --name"}},
		{"one peer is gone", "ncl recover" + replace(there, r.peers[1], "127.0.0.1:1"), 0, []string{"0 records", "2 of 3 peers"}},
	} {
		args := strings.ReplaceAll(x.args, "FILE", strings.ReplaceAll(x.name, " ", "-"))
		t.Run(x.name, func(t *testing.T) { says(t, program(t, strings.Fields(args)...), x.code, x.want...) })
	}
}

// A few rounds of the real thing, on etcd. `verbatim-run ncl soak` does more of them, and
// with a coordinator of its own.
func TestNCLSoak(t *testing.T) {
	t.Setenv(asProgram, "1")
	code, out, stderr := command.Call("ncl", "soak", "--rounds", "2", "--seed", "1", "--acks", "5", "--json", "--devices", strings.Join(testDevices(), ","), "--etcd", etcdtest.Start(t).Endpoint)
	if code != 0 || !strings.Contains(out, `"ok":true,"rounds":2,`) {
		t.Errorf("exit status %d\n%s%s", code, out, stderr)
	}
	t.Log(out)
}
