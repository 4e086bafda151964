package table1check

import (
	"bytes"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/arcadiacheck"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// restarts returns a scenario of an application on one host: it forces two records and restarts, forces another one and
// restarts, and recovers the log. With replicas it forces one record and restarts once.
func restarts(d design, name, doc, budget string, meets ...string) *explore.Scenario {
	lives, bounds := 3, "3 lives, 2 and 1 records of 16 bytes"
	if d.replicated() { // a second host multiplies the runs
		lives, bounds = 2, "2 lives, 1 record of 16 bytes"
	}
	return &explore.Scenario{
		Name: "table1/" + d.name + "-" + name, Doc: doc, Profile: "strong", Faults: budget, Sometimes: append(meets, sawForced),
		Bounds: bounds,
		Build: func(c *explore.Case) (sim.Config, error) {
			a := newApp(c, d)
			life := a.Lives(lives, nil)
			nodes := []sim.Node{life.Node("app", func(h host.Host, n int) {
				if len(a.copies) > 0 {
					h.Sleep(patience) // until the copies have processed the requests of the last life
				}
				l, found := a.recover(h)
				if l == nil || life.Last(n) {
					return
				}
				for i := n; i < lives-1; i++ {
					if !a.force(h, l, len(found)+1+i-n) {
						return
					}
				}
			})}
			if d.backup != nil {
				nodes = append(nodes, sim.Node{Name: spare, Daemon: true, Main: func(h host.Host, _ int) {
					_, err := d.backup(h)
					a.Check(err)
				}})
			}
			return a.world(nodes...), nil
		},
	}
}

// world adds the hosts with copies, and the service of the cluster.
func (a *app) world(nodes ...sim.Node) sim.Config {
	for _, name := range a.copies {
		n := sim.Node{Name: name, Daemon: true, Main: func(h host.Host, _ int) {
			if a.mayWait {
				a.Check(arcadiacheck.AnswerCalls(h))
			}
			a.Check(a.serve(h))
		}}
		if a.mayWait {
			n.Again = a.copyFails
		}
		nodes = append(nodes, n)
	}
	c := a.World(nodes...)
	if len(a.copies) > 0 {
		c.Services = append(c.Services, scenario.Controller())
	}
	return c
}

// spare is the host to which an application moves. It is also the backup, in designs that have one.
const spare = "spare"

// power is the failure that a restart on the same memory must survive.
func power(d design) *explore.Scenario {
	budget, meets := "power(app)<=2", []string{sawWhole, sawNone}
	switch {
	case d.backup != nil:
		budget = "power(app)<=1, power(spare)<=1"
	case d.replicated():
		budget, meets, d.mayWait = "power(*)<=1", append(meets, sawBack), true
	}
	return restarts(d, "power", "power fails at any moment, also of a recovery; the same host recovers", budget, meets...)
}

// media is one flipped bit or one unreadable place, anywhere in the memory, found at any read.
func media(d design) *explore.Scenario {
	budget := "flip(app)<=1, poison(app)<=1"
	if len(d.copies) > 0 { // both would be too many runs; see unreadable
		budget = "flip(app)<=1"
	}
	return restarts(d, "media", "a bit of the persistent memory flips, or some of it cannot be read; the same host recovers", budget)
}

// unreadable returns the other half of media for designs with copies. It belongs to no cell.
func unreadable(d design) *explore.Scenario {
	return restarts(d, "unreadable", "a part of the persistent memory cannot be read; the same host recovers", "poison(app)<=1")
}

// together returns a scenario without failures, which belongs to no cell: two tasks force a record each at the same
// time.
func together(d design) *explore.Scenario {
	return &explore.Scenario{
		Name: "table1/" + d.name + "-together", Doc: "two tasks force a record each at the same time; the log has both", Profile: "strong",
		Bounds: "2 tasks, 1 record of 16 bytes each",
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			return k.World(k.Host("app", func(h host.Host) error {
				l, err := d.open(h, true)
				if err != nil {
					return err
				}
				mu := h.NewMutex()
				done, left := h.NewCond(mu), 2
				for number := 1; number <= 2; number++ {
					h.Go("writer", func() {
						k.Check(l.append(content(number)))
						mu.Lock()
						left--
						done.Signal()
						mu.Unlock()
					})
				}
				mu.Lock()
				for left > 0 {
					done.Wait()
				}
				mu.Unlock()
				found, err := l.records()
				all := string(bytes.Join(found, nil))
				if err != nil || all != string(content(1))+string(content(2)) && all != string(content(2))+string(content(1)) {
					return scenario.Failed(Mixed, "the log has %q, %v", found, err)
				}
				return nil
			})), nil
		},
	}
}

