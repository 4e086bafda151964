package ncl_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

var errInjected = errors.New("injected")

// once fails the call number at of those that are counted, before it is carried out or after.
type once struct {
	at, calls int
	after     bool
	what      string // the call that failed
}

func (o *once) call(what string, carryOut func() error) error {
	o.calls++
	if o.calls-1 != o.at {
		return carryOut()
	}
	if o.what = what; o.after {
		_ = carryOut() // the answer is lost
	}
	return fmt.Errorf("%s: %w: %w", what, coord.ErrUnavailable, errInjected)
}

// losing is a way to the controller on which one call is lost.
type losing struct {
	coord.Client
	*once
}

func (l losing) Get(key string) (value []byte, version uint64, err error) {
	err = l.call("get "+key, func() (err error) { value, version, err = l.Client.Get(key); return })
	return
}

func (l losing) Create(key string, value []byte, s coord.Session) error {
	return l.call("create "+key, func() error { return l.Client.Create(key, value, s) })
}

func (l losing) Set(key string, value []byte, ifVersion uint64) (version uint64, err error) {
	err = l.call("set "+key, func() (err error) { version, err = l.Client.Set(key, value, ifVersion); return })
	return
}

func (l losing) Delete(key string, ifVersion uint64) error {
	return l.call("delete "+key, func() error { return l.Client.Delete(key, ifVersion) })
}

func (l losing) List(prefix string) (keys []string, err error) {
	err = l.call("list "+prefix, func() (err error) { keys, err = l.Client.List(prefix); return })
	return
}

// short is a host that is out of something once, and counts what is in use of it.
type short struct {
	host.Host
	*once
	inUse map[string]int
}

func (s short) take(what string, f func() error) error {
	err := s.call(what, f)
	if err == nil {
		s.inUse[what]++
	}
	return err
}

func (s short) give(what string, err error) error {
	if err == nil {
		s.inUse[what]--
	}
	return err
}

func (s short) Device() verbs.Device { return shortDevice{s.Host.Device(), s} }

func (s short) Alloc(size int) (r host.Region, err error) {
	err = s.take("memory", func() (err error) { r, err = s.Host.Alloc(size); return })
	if err != nil {
		return nil, err
	}
	return shortRegion{r, s}, nil
}

type shortRegion struct {
	host.Region
	s short
}

func (r shortRegion) Free() error { return r.s.give("memory", r.Region.Free()) }

type shortDevice struct {
	verbs.Device
	s short
}

func (d shortDevice) AllocPD() (pd verbs.PD, err error) {
	err = d.s.take("protection domain", func() (err error) { pd, err = d.Device.AllocPD(); return })
	if err != nil {
		return nil, err
	}
	return shortPD{pd, d.s}, nil
}

func (d shortDevice) CreateCompChannel() (ch verbs.CompChannel, err error) {
	err = d.s.take("channel", func() (err error) { ch, err = d.Device.CreateCompChannel(); return })
	if err != nil {
		return nil, err
	}
	return shortChannel{ch, d.s}, nil
}

func (d shortDevice) CreateCQ(depth int, ch verbs.CompChannel) (cq verbs.CQ, err error) {
	if s, ok := ch.(shortChannel); ok {
		ch = s.CompChannel
	}
	err = d.s.call("queue of completions", func() (err error) { cq, err = d.Device.CreateCQ(depth, ch); return })
	return cq, err
}

type shortChannel struct {
	verbs.CompChannel
	s short
}

func (c shortChannel) Destroy() error { return c.s.give("channel", c.CompChannel.Destroy()) }

// shortPD is a protection domain: while something is in it, it cannot be given back.
type shortPD struct {
	verbs.PD
	s short
}

func (p shortPD) RegisterMR(mem verbs.Memory, access verbs.Access) (mr verbs.MR, err error) {
	if r, ok := mem.(shortRegion); ok {
		mem = r.Region
	}
	err = p.s.call("registration", func() (err error) { mr, err = p.PD.RegisterMR(mem, access); return })
	return mr, err
}

func (p shortPD) CreateQP(cfg verbs.QPConfig) (qp verbs.PreparedQP, err error) {
	err = p.s.call("queue pair", func() (err error) { qp, err = p.PD.CreateQP(cfg); return })
	return qp, err
}

func (p shortPD) Dealloc() error { return p.s.give("protection domain", p.PD.Dealloc()) }

// If one call to the controller is lost, or its answer, or the host is out of something once,
// then an operation fails for that reason or not at all, and done again it succeeds. Nothing that
// was acknowledged is lost, and in the end nobody holds anything that nobody needs.
func TestEachCallFailsOnce(t *testing.T) {
	for _, what := range []string{"a call of the application to the controller", "its answer", "something of the host",
		"a call of a peer to the controller", "its answer to a peer"} {
		t.Run(what, func(t *testing.T) {
			for at := 0; ; at++ {
				o := &once{at: at, after: what == "its answer" || what == "its answer to a peer"}
				runWithFailure(t, o, what)
				if o.what == "" {
					if at == 0 {
						t.Error("nothing can fail")
					}
					break
				}
				if t.Failed() {
					t.Fatalf("with call %d, %s", at, o.what)
				}
			}
		})
	}
}

