package clustercheck

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The conditions of the scenarios with a file.
const (
	metWaited = iota
	metLate
	metFenced
	metRefused
)

var fileConditions = []string{
	metWaited:  "an instance began after the session of another instance had expired, while that instance still ran",
	metLate:    "a record was acknowledged after the session had expired, and the next instance has it",
	metFenced:  "a record arrived after the next instance had opened the file, and the file refused it",
	metRefused: "an instance learned that its session had expired, and did not touch the file",
}

// instanceScenarios are about an application with a file on a log peer.
func instanceScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		{
			Name: "cluster/instances", Profile: "strong", Faults: "timeout(app*)<=1", Sometimes: []string{fileConditions[metWaited], fileConditions[metFenced], fileConditions[metRefused]},
			Doc: "Two instances of an application claim it and write to its file. The session of the first expires at any moment, but it continues. " +
				"Only one has the right at a time; nothing acknowledged to either is lost. The file is a stand-in with a fence.",
			Bounds: "two instances that open the file and record 8 bytes each, the first before or after its next heartbeat; one session that expires, one timer that fires early",
			Build: func(c *explore.Case) (sim.Config, error) {
				x := newFileWorld(c, openOnDisk, metWaited, metFenced, metRefused)
				return x.config(
					sim.Node{Name: "app1", Main: func(h host.Host, _ int) { x.life(h, 1, x.late) }},
					sim.Node{Name: "app2", Main: func(h host.Host, _ int) { x.life(h, 2, x.write) }},
					sim.Node{Name: "clock", Main: func(h host.Host, _ int) { x.expire(h, "app1", 1) }}), nil
			},
		},
		{
			Name: "cluster/stopped", Profile: "strong", Faults: "none", Sometimes: fileConditions,
			Doc: "A process is stopped, its session expires, and the next instance recovers its file. Then it continues, at any moment, as after SIGSTOP and SIGCONT. " +
				"Nothing acknowledged to it is lost, and once it has learned that its session has expired it does not touch the file.",
			Bounds: "f=0, one log peer, two records of 8 bytes with the stop between them, the second before or after the next heartbeat; the recovery of the next instance",
			Build: func(c *explore.Case) (sim.Config, error) {
				x := newFileWorld(c, openNCL, metWaited, metLate, metFenced, metRefused)
				return x.config(sim.Node{Name: app, Again: func(life int, _ bool) bool { return life == 0 }, Main: func(h host.Host, life int) {
					if life == 0 {
						x.life(h, 1, x.stopped)
						return
					}
					x.expire(h, app, 1)
					x.life(h, 2, nil)
					h.Sleep(4 * cluster.DefaultHeartbeat) // the run lasts as long as this life
				}}, logPeer), nil
			},
		},
	}
}

// slots is the number of records of one word that fit into the file.
const slots = 3

// fileWorld is the state of the checks for instances with one file.
type fileWorld struct {
	c     *explore.Case
	open  func(host.Host, ncl.Config) (cluster.Log, int, error)
	meets []int // the conditions of the scenario, in its order
	fileHistory
}

func (x *fileWorld) met(condition int) {
	if i := slices.Index(x.meets, condition); i >= 0 {
		x.c.Sometimes(i)
	}
}

type fileHistory struct {
	holder int         // who holds the right
	over   [3]bool     // whose session has expired
	acked  [slots]int  // the epoch in which a record was acknowledged; 0: it was not
	latest int         // the epoch of the last instance that opened the file
	found  [slots]bool // the records that it found
}

func newFileWorld(c *explore.Case, open func(host.Host, ncl.Config) (cluster.Log, int, error), meets ...int) *fileWorld {
	x := &fileWorld{c: c, open: open, meets: meets}
	c.OnReset(func() { x.fileHistory = fileHistory{} })
	c.Remembers(x.print)
	return x
}

func (x *fileWorld) note() { x.c.History(x.print()) }

func (x *fileWorld) print() fingerprint.Print {
	p := bits(fingerprint.Print{}.Int(x.holder).Int(x.latest), x.over[:]...)
	for _, epoch := range x.acked {
		p = p.Int(epoch)
	}
	return bits(p, x.found[:]...)
}

func (x *fileWorld) fail(class, format string, args ...any) {
	x.c.Fail(&violation{class, fmt.Sprintf(format, args...)})
}

func (x *fileWorld) config(nodes ...sim.Node) sim.Config {
	return sim.Config{Profile: x.c.Profile, Budget: x.c.Budget, Services: []sim.Service{controller(), disk()}, Nodes: nodes}
}

// logPeer is a machine that lends memory.
var logPeer = sim.Node{Name: "peer", Daemon: true, Main: func(h host.Host, _ int) {
	panic(ncl.ServePeer(h, ncl.PeerConfig{Memory: 1024}))
}}

// expire expires the session of a host: the session of instance who.
func (x *fileWorld) expire(h host.Host, name string, who int) {
	if err := order(h, expire+name); err != nil {
		x.c.Fail(err)
		return
	}
	if x.over[who] = true; x.holder == who {
		x.holder = 0
	}
	x.note()
}

