package splitfs_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/memdir"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first chooses the run without surprises.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

// simulate runs app once, in a world of a controller and peers that lend so many bytes.
func simulate(t *testing.T, app func(h host.Host, c coord.Client) error, memory ...int) {
	t.Helper()
	c := sim.Config{Services: []sim.Service{scenario.Controller()}}
	var w *sim.World
	c.Nodes = []sim.Node{{Name: "app", Main: func(h host.Host, _ int) {
		if err := app(h, scenario.Dial(h)); err != nil {
			w.Fail(err)
		}
	}}}
	for i, n := range memory {
		c.Nodes = append(c.Nodes, sim.Node{Name: fmt.Sprint("peer", i+1), Daemon: true, Main: func(h host.Host, _ int) {
			w.Fail(ncl.ServePeer(h, ncl.PeerConfig{Memory: n, Coord: scenario.Dial(h)}))
		}})
	}
	var err error
	if c.Profile, err = faults.ProfileByName("strong"); err != nil {
		t.Fatal(err)
	}
	if w, err = sim.New(c); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(first{}); end != sim.Finished {
		t.Fatal(end, err)
	}
}

// onPeers is a file system whose logs are on the peers that the controller lists.
func onPeers(h host.Host, c coord.Client, dir *memdir.Dir, candidates ...string) (*splitfs.FS, error) {
	return splitfs.New(splitfs.Config{Dir: dir, Patterns: []string{"*.log"}, Region: 1 << 12,
		Store: splitfs.NCL(h, ncl.Config{App: "db", F: 1, Coord: c, Peers: candidates}, 0)})
}

// untilPeers waits until all of them have registered.
func untilPeers(h host.Host, c coord.Client, n int) error {
	for {
		if peers, err := ncl.Peers(c); err != nil || len(peers) == n {
			return err
		}
		h.Sleep(time.Second)
	}
}

func appendTo(fsys *splitfs.FS, name, text string) error {
	f, err := fsys.Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Append([]byte(text)); err != nil {
		return err
	}
	return f.Close()
}

// The write that detects a failed peer replaces it, and a peer that is down does not
// prevent new files: another one that the controller knows takes its place.
func TestPeersAreReplaced(t *testing.T) {
	simulate(t, func(h host.Host, c coord.Client) error {
		if err := untilPeers(h, c, 4); err != nil {
			return err
		}
		// One more has registered and is not there.
		if err := c.Create("peers/peer0", []byte{0, 0, 0, 0, 0, 1, 0, 0}, coord.NoSession); err != nil {
			return err
		}
		var dir memdir.Dir
		fsys, err := onPeers(h, c, &dir)
		if err != nil {
			return err
		}
		if err := appendTo(fsys, "a.log", "one "); err != nil {
			return fmt.Errorf("while a peer is down: %w", err)
		}
		for _, gone := range []string{"peer1", "peer2"} { // one after the other: more than f in all
			if err := ncl.Revoke(h, gone, time.Second); err != nil {
				return err
			}
			for range 40 { // more than go out to a peer that does not answer
				if err := appendTo(fsys, "a.log", "two "); err != nil {
					return fmt.Errorf("after %s has revoked its memory: %w", gone, err)
				}
			}
			if err := onThree(h); err != nil {
				return fmt.Errorf("after %s has revoked its memory: %w", gone, err)
			}
		}
		fsys.Close()
		if fsys, err = onPeers(h, c, &dir); err != nil {
			return err
		}
		st, err := fsys.Stat("a.log")
		if err != nil || st.Size() != 4+2*40*4 {
			return fmt.Errorf("%v, %w", st, err)
		}
		return nil
	}, 1<<16, 1<<16, 1<<16, 1<<16)
}

// onThree is an error unless three of the four peers have the file.
func onThree(h host.Host) error {
	var have []string
	for _, p := range []string{"peer1", "peer2", "peer3", "peer4"} {
		n, err := ncl.Collect(h, p, time.Second)
		if err != nil {
			return err
		}
		if n > 0 {
			have = append(have, p)
		}
	}
	if len(have) != 3 {
		return fmt.Errorf("%v have the file", have)
	}
	return nil
}

// Peers without free memory refuse a file with an error that names them and the figure;
// existing files keep working.
func TestPeersRefuse(t *testing.T) {
	for name, candidates := range map[string][]string{"as the controller has it": nil, "as they say": {"peer1", "peer2", "peer3"}} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(h host.Host, c coord.Client) error { return refused(h, c, candidates) }, 18000, 18000, 18000)
		})
	}
}

func refused(h host.Host, c coord.Client, candidates []string) error {
	if err := untilPeers(h, c, 3); err != nil {
		return err
	}
	var dir memdir.Dir
	fsys, err := onPeers(h, c, &dir, candidates...)
	if err == nil {
		err = appendTo(fsys, "a.log", "one ")
	}
	if err != nil {
		return err
	}
	hog, err := ncl.Create(h, ncl.Config{App: "hog", F: 1, Coord: c}, "hog", 2000)
	if err != nil {
		return err
	}
	err = appendTo(fsys, "b.log", "refused")
	says := "peer3 has 5776 bytes left to lend, and the file takes 8208"
	if candidates != nil {
		says = "alloc at peer peer3: ncl: rejected by the peer: peer3/ncl rejected the request: no memory left to lend"
	}
	if !errors.Is(err, ncl.ErrTooFew) || !errors.Is(err, ncl.ErrRejected) || !strings.Contains(err.Error(), says) {
		return fmt.Errorf("peers without memory: %w", err)
	}
	if _, err := fsys.Stat("b.log"); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the file that was refused: %w", err)
	}
	if err := appendTo(fsys, "a.log", "two "); err != nil {
		return err
	}
	fsys.Close()
	if err := hog.Release(); err != nil {
		return err
	}
	if fsys, err = onPeers(h, c, &dir, candidates...); err != nil {
		return err
	}
	st, err := fsys.Stat("a.log")
	if err != nil || st.Size() != 8 {
		return fmt.Errorf("%v, %w", st, err)
	}
	return appendTo(fsys, "b.log", "taken")
}