func runWithFailure(t *testing.T, o *once, what string) {
	const peers, lends = 4, 1 << 12
	var failed error
	c := config(t, peers, "strong", "none", func(h host.Host, cfg ncl.Config, life int) {
		if life > 0 {
			return
		}
		s := short{Host: h, once: &once{at: -1}, inUse: map[string]int{}}
		cfg.Peers, cfg.F = nil, 1
		safe := cfg.Coord
		switch what {
		case "something of the host":
			s.once = o
		case "a call of the application to the controller", "its answer":
			cfg.Coord = losing{cfg.Coord, o}
		}
		failed = amongFailures(s, cfg)
		for what, n := range s.inUse {
			if n != 0 {
				failed = errors.Join(failed, fmt.Errorf("%d of %s are in use after all", n, what))
			}
		}
		for i := range peers {
			name := fmt.Sprint("peer", i+1)
			if lent, err := ncl.Collect(h, name, time.Second); err != nil || lent != 0 {
				failed = errors.Join(failed, fmt.Errorf("%s lends %d bytes: %w", name, lent, err))
			}
		}
		registered, err := ncl.Peers(safe)
		for _, p := range registered {
			if p.Err != nil || p.Left != lends {
				err = errors.Join(err, fmt.Errorf("the controller thinks that %s has %d bytes left: %w", p.Name, p.Left, p.Err))
			}
		}
		if failed = errors.Join(failed, err); len(registered) != peers {
			failed = errors.Join(failed, fmt.Errorf("%d peers are registered", len(registered)))
		}
	})
	for i := range peers {
		c.Nodes[1+i].Symmetric = false
		c.Nodes[1+i].Again = func(life int, _ bool) bool { return life == 0 } // an operator starts it again
		c.Nodes[1+i].Main = func(h host.Host, _ int) {
			var client coord.Client = coord.NewClient(h, "coord", "coord")
			if i == 0 && (what == "a call of a peer to the controller" || what == "its answer to a peer") {
				client = losing{client, o}
			}
			if err := ncl.ServePeer(h, ncl.PeerConfig{Memory: lends, Coord: client}); !errors.Is(err, errInjected) {
				panic(err)
			}
		}
	}
	w, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(first{}); end != sim.Finished || failed != nil {
		t.Errorf("%v, %v: %v", end, err, failed)
	}
}

// amongFailures makes, writes, mends, recovers and releases a file. Each is done again if it fails.
func amongFailures(h host.Host, cfg ncl.Config) error {
	var f *ncl.File
	again := func(what string, do func() error) error {
		err := do()
		if errors.Is(err, errInjected) {
			err = do()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	create := func() (err error) { f, err = ncl.Create(h, cfg, "wal", fileSize); return }
	recovered := func() (err error) { f, err = ncl.Recover(h, cfg, "wal"); return }
	for {
		peers, err := ncl.Peers(cfg.Coord)
		if err != nil && !errors.Is(err, errInjected) {
			return err
		}
		if len(peers) == 4 {
			break
		}
		h.Sleep(time.Second)
	}
	if err := again("create", create); err != nil {
		return err
	}
	if err := f.Record(0, []byte{1, 2, 3}); err != nil {
		return err
	}
	if err := ncl.Revoke(h, f.AlivePeers()[0], time.Second); err != nil {
		return err
	}
	for off := range 2 { // the first notices
		if err := f.Record(3+off, []byte{byte(4 + off)}); err != nil {
			return err
		}
	}
	if err := again("repair", f.Repair); err != nil || f.Alive() != 3 {
		return fmt.Errorf("%d alive, %w", f.Alive(), err)
	}
	for _, peer := range f.AlivePeers()[:2] { // more than may fail
		if err := ncl.Revoke(h, peer, time.Second); err != nil {
			return err
		}
	}
	m := &ncl.Maintained{File: f}
	for off := range 2 {
		if err := again("record", func() error { return m.Record(5+off, []byte{byte(6 + off)}) }); err != nil {
			return err
		}
	}
	f.Close()
	if err := again("recover", recovered); err != nil {
		return err
	}
	if err := has(f, []byte{1, 2, 3, 4, 5, 6, 7}); err != nil {
		return err
	}
	if err := again("release", f.Release); err != nil {
		return err
	}
	f.Close()
	if err := again("create anew", create); err != nil {
		return err
	}
	defer f.Close()
	if err := has(f, make([]byte, fileSize)); err != nil {
		return err
	}
	return again("release again", f.Release)
}
