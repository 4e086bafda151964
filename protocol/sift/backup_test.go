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
