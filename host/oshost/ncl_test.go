package oshost_test

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/hw"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
)

// The protocol that the checker checks, unchanged, on a real card, or without one on
// devices of software: an application and three log peers, each with its own handle to
// the device and its own port.

// cluster is the hosts of one test, by name.
type cluster map[string]*oshost.Host

func newCluster(t testing.TB, names ...string) cluster {
	t.Helper()
	c := cluster{}
	for _, name := range names {
		dev := openDevice(t)
		h, err := oshost.New(oshost.Config{Name: name, Device: dev, Listen: "127.0.0.1:0", PMEMDir: t.TempDir(),
			Logf: func(f string, args ...any) { t.Logf(name+": "+f, args...) }})
		if err != nil {
			t.Fatal(err)
		}
		c[name] = h // start closes it; what peers hold on the device ends with the process
	}
	for _, a := range c {
		for _, b := range c {
			if err := a.AddPeer(b.Name(), b.Addr()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

// openDevice opens the card of this machine, or a device of software.
func openDevice(t testing.TB) verbs.Device {
	t.Helper()
	name := os.Getenv("VERBATIM_RDMA_DEVICE")
	if there, err := hw.Devices(); name == "" && err == nil && len(there) > 0 {
		name = there[0]
	}
	open := func() (verbs.Device, error) { return soft.Open(soft.Config{}) }
	if name != "" {
		open = func() (verbs.Device, error) { return hw.Open(hw.Config{Device: name, Timeout: 10}) }
	}
	dev, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// start runs the coordination service and the log peers, and returns when they listen.
func (c cluster) start(t testing.TB) {
	t.Helper()
	l, err := c["coord"].Listen("coord")
	if err != nil {
		t.Fatal(err)
	}
	var tasks sync.WaitGroup
	t.Cleanup(func() { // before the test ends, so that its log is still there
		for _, h := range c {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
		tasks.Wait()
	})
	tasks.Add(4)
	c["coord"].Go("coord", func() {
		defer tasks.Done()
		var store coord.Store
		for {
			r, err := l.Accept(verbs.Forever)
			if err != nil {
				return
			}
			r.Reply(store.Apply(r.From(), r.Body()))
		}
	})
	for _, name := range []string{"peer1", "peer2", "peer3"} {
		h := c[name]
		h.Go("peer", func() { defer tasks.Done(); h.Logf("%v", ncl.ServePeer(h, ncl.PeerConfig{Memory: 1 << 20})) })
	}
}

func (c cluster) config(h host.Host) ncl.Config {
	return ncl.Config{App: "db", Peers: []string{"peer1", "peer2", "peer3"}, F: 1, Coord: coord.NewClient(h, "coord", "coord"),
		CallTimeout: 20 * time.Second} // an emulated machine takes its time
}

// create retries until all peers listen: they start at the same time.
func (c cluster) create(t testing.TB, h host.Host, name string, size int) *ncl.File {
	t.Helper()
	for {
		f, err := ncl.Create(h, c.config(h), name, size)
		if err == nil {
			return f
		}
		if !errors.Is(err, host.ErrNoService) {
			t.Fatal(err)
		}
	}
}

func TestRecordAndRecover(t *testing.T) {
	c := newCluster(t, "app", "next", "coord", "peer1", "peer2", "peer3")
	c.start(t)
	f := c.create(t, c["app"], "wal", 4096)
	var want bytes.Buffer
	for i := range 200 {
		line := bytes.Repeat([]byte{byte('a' + i%26)}, 1+i%20)
		if err := f.Record(want.Len(), line); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
		want.Write(line)
	}
	if f.Stamp() != ncl.MakeStamp(1, 200) {
		t.Errorf("after 200 writes the stamp is %v", f.Stamp())
	}
	// The application is gone without a word; another instance finds all of it.
	next := c["next"]
	g, err := ncl.Recover(next, c.config(next), "wal")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, want.Len())
	if _, err := g.ReadAt(got, 0); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("recovered %q, %v", got, err)
	}
	// The old instance is shut out: the peers have let its regions and queue pairs go.
	if err := f.Record(0, []byte("zombie")); !errors.Is(err, ncl.ErrUnavailable) || !errors.Is(err, verbs.ErrCompletion) {
		t.Errorf("the old instance writes: %v", err)
	}
	if err := g.Record(0, []byte("second life")); err != nil {
		t.Error(err)
	}
	f.Close()
	if err := g.Release(); err != nil {
		t.Error(err)
	}
	if _, err := ncl.Recover(next, c.config(next), "wal"); !errors.Is(err, ncl.ErrNotFound) {
		t.Errorf("after Release: %v", err)
	}
}

// One peer of three may fail: writing continues, and a recovery finds everything.
func TestPeerFails(t *testing.T) {
	c := newCluster(t, "app", "coord", "peer1", "peer2", "peer3")
	c.start(t)
	f := c.create(t, c["app"], "wal", 64)
	if err := f.Record(0, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := c["peer2"].Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Record(3, []byte("two")); err != nil {
		t.Fatal(err)
	}
	f.Close()
	g, err := ncl.Recover(c["app"], c.config(c["app"]), "wal")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 6)
	if _, err := g.ReadAt(got, 0); err != nil || string(got) != "onetwo" {
		t.Errorf("recovered %q, %v", got, err)
	}
	g.Close()
}

func TestRecordAllocatesNothing(t *testing.T) {
	c := newCluster(t, "app", "coord", "peer1", "peer2", "peer3")
	c.start(t)
	f := c.create(t, c["app"], "wal", 4096)
	defer f.Close()
	data := make([]byte, 128)
	if n := testing.AllocsPerRun(200, func() {
		if err := f.Record(0, data); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("a write makes %v allocations", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	c := newCluster(b, "app", "coord", "peer1", "peer2", "peer3")
	c.start(b)
	f := c.create(b, c["app"], "wal", 4096)
	defer f.Close()
	data := make([]byte, 128)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Record(0, data); err != nil {
			b.Fatal(err)
		}
	}
}
