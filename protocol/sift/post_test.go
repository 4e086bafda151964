package sift

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// refusing is a queue pair that refuses to write, and calls refused before.
type refusing struct {
	verbs.QP
	refused func()
}

var errRefused = errors.New("refused")

func (q refusing) PostSend(wrs []verbs.SendWR) error {
	if wrs[0].Op == verbs.OpWrite {
		q.refused()
		return &verbs.PostError{Err: errRefused}
	}
	return q.QP.PostSend(wrs)
}

// A task that waits for a node does not wait forever when another task fails the connection: here
// nothing else is under way that would wake it.
func TestARefusedRequestEndsTheWaitOfOthers(t *testing.T) {
	plain := config()
	plain.Memory = plain.Memory[:1]
	for name, ask := range map[string]func(c *Coordinator) error{
		"any": func(c *Coordinator) error { return c.Read(0, make([]byte, 8)) },
		"all": func(c *Coordinator) error {
			c.enter()
			defer c.leave()
			if c.stopped != nil {
				return c.stopped
			}
			c.read(c.nodes[0], 0, c.scratch, 0, 8)
			c.awaitAll([]sent{{c.nodes[0], c.nodes[0].Asked}})
			return c.stopped
		},
	} {
		waited := 0
		for seed := range uint64(50) {
			crashingIn(t, anyRun{rand.New(rand.NewPCG(seed, 0))}, &plain, "", func(h host.Host, _ func(string)) {
				c := lead(t, h, plain)
				r := c.nodes[0]
				r.QP = refusing{r.QP, func() {
					if c.polling {
						waited++
					}
				}}
				ended := false
				h.Go("read", func() {
					h.Logf("%v", ask(c)) // it may have its answer
					ended = true
				})
				if err := c.WriteDirect(0, []byte("refused")); !errors.Is(err, ErrUnavailable) {
					t.Errorf("%s, seed %d: the write: %v", name, seed, err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if h.Sleep(1); !ended {
					t.Errorf("%s, seed %d: the read has not ended", name, seed)
				}
			})
		}
		if waited == 0 {
			t.Errorf("%s: no task waited", name)
		}
	}
}

// A wait that fails stops the coordinator: nobody may wait once more, for what does not come.
func TestAWaitThatFailsStopsTheCoordinator(t *testing.T) {
	for name, wait := range map[string]func(c *Coordinator){
		"for any": func(c *Coordinator) { c.poll() },
		"for all": func(c *Coordinator) { c.pollAll([]sent{{c.nodes[0], c.nodes[0].Asked + 1}}) },
	} {
		run(t, func(h host.Host) {
			c := lead(t, h, config())
			c.group.Timeout = config().Period
			c.enter()
			wait(c)
			c.leave()
			if !errors.Is(c.Stopped(), ErrUnavailable) {
				t.Errorf("%s: %v", name, c.Stopped())
			}
		}, nil)
	}
}
