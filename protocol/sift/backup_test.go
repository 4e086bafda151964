package sift

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
)

// A group that cannot be reached does not keep a backup from the others, and a backup that
// serves a group refuses all else.
func TestABackupServesTheGroupThatItReaches(t *testing.T) {
	run(t, func(h host.Host) {
		away := config()
		away.Memory = []string{"away1", "away2", "away3"}
		b, err := StartBackup(h, []Config{away, config()})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []int{-1, 2} {
			if _, err := b.Take(g); !errors.Is(err, ErrConfig) {
				t.Errorf("group %d: %v", g, err)
			}
		}
		g, c, err := b.Follow()
		if err != nil || g != 1 {
			t.Fatalf("group %d, %v", g, err)
		}
		if err := c.Write(0, []byte("served")); err != nil {
			t.Error(err)
		}
		if _, err := b.Watch(); !errors.Is(err, ErrServing) {
			t.Errorf("Watch: %v", err)
		}
		if _, err := b.Take(0); !errors.Is(err, ErrServing) {
			t.Errorf("Take: %v", err)
		}
		if err := errors.Join(c.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	}, nil)
}

// A group that has lost its memory needs no backup any more, and others do.
func TestABackupFollowsTheGroupsThatAreLeft(t *testing.T) {
	run(t, func(h host.Host) {
		lost := config()
		lost.Durable = &kept{s: Snapshot{Index: 1, Memory: make([]byte, lost.Size)}} // and the log has nothing
		later := config()
		later.Memory = []string{"later1", "later2", "later3"}
		later.Period = config().Period / 2
		b, err := StartBackup(h, []Config{lost, later, config(), config()})
		if err != nil {
			t.Fatal(err)
		}
		if b.period != later.Period {
			t.Errorf("it looks once in %v, and a group sends a heartbeat in %v", b.period, later.Period)
		}
		nodes := b.nodes
		g, c, err := b.Follow()
		if err != nil || g != 2 {
			t.Fatalf("group %d, %v", g, err)
		}
		for _, g := range []int{0, 3} {
			for _, p := range nodes[g].nodes {
				if p.conn.CQ != nil {
					t.Errorf("a connection to group %d is left", g)
				}
			}
		}
		if err := errors.Join(c.Write(0, []byte("served")), c.Close(), b.Close()); err != nil {
			t.Error(err)
		}
		lost.Durable = &kept{s: Snapshot{Index: 100, Memory: make([]byte, lost.Size)}}
		if b, err = StartBackup(h, []Config{lost, lost}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Follow(); !errors.Is(err, ErrLost) {
			t.Errorf("no group is left: %v", err)
		}
		if _, _, err := b.Follow(); !errors.Is(err, ErrLost) {
			t.Errorf("again: %v", err)
		}
	}, nil)
}

// A group that a backup follows no longer is none that it could take.
func TestABackupDoesNotWatchAGroupThatItHasGivenUp(t *testing.T) {
	run(t, func(h host.Host) {
		b, err := StartBackup(h, []Config{config(), config()})
		if err != nil {
			t.Fatal(err)
		}
		b.over[0] = ErrLost
		var vacant []int
		for range config().Missed + 1 {
			if vacant, err = b.Watch(); err != nil {
				t.Fatal(err)
			}
		}
		if len(vacant) != 1 || vacant[0] != 1 {
			t.Errorf("the groups %v need a coordinator, and 0 is given up", vacant)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}, nil)
}

func TestAClosedBackupFollowsNobody(t *testing.T) {
	run(t, func(h host.Host) {
		b, err := StartBackup(h, []Config{config()})
		if err := errors.Join(err, b.Close()); err != nil {
			t.Fatal(err)
		}
		_, watch := b.Watch()
		_, take := b.Take(0)
		_, _, follow := b.Follow()
		for i, err := range []error{watch, take, follow} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%d: %v", i, err)
			}
		}
		if err := b.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
	}, nil)
}

func TestABackupOfBadGroupsIsAnError(t *testing.T) {
	run(t, func(h host.Host) {
		if _, err := StartBackup(h, nil); !errors.Is(err, ErrConfig) {
			t.Errorf("no group: %v", err)
		}
		bad := config()
		bad.Slots = 0
		if _, err := StartBackup(h, []Config{config(), bad}); !errors.Is(err, ErrConfig) {
			t.Errorf("a bad group: %v", err)
		}
	}, nil)
}
