package cost

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// counted is the number of counted puts. The log has fewer entries, so that it wraps around.
const counted = 24

// Count runs protocol/sift in the simulator, and counts the requests that a put posts to the card
// of the coordinator. With codes, F+1 must divide the words of a block, so a block has the least
// such size from s.Block on.
func Count(f int, codes bool, s Sizes) (Put, error) {
	chunks := 0
	if codes {
		chunks = f + 1
		s.Block = (s.Block + 8*chunks - 1) / (8 * chunks) * 8 * chunks
	}
	item := (s.Item + 7) &^ 7
	cfg := group(f, sift.Layout{Size: 4 * s.Block, Direct: 4 * item, Block: s.Block, Chunks: chunks, Slots: 8, Entry: 8 + (s.Block+7)&^7})
	var c counter
	err := inWorld(&cfg, func(h host.Host) error {
		n, err := sift.Start(&counting{Host: h, c: &c}, cfg)
		if err != nil {
			return err
		}
		memory, err := n.Follow()
		if err != nil {
			return err
		}
		c = counter{} // elections and recovery are not counted
		for i := range counted {
			if err := put(memory, i%4, item, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Put{}, fmt.Errorf("count puts of F=%d: %w", f, err)
	}
	x := Put{System: "Sift", F: f, Requests: c.requests / counted, Bytes: c.bytes / counted,
		Source: fmt.Sprintf("counted: %d puts in the simulator, blocks of %d", counted, s.Block)}
	if codes {
		x.System = "Sift EC"
	}
	x.Most = int(link / float64(x.Bytes))
	if c.requests%counted != 0 || c.bytes%counted != 0 {
		return x, fmt.Errorf("count puts of F=%d: %d puts made %d requests of %d bytes, which differ between puts", f, counted, c.requests, c.bytes)
	}
	return x, nil
}

// put makes the least operations of a put (4.2): an entry of the store's log, the logged write of a
// block, and its update.
func put(m *sift.Coordinator, i, item int, s Sizes) error {
	if err := m.WriteDirect(i*item, make([]byte, s.Item)); err != nil {
		return err
	}
	if err := m.Write(i*s.Block, make([]byte, s.Block)); err != nil {
		return err
	}
	m.ApplyOne()
	return nil
}

// inWorld runs a CPU node together with the memory nodes.
func inWorld(cfg *sift.Config, cpu func(h host.Host) error) error {
	return run("cpu", cpu, cfg.Memory, func(h host.Host) error {
		return sift.ServeMemory(h, sift.MemoryConfig{Layout: cfg.Layout, New: true})
	})
}

// run runs one host together with others that serve it.
func run(name string, main func(h host.Host) error, others []string, serve func(h host.Host) error) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	var failed error
	once := func(int, bool) bool { return false }
	world := sim.Config{Profile: profile, MaxSteps: 1 << 24, MaxPieces: 1,
		Nodes: []sim.Node{{Name: name, Again: once, Main: func(h host.Host, _ int) { failed = main(h) }}}}
	for _, name := range others {
		world.Nodes = append(world.Nodes, sim.Node{Name: name, Daemon: true, Again: once, Main: func(h host.Host, _ int) { h.Logf("%v", serve(h)) }})
	}
	w, err := sim.New(world)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := w.Run(straight{}); err != nil {
		return err
	}
	return failed
}

// counter counts the requests that are posted to send queues.
type counter struct{ requests, bytes int }

// counting is a host whose card counts.
type counting struct {
	host.Host
	c *counter
}

func (h *counting) Device() verbs.Device { return &device{h.Host.Device(), h.c} }

type device struct {
	verbs.Device
	c *counter
}

func (d *device) AllocPD() (verbs.PD, error) {
	p, err := d.Device.AllocPD()
	return &pd{p, d.c}, err
}

type pd struct {
	verbs.PD
	c *counter
}

func (p *pd) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	q, err := p.PD.CreateQP(cfg)
	return &prepared{q, p.c}, err
}

type prepared struct {
	verbs.PreparedQP
	c *counter
}

func (p *prepared) Connect(to verbs.Endpoint) (verbs.QP, error) {
	q, err := p.PreparedQP.Connect(to)
	return &qp{q, p.c}, err
}

type qp struct {
	verbs.QP
	c *counter
}

func (q *qp) PostSend(wrs []verbs.SendWR) error {
	for i := range wrs {
		q.c.requests++
		if wrs[i].Op != verbs.OpRead {
			for _, s := range wrs[i].SGL {
				q.c.bytes += int(s.Length)
			}
		}
	}
	return q.QP.PostSend(wrs)
}
