package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/sift/siftcoord"
)

// valueOf asks the coordinator for the value of a key.
func (r *siftRig) valueOf(key string) (string, error) {
	h, err := oshost.New(oshost.Config{Name: "looker", Peers: r.at})
	if err != nil {
		return "", err
	}
	defer h.Close()
	c, err := siftcoord.Dial(h, siftcoord.ClientConfig{Nodes: slices.Sorted(maps.Keys(r.cpus)), Service: coordName, Rounds: leaderTries, Pause: leaderPause})
	if err != nil {
		return "", err
	}
	value, _, err := c.Get(key)
	return string(value), err
}

// Sift is the coordinator of NCL: the leader of its group, a memory node and the writer with a log peer are killed in turn,
// and the file is recovered. Nothing of it would be found if the coordinator had lost the file's entry.
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
	if ttl, err := r.valueOf("session-ttl"); err != nil || ttl != "1s" {
		t.Errorf("processes learn that sessions last %q, %v: they would not send heartbeats often enough", ttl, err)
	}
	peers := softPeers(t, 3, app)
	w := startWriter(t, app+" --file wal --size 64KiB")
	w.line(t, "open:")
	w.write(t, 20)

	r.kill(r.cpus["cpu1"])
	r.role("cpu2", serveAll)
	r.kill(r.memory["m2"])
	r.role("cpu2", func(line string) bool { return serves(line) && !serveAll(line) })
	w.write(t, 5)
	kill(t, w.cmd)
	kill(t, peers[0])
	w.allBack(t, app)
}
