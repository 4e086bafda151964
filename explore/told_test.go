package explore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	kit "github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A poll returns the completion that a channel reported, even if the channel has reported another queue since, and
// even if another task polls.
func TestWhatAChannelToldOfIsThere(t *testing.T) {
	for name, poll := range map[string]func(host.Host, verbs.CompChannel) error{ //lint:ordered each is checked
		"told twice": func(_ host.Host, ch verbs.CompChannel) error {
			first, err := ch.Wait(verbs.Forever)
			if err != nil {
				return err
			}
			second, err := ch.Wait(verbs.Forever)
			if err == nil && second != first {
				err = pollsOne(second)
			}
			return errors.Join(err, pollsOne(first))
		},
		"another task polls": func(h host.Host, ch verbs.CompChannel) (err error) {
			told, err := ch.Wait(verbs.Forever)
			if err != nil {
				return err
			}
			mu := h.NewMutex()
			polled, done := h.NewCond(mu), false
			h.Go("poll", func() {
				mu.Lock()
				defer mu.Unlock()
				err, done = pollsOne(told), true
				polled.Broadcast()
			})
			mu.Lock()
			defer mu.Unlock()
			for !done {
				polled.Wait()
			}
			return err
		},
	} {
		s := spoken("told", "", func(k *kit.Kit, say func(string, ...any)) sim.Config {
			var ch verbs.CompChannel
			var posts []verbs.QP
			w := k.World(k.Host("a", func(h host.Host) error {
				for _, q := range posts {
					if err := q.PostSend([]verbs.SendWR{{Op: verbs.OpSend, Flags: verbs.Signaled}}); err != nil {
						return err
					}
				}
				if err := poll(h, ch); err != nil {
					return err
				}
				say("done")
				return nil
			}), sim.Node{Name: "b", Daemon: true, Main: func(host.Host, int) {}})
			w.Setup = func(hosts []*sim.Host) {
				posts = nil
				ch = got(hosts[0].Device().CreateCompChannel())
				for range 2 {
					to, from := joined(hosts[0], hosts[1], ch)
					postRecv(from)
					posts = append(posts, to)
				}
			}
			return w
		})
		t.Run(name, func(t *testing.T) { searchesAgree(t, s, "done;") })
	}
}

// A wait for a queue that a channel has reported does not time out: the completion is available, and a wait polls
// before it gives up.
func TestAWaitForWhatAChannelToldOfEnds(t *testing.T) {
	for how, wait := range map[string]func(verbs.CompChannel, verbs.CQ) error{ //lint:ordered each is checked
		"wait": func(_ verbs.CompChannel, cq verbs.CQ) error {
			_, err := cq.Wait(make([]verbs.WC, 1), time.Second)
			return err
		},
		"gather": func(ch verbs.CompChannel, cq verbs.CQ) error {
			return ch.Gather([]verbs.CQ{cq}, make([]verbs.WC, 1), time.Second)
		},
		"channel": func(ch verbs.CompChannel, _ verbs.CQ) error {
			_, err := ch.Wait(time.Second)
			return err
		},
	} {
		for _, x := range [][2]string{{"idle", ""}, {"idle", "timeout(a)<=1"}, {"free", ""}, {"skew(1)", ""}} {
			s := spoken("told and timed "+how, x[1], func(k *kit.Kit, say func(string, ...any)) sim.Config {
				var sender verbs.QP
				var ch verbs.CompChannel
				w := k.World(k.Host("a", func(host.Host) error {
					cq, err := ch.Wait(verbs.Forever)
					if err != nil {
						return err
					}
					if err := wait(ch, cq); err != nil {
						return err
					}
					say("there")
					return nil
				}), sim.Node{Name: "b", Daemon: true, Main: func(h host.Host, _ int) {
					_ = sender.PostSend([]verbs.SendWR{{Op: verbs.OpSend}})
					_, _ = got(h.Listen("x")).Accept(verbs.Forever)
				}})
				w.Setup = func(hosts []*sim.Host) {
					ch = got(hosts[0].Device().CreateCompChannel())
					to, from := joined(hosts[0], hosts[1], ch)
					postRecv(to)
					sender = from
				}
				return w
			})
			s.Timers = x[0]
			t.Run(how+" "+x[0]+" "+x[1], func(t *testing.T) { searchesAgree(t, s, "there;") })
		}
	}
}

// joined connects queue pairs of two hosts. The CQ of a belongs to channel ch.
func joined(a, b *sim.Host, ch verbs.CompChannel) (of, to verbs.QP) {
	qp := func(h *sim.Host, ch verbs.CompChannel) verbs.PreparedQP {
		cq := got(h.Device().CreateCQ(4, ch))
		return got(got(h.Device().AllocPD()).CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq}))
	}
	p, q := qp(a, ch), qp(b, nil)
	return got(p.Connect(q.Endpoint())), got(q.Connect(p.Endpoint()))
}

func postRecv(q verbs.QP) {
	if err := q.PostRecv(make([]verbs.RecvWR, 1)); err != nil {
		panic(err)
	}
}

func pollsOne(cq verbs.CQ) error {
	var wcs [1]verbs.WC
	if n, err := cq.Poll(wcs[:]); n != 1 || err != nil {
		return fmt.Errorf("a poll after the channel's report returned %d completions: %w", n, err)
	}
	return nil
}
