package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
)

// softHost is a host on a device of software.
func softHost(t *testing.T, name string, peers map[string]string) *oshost.Host {
	t.Helper()
	d, err := soft.Open(soft.Config{Timeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	h, err := oshost.New(oshost.Config{Name: name, Device: d, Listen: "127.0.0.1:0", Peers: peers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// A node that is cut off from a memory node reaches it neither over a connection that it has nor over a new one, until
// it is healed; others reach it all the time.
func TestANodeIsCutOff(t *testing.T) {
	layout := sift.Layout{Size: 1024, Block: 64, Slots: 4, Entry: 256}
	memory := softHost(t, "m1", nil)
	listening := make(chan struct{})
	go func() {
		_ = sift.ServeMemory(announcer{memory, func() { close(listening) }}, sift.MemoryConfig{Layout: layout, New: true}) // until the test ends
	}()
	<-listening
	at := map[string]string{"m1": memory.Addr()}
	cpu := newSevered(softHost(t, "cpu1", at))
	cfg := sift.Config{Layout: layout, Node: 1, Memory: []string{"m1"}, Period: time.Second, Missed: 1, BackOff: time.Second, CallTimeout: 10 * time.Second}
	n, err := sift.Start(cpu, cfg)
	if err != nil {
		t.Fatal(err)
	}
	other, err := sift.Start(softHost(t, "cpu2", at), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range []struct {
		order string
		want  error
	}{{"", nil}, {"cut m1", sift.ErrUnavailable}, {"cut m1", sift.ErrUnavailable}, {"heal m1", nil}, {"cut m2", nil}} {
		if x.order != "" {
			if err := cpu.obey(strings.NewReader(x.order + "\n")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := n.Watch(); !errors.Is(err, x.want) {
			t.Errorf("step %d, after %q: %v, want %v", i, x.order, err, x.want)
		}
		a := cpu.Gather([]host.Call{{To: "m1", Service: "sift", Body: []byte("nonsense")}}, time.Minute).Wait(1)
		if cut := errors.Is(a[0].Err, host.ErrUnreachable); cut != (x.want != nil) { // otherwise the request is refused
			t.Errorf("step %d, after %q: a call: %v", i, x.order, a[0].Err)
		}
		if _, err := other.Watch(); err != nil {
			t.Errorf("step %d: another node: %v", i, err)
		}
	}
	if err := cpu.obey(strings.NewReader("burn m1\n")); err == nil || !strings.Contains(err.Error(), `"burn m1": want cut NAME or heal NAME`) {
		t.Error(err)
	}
}
