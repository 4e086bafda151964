package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host/oshost"
)

// ask makes requests of the coordinator, as processes with --sift do.
func (r *siftRig) ask(f func(coord.Client) error) error {
	h, err := oshost.New(oshost.Config{Name: "looker", Peers: r.at})
	if err != nil {
		return err
	}
	defer h.Close()
	c, err := (&siftFlags{nodes: slices.Sorted(maps.Keys(r.cpus))}).controller(h)
	if err != nil {
		return err
	}
	return f(c)
}

// A group of Sift is the coordinator of NCL. The leader, a memory node, the writer and a log peer are killed, and the
// file is recovered, for which the coordinator must still have the file's entry.
func TestNCLOnSift(t *testing.T) {
	r := newSiftRig(t, 0)
	r.flags = " --coord --session-ttl 1s"
	r.cpu(1)
	r.role("cpu1", serveAll)
	r.cpu(2)
	app := " --device " + r.device
	for _, cpu := range []string{"cpu1", "cpu2"} {
		app += " --sift " + cpu + "=" + r.at[cpu]
	}
	if err := r.ask(func(c coord.Client) error {
		ttl, _, err := c.Get("session-ttl")
		if string(ttl) != "1s" {
			t.Errorf("processes learn that sessions last %q: they would not send heartbeats often enough", ttl)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	peers := softPeers(t, 3, app)
	w := startWriter(t, app+" --file wal --size 64KiB")
	w.line(t, "open:")
	w.write(t, 20)

	r.kill(r.cpus["cpu1"])
	if err := r.ask(func(c coord.Client) error { return c.Create("while nobody leads", nil, coord.NoSession) }); err != nil {
		t.Errorf("a change between two leaders: %v", err)
	}
	r.role("cpu2", serveAll)
	r.kill(r.memory["m2"])
	r.role("cpu2", func(line string) bool { return serves(line) && !serveAll(line) })
	w.write(t, 5)
	kill(t, w.cmd)
	kill(t, peers[0])
	w.allBack(t, app)
}