// moves returns a scenario in which the application moves to another host. The first host has the log, forces its
// records, and serves requests for them. The other host sends a request; if there is no reply it recovers the log from
// the copies that it can reach. Without replicas this is its own, empty memory. Without a fault it finds all records.
func moves(d design, name, doc, budget string) *explore.Scenario {
	bounds, meets := "2 records of 16 bytes, 1 recovery elsewhere", []string(nil)
	if d.replicated() { // without replicas the other host finds no record
		bounds, meets = "1 record of 16 bytes, 1 recovery elsewhere", []string{sawForced}
	}
	return &explore.Scenario{
		Name: "table1/" + d.name + "-" + name, Doc: doc, Profile: "strong", Faults: budget, Bounds: bounds, Sometimes: meets,
		Build: func(c *explore.Case) (sim.Config, error) {
			a := newApp(c, d)
			return a.world(scenario.StayDown(a.Host("app", a.answer), a.Host(spare, a.takeOver))...), nil
		},
	}
}

// node is the failure of the device or of the node: the memory of the host is lost.
func node(d design) *explore.Scenario {
	return moves(d, "node", "the host with the log fails for good; another one recovers", "crash(app)<=1")
}

// partition cuts off the host with the log.
func partition(d design) *explore.Scenario {
	budget := "partition(app,spare)<=1"
	for _, name := range d.copies {
		budget += ", cut(app," + name + ")<=1" // healing links would be too many runs
	}
	return moves(d, "partition", "the host with the log is cut off; another one recovers", budget)
}

// patience is how long a host waits for a request or a reply. Timers fire only when nothing else can happen, so a
// reply that can arrive does.
const patience = time.Second

// answer forces its records, then serves requests for the content of the log until none arrives within patience. If the
// host finished earlier, a reply in flight would be lost.
func (a *app) answer(h host.Host) error {
	asked, err := h.Listen("log")
	if err != nil {
		return err
	}
	l, _ := a.recover(h)
	if l == nil {
		return nil
	}
	records := 2
	if a.replicated() {
		records = 1
	}
	for number := 1; number <= records; number++ {
		if !a.force(h, l, number) {
			return nil
		}
	}
	for {
		q, err := asked.Accept(patience)
		if err != nil {
			return nil
		}
		found, err := l.records()
		if err != nil {
			q.Reject(err.Error())
			continue
		}
		q.Reply(bytes.Join(found, nil))
	}
}

// takeOver recovers the log on another host.
func (a *app) takeOver(h host.Host) error {
	open := a.open
	if a.backup != nil {
		copied, err := a.backup(h)
		if err != nil {
			return err
		}
		open = func(host.Host, bool) (log, error) { return copied() }
	}
	e := a.told.Begin(h.Name(), "ask app for the log")
	if len(a.copies) > 0 {
		h.Sleep(patience / 2) // two recoveries at once would be too many runs; arcadia/fence has them
	}
	data, err := h.Call("app", "log", nil, patience)
	if err != nil {
		e.End(err)
		a.recoverBy(h, open)
		return nil
	}
	var found [][]byte
	for ; len(data) >= recordSize; data = data[recordSize:] {
		found = append(found, data[:recordSize])
	}
	e.End(fmt.Sprint(len(found), " records"))
	a.returned(found)
	return nil
}
