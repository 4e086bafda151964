package scenario_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// What code does may follow from what the checks remember: from a copy that it keeps, or from a look
// that tells nothing. In whichever order the hosts stand, what follows is found.
func TestLooksAtWhatIsRemembered(t *testing.T) {
	for name, reader := range map[string]func(k *scenario.Kit, written *int) func(host.Host) error{
		"a copy": func(k *scenario.Kit, written *int) func(host.Host) error {
			return func(h host.Host) error {
				k.Look()
				before := *written
				if err := ask(h, "s"); err != nil {
					return err
				}
				if before > 0 {
					k.Failf("found", "it was written before the read began")
				}
				return nil
			}
		},
		"a look": func(k *scenario.Kit, written *int) func(host.Host) error {
			return func(h host.Host) error {
				if err := ask(h, "s"); err != nil {
					return err
				}
				k.Look()
				if *written > 0 {
					k.Failf("found", "it was written before the read was over")
				}
				return nil
			}
		},
	} {
		for _, turned := range []bool{false, true} {
			verdict(t, world(func(k *scenario.Kit) []sim.Node {
				written := scenario.Memory[int](k)
				nodes := []sim.Node{k.Host("reader", reader(k, written)), k.Host("writer", func(h host.Host) error {
					if err := ask(h, "t"); err != nil {
						return err
					}
					*written = 1
					k.History()
					return ask(h, "t")
				}), k.Server("s", answers), k.Server("t", answers)}
				if turned {
					slices.Reverse(nodes)
				}
				return nodes
			}), explore.Options{Workers: 1}, explore.Violated, "found")
			if t.Failed() {
				t.Fatalf("%s, turned %v", name, turned)
			}
		}
	}
}

func ask(h host.Host, server string) error {
	_, err := h.Call(server, "s", nil, verbs.Forever)
	return err
}

func answers(h host.Host) error {
	l, err := h.Listen("s")
	for err == nil {
		var r host.Request
		if r, err = l.Accept(verbs.Forever); err == nil {
			r.Reply(nil)
		}
	}
	return err
}

// A server looks at nothing that the checks remember, for it takes part in none of it.
func TestServersLookAtNothing(t *testing.T) {
	verdict(t, world(func(k *scenario.Kit) []sim.Node {
		return []sim.Node{k.Server("s", func(h host.Host) error { k.Look(); return answers(h) }),
			k.Host("c", func(h host.Host) error { return ask(h, "s") })}
	}), explore.Options{Workers: 1}, explore.Unknown, "undecided")
}
