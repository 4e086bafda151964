package siftcheck

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// TwoBackups is the class of violations in which a backup serves two groups, or takes a group
// from another one that serves it.
const TwoBackups = "two-backups"

const (
	sawPooled  = "a backup served a group"
	sawSecond  = "a group waited until a second backup was there"
	sawRefuses = "a backup that serves a group refused another"
)

// pair is the world of two groups that share their backups (5.2). Group g has the addresses
// from g*span of the memory that the model knows.
type pair struct {
	*scenario.Kit
	rec   *scenario.Recorder
	known *pooled
}

// pooled is what the checks remember: which group a backup serves.
type pooled struct {
	Serves map[string]int
}

const (
	span   = 3 * block
	groups = 2
)

// backups is the scenario of shared backups. It has a world of its own, since the others have
// one group.
func backups() *explore.Scenario {
	return &explore.Scenario{
		Name: "sift/backup", Doc: "P3, P4, P12, P13: the coordinators of two groups write and die; one backup takes one of the groups, and serves it while a second backup is provisioned, which takes the other one",
		Profile: "strong", Faults: "crash(cpu1)<=1, crash(cpu2)<=1",
		Bounds:    "2 groups of one memory node each, a write of 8 bytes in each, 2 backups one after the other, which read everything",
		Sometimes: []string{sawPooled, sawSecond, sawRefuses},
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			w := &pair{Kit: k, rec: k.Record(model.Memory{Bytes: groups * span}), known: scenario.Memory[pooled](k)}
			return w.config(), nil
		},
	}
}

func (w *pair) config() sim.Config {
	cfg := w.World()
	for i, script := range []func(h host.Host, c *scenario.Client){w.owner(0), w.owner(1), w.firstBackup, w.secondBackup} {
		name := fmt.Sprint("cpu", i+1)
		client := w.rec.Client(name)
		cfg.Nodes = append(cfg.Nodes, scenario.StayDown(w.Host(name, func(h host.Host) error {
			script(h, client)
			return nil
		}))...)
	}
	for g := range groups {
		cfg.Nodes = append(cfg.Nodes, scenario.StayDown(sim.Node{Name: memoryOf(g), Daemon: true, Main: func(h host.Host, _ int) {
			w.Fail(sift.ServeMemory(h, sift.MemoryConfig{Layout: layout(), New: true}))
		}})...)
	}
	return cfg
}

func layout() sift.Layout {
	return sift.Layout{Size: span, Block: block, Slots: 4, Entry: 2 * (8 + block)}
}

func memoryOf(g int) string { return fmt.Sprint("mem", g+1) }

// group is the configuration of a group for a CPU node.
func group(g int, id uint16) sift.Config {
	return sift.Config{Layout: layout(), Node: id, Memory: []string{memoryOf(g)}, Period: period, Missed: 2, BackOff: period, CallTimeout: verbs.Forever, QueueDepth: 16}
}

// owner leads a group from the start, and writes.
func (w *pair) owner(g int) func(h host.Host, c *scenario.Client) {
	return func(h host.Host, client *scenario.Client) {
		h.Sleep(10 * period * time.Duration(g))
		n, err := sift.Start(h, group(g, 1))
		if !w.Check(err) {
			return
		}
		c, err := n.Follow()
		if !w.Check(err) {
			return
		}
		data := bytes.Repeat([]byte{byte('a' + g)}, block)
		w.Check(client.Do(model.MemoryWriteAll{List: []model.MemoryWrite{{Addr: g * span, Data: string(data)}}}, func() (any, error) {
			return model.Done{}, c.Write(0, data)
		}))
	}
}

// take waits until a group needs the backup, and checks what it then has.
func (w *pair) take(h host.Host, client *scenario.Client, id uint16) (*sift.Coordinator, bool) {
	b, err := sift.StartBackup(h, []sift.Config{group(0, id), group(1, id)})
	if !w.Check(err) {
		return nil, false
	}
	g, c, err := b.Follow()
	if !w.Check(err) {
		return nil, false
	}
	w.Look()
	for _, other := range []string{"cpu3", "cpu4"} {
		if of, serves := w.known.Serves[other]; serves && of == g {
			w.Failf(TwoBackups, "%s takes group %d, which %s serves", h.Name(), g, other)
		}
	}
	if w.known.Serves == nil {
		w.known.Serves = map[string]int{}
	}
	w.known.Serves[h.Name()] = g
	w.History()
	w.Meet(sawPooled)
	if _, err := b.Take(1 - g); errors.Is(err, sift.ErrServing) {
		w.Meet(sawRefuses)
	} else {
		w.Failf(TwoBackups, "%s serves group %d, and stands for the other one too: %v", h.Name(), g, err)
	}
	p := make([]byte, span)
	return c, w.Check(client.Do(model.MemoryRead{Addr: g * span, N: span}, func() (any, error) {
		err := c.Read(0, p)
		return model.MemoryData{Data: string(p)}, err
	}))
}

// firstBackup serves a group for a while, in which the second backup is provisioned.
func (w *pair) firstBackup(h host.Host, client *scenario.Client) {
	h.Sleep(30 * period)
	c, ok := w.take(h, client, 3)
	if !ok {
		return
	}
	if _, err := h.Call("cpu4", "begin", nil, verbs.Forever); !w.Check(err) {
		return
	}
	for range 4 {
		h.Sleep(period)
		if !w.Check(c.Beat()) {
			return
		}
	}
	delete(w.known.Serves, h.Name())
	w.History()
}

// secondBackup is provisioned when the first one serves, and takes the other group.
func (w *pair) secondBackup(h host.Host, client *scenario.Client) {
	l, err := h.Listen("begin")
	if !w.Check(err) {
		return
	}
	req, err := l.Accept(verbs.Forever)
	if !w.Check(err) {
		return
	}
	req.Reply(nil)
	if _, ok := w.take(h, client, 4); ok {
		w.Meet(sawSecond)
	}
}
