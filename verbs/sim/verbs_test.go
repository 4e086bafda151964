package sim_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
	"github.com/verbatim-rdma/verbatim/verbs/verbstest"
)

var (
	onlySeed = flag.Int("verbs.seed", -1, "run the cases of TestVerbs under this schedule alone")
	seeds    = flag.Int("verbs.seeds", 5, "schedules for each case of TestVerbs; 0 is the one without surprises")
)

// TestVerbs checks the simulator against the suite that cards must pass, under every profile.
func TestVerbs(t *testing.T) {
	for _, p := range faults.Profiles() {
		t.Run(p.Name, func(t *testing.T) { verbstest.Run(t, simulated(p)) })
	}
}

const simHosts = 3

// simulated runs each case under a number of schedules. The last host runs the script;
// the others run the tasks that it sends.
func simulated(p faults.Profile) verbstest.Backend {
	return simulatedBy(p, func(_ *sim.World, seed int) sim.Policy { return policy(seed) })
}

// simulatedBy is like simulated, with the caller's schedules.
func simulatedBy(p faults.Profile, policy func(w *sim.World, seed int) sim.Policy) verbstest.Backend {
	return verbstest.Backend{Hosts: simHosts, Run: func(t *testing.T, try func(verbstest.Site) error) error {
		s := &site{}
		var failed error
		nodes := make([]sim.Node, simHosts+1)
		for i := range simHosts {
			nodes[i] = sim.Node{Name: hostName(i), Daemon: true, Main: func(h host.Host, _ int) { s.serve(i, h) }}
		}
		nodes[simHosts] = sim.Node{Name: "script", Main: func(h host.Host, _ int) {
			s.script = h
			failed = try(s)
		}}
		var err error
		load := strings.Contains(t.Name(), "/load/")
		if load && p.Name != "rxe" {
			t.Skip("it is long, and runs under rxe")
		}
		pieces := 0 // each cell is a piece
		if load {
			pieces = 2
		}
		if s.w, err = sim.New(sim.Config{MaxPieces: pieces, Nodes: nodes, Profile: p, MaxSteps: 1 << 22}); err != nil {
			return err
		}
		defer s.w.Close()
		n := *seeds
		if load || testing.Short() {
			n = min(n, 2)
		}
		for seed := range n {
			if *onlySeed >= 0 && seed != *onlySeed {
				continue
			}
			s.tasks, failed = nil, nil
			_, err := s.w.Run(policy(s.w, seed))
			if err = errors.Join(failed, err); err != nil {
				var p *sim.PanicError
				if errors.As(err, &p) {
					err = fmt.Errorf("%w\n%s", err, p.Stack)
				}
				return fmt.Errorf("%w\nschedule %d; run it again with\n\tgo test ./verbs/sim -run '%s$' -verbs.seed %d", err, seed, t.Name(), seed)
			}
		}
		return nil
	}}
}

func hostName(i int) string { return fmt.Sprintf("host%d", i) }

// site is a world as the script sees it.
type site struct {
	w      *sim.World
	hosts  [simHosts]host.Host
	script host.Host
	tasks  []verbstest.Task
}

func (s *site) Host(i int) host.Host { return s.hosts[i] }

// serve runs, on host i, the tasks whose numbers it receives.
func (s *site) serve(i int, h host.Host) {
	s.hosts[i] = h
	l, err := h.Listen("do")
	if err != nil {
		panic(err)
	}
	for {
		r, err := l.Accept(verbs.Forever)
		if err != nil {
			panic(err)
		}
		h.Go("task", func() {
			s.tasks[binary.LittleEndian.Uint32(r.Body())].Run()
			r.Reply(nil)
		})
	}
}

func (s *site) Do(tasks []verbstest.Task) {
	var calls []host.Call
	for _, x := range tasks {
		calls = append(calls, host.Call{To: hostName(x.Host), Service: "do", Body: binary.LittleEndian.AppendUint32(nil, uint32(len(s.tasks)))})
		s.tasks = append(s.tasks, x)
	}
	for _, a := range s.script.Gather(calls, verbs.Forever).Wait(len(calls)) {
		if a.Err != nil {
			panic(a.Err)
		}
	}
}

func (s *site) Cut(i, j int) error { return s.w.Inject(faults.Cut, hostName(i), hostName(j)) }

func (s *site) Heal(i, j int) error {
	s.w.Heal(hostName(i), hostName(j))
	return nil
}

// random takes any event and any option; its seed names the schedule.
type random struct{ r *rand.Rand }

func (p random) Pick(events []sim.Event) int        { return p.r.IntN(len(events)) }
func (p random) Choose(_ sim.ChoiceKind, n int) int { return p.r.IntN(n) }

func policy(seed int) sim.Policy {
	if seed == 0 {
		return first{}
	}
	return random{rand.New(rand.NewPCG(uint64(seed), 0))}
}