// process is a running instance.
type process struct {
	h    host.Host
	who  int
	i    *cluster.Instance
	file *watched
	log  cluster.Log
	// epoch is the epoch in which it opened the file.
	epoch int
}

// life is an instance from start to end.
func (x *fileWorld) life(h host.Host, who int, work func(*process)) {
	cfg := ncl.Config{App: app, Peers: []string{"peer"}, Coord: client(h)}
	p := &process{h: h, who: who}
	i, err := cluster.Start(h, cluster.InstanceConfig{Coord: cfg.Coord, Wait: 300 * time.Millisecond, Claim: func() (cluster.Right, error) { return x.claim(cfg, who) }})
	switch {
	case errors.Is(err, ncl.ErrRunning), x.over[who] && errors.Is(err, coord.ErrSessionExpired):
		return
	case err != nil:
		x.c.Fail(err)
		return
	}
	p.i = i
	f, epoch, err := x.open(h, cfg)
	if err != nil {
		x.refused(p, false, i.Explain(err))
		return
	}
	x.opened(f, p, epoch)
	p.file = &watched{Log: f}
	p.log = i.Own(p.file)
	if work != nil {
		work(p)
	}
}

// openNCL creates the file, or recovers it.
func openNCL(h host.Host, cfg ncl.Config) (cluster.Log, int, error) {
	f, err := ncl.Create(h, cfg, "log", 8*slots)
	if errors.Is(err, ncl.ErrExists) {
		f, err = ncl.Recover(h, cfg, "log")
	}
	if err != nil {
		return nil, 0, err
	}
	return f, int(f.Stamp().Epoch()), nil
}

func openOnDisk(h host.Host, _ ncl.Config) (cluster.Log, int, error) {
	f, err := openDisk(h)
	if err != nil {
		return nil, 0, err
	}
	return f, int(f.epoch), nil
}

// claim acquires the right, which no other instance may hold.
func (x *fileWorld) claim(cfg ncl.Config, who int) (cluster.Right, error) {
	r, err := ncl.Start(cfg)
	if err != nil {
		return nil, err
	}
	if x.holder != 0 {
		x.fail("two-instances", "instance %d begins while instance %d holds the right", who, x.holder)
	}
	if x.over[3-who] {
		x.met(metWaited)
	}
	x.holder, x.over[who] = who, false
	x.note()
	return r, nil
}

// opened checks what an instance finds in the file: all records acknowledged in earlier
// epochs.
func (x *fileWorld) opened(f cluster.Log, p *process, epoch int) {
	b := make([]byte, 8*slots)
	if _, err := f.ReadAt(b, 0); err != nil {
		x.c.Fail(err)
	}
	p.epoch = epoch
	for n, at := range x.acked {
		if at != 0 && at < p.epoch && b[8*n] == 0 {
			x.fail("lost-acknowledged-write", "record %d was acknowledged, but instance %d does not find it", n, p.who)
		}
	}
	if p.epoch < x.latest {
		return
	}
	x.latest = p.epoch
	for n := range x.found {
		x.found[n] = b[8*n] != 0
	}
	x.note()
}

// write records the record of an instance.
func (x *fileWorld) write(p *process) { x.record(p, p.who) }

// stopped records, is stopped, and records again.
func (x *fileWorld) stopped(p *process) {
	x.record(p, 0)
	if err := x.c.Inject(faults.Suspect, app); err != nil {
		x.c.Fail(err)
		return
	}
	x.late(p)
}

// late records the record of an instance, possibly after its next heartbeat.
func (x *fileWorld) late(p *process) {
	if p.h.Rand(2) == 1 {
		p.h.Sleep(2 * cluster.DefaultHeartbeat)
	}
	x.write(p)
}

// record records record n, and checks the result.
func (x *fileWorld) record(p *process, n int) {
	knows, over := p.i.Check() != nil, x.over[p.who]
	data := []byte{byte('a' + n), 7: 0}
	err := p.log.Record(8*n, data)
	if knows && p.file.touched {
		x.fail("touched-after-session", "instance %d had learned that its session had expired, but it touched the file", p.who)
	}
	if err != nil {
		if knows {
			x.met(metRefused)
		}
		x.refused(p, over, err)
		return
	}
	if x.acked[n] = p.epoch; x.latest > p.epoch {
		if x.met(metLate); !x.found[n] {
			x.fail("lost-acknowledged-write", "record %d is acknowledged, but epoch %d has begun without it", n, x.latest)
		}
	}
	x.note()
	p.file.touched = false
}

// refused checks an error: it reports the expiry if the session had already expired.
func (x *fileWorld) refused(p *process, over bool, err error) {
	switch explained := errors.Is(err, cluster.ErrOver); {
	case over && !explained:
		x.fail("unexplained", "the session of instance %d had expired, but the error does not say so: %v", p.who, err)
	case !x.over[p.who] && explained:
		x.fail("false-alarm", "the session of instance %d lives, but the error says that it has expired: %v", p.who, err)
	case p.file != nil && p.file.touched:
		x.met(metFenced)
	}
}

// watched is a file that remembers whether it was used.
type watched struct {
	cluster.Log
	touched bool
}

func (w *watched) Record(off int, data []byte) error {
	w.touched = true
	return w.Log.Record(off, data)
}
