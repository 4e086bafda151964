package litmus

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// renew restores the state from before the first run: it resets what the last run left
// if that is clean, and otherwise creates everything again.
func (l *Live) renew() error {
	m := l.r
	m.forget()
	m.refused = nil
	l.over.Store(false)
	l.left.Store(false)
	l.struck.Store(false)
	if l.clean {
		l.putBack()
		return nil
	}
	if err := l.Close(); err != nil {
		return fmt.Errorf("litmus: give back what a run used: %w", err)
	}
	if err := m.setup(l.hosts); err != nil {
		return err
	}
	for i, lives := range m.lives {
		r, err := l.hosts[i].Alloc(8)
		if err != nil {
			return err
		}
		mr, err := lives[0].pd.RegisterMR(r, verbs.LocalWrite|verbs.RemoteRead)
		if err != nil {
			return errors.Join(err, r.Free())
		}
		l.probes = append(l.probes, private{r, mr})
	}
	return nil
}

// putBack reinitializes memory, and drops messages that nobody received.
func (l *Live) putBack() {
	for _, at := range l.r.p.hosts {
		x := l.r.lives[at.idx][0]
		for _, b := range at.blocks {
			x.regions[b.at].Store(0, make([]byte, b.size))
			b.fill(x.regions[b.at])
		}
		for _, t := range at.threads {
			if t.scratch > 0 {
				x.cells[t.idx].region.Store(0, make([]byte, t.scratch))
				t.fill(x.cells[t.idx].region)
			}
		}
		for _, s := range at.listens {
			for {
				if _, err := x.listeners[s].Accept(0); err != nil {
					break
				}
			}
		}
	}
}

// Close releases the resources of the last run.
func (l *Live) Close() error {
	l.clean = false
	var all []error
	for i, lives := range l.r.lives {
		for _, x := range lives {
			all = append(all, x.endQueues())
		}
		l.r.lives[i] = nil
		for _, x := range lives {
			if i < len(l.probes) {
				x.cells = append(x.cells, l.probes[i])
			}
			all = append(all, x.endMemory())
		}
	}
	l.probes = nil
	return errors.Join(all...)
}

// endQueues destroys queue pairs and completion queues. It ignores those that a
// statement of the test has destroyed.
func (l *life) endQueues() error {
	var all []error
	for _, q := range append(l.old, l.qps...) {
		switch {
		case q.qp != nil:
			all = append(all, gone(q.qp.Destroy()))
		case q.prepared != nil:
			all = append(all, gone(q.prepared.Destroy()))
		}
	}
	for _, c := range l.cqs {
		if c != nil {
			all = append(all, c.Destroy())
		}
	}
	return errors.Join(all...)
}

// endMemory deregisters and frees memory.
func (l *life) endMemory() error {
	var all []error
	for _, m := range l.mrs {
		all = append(all, gone(m.Dereg()))
	}
	for _, r := range l.regions {
		all = append(all, r.Free())
	}
	for _, c := range l.cells {
		if c.mr != nil {
			all = append(all, c.mr.Dereg())
		}
		if c.region != nil {
			all = append(all, c.region.Free())
		}
	}
	for _, x := range l.listeners { //lint:ordered they are independent of each other
		all = append(all, x.Close())
	}
	if l.pd != nil {
		all = append(all, l.pd.Dealloc())
	}
	return errors.Join(all...)
}

// gone drops an error that means that the object is already gone.
func gone(err error) error {
	if errors.Is(err, verbs.ErrClosed) {
		return nil
	}
	return err
}
