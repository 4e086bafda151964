package explore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// stage is what a persistence program works on: host a writes to the persistent words
// of host b, which may lose power at any point and then reports what remains.
type stage struct {
	c    *explore.Case
	qp   verbs.QP
	cq   verbs.CQ
	src  host.Region
	lkey uint32
	dst  host.Region
	rkey uint32
	logs [2]string
	kept string // what b made sure of, which others know even if it then dies
}

const words = 3 // two in one line, the third in another

func wordAt(i int) int { return []int{0, 8, 64}[i] }

func (s *stage) say(i int, format string, args ...any) {
	s.logs[i] += fmt.Sprintf(format, args...) + ";"
	s.c.History(fingerprint.Print{}.String(s.logs[0]).String(s.logs[1]).String(s.kept))
}

// post posts a request on word i, with a source that holds 1, 2, 3 and so on.
func (s *stage) post(wr verbs.SendWR, src, i int) {
	wr.RKey, wr.RemoteAddr = s.rkey, s.dst.Addr()+uint64(wordAt(i))
	if wr.Op != verbs.OpFlush {
		wr.SGL = []verbs.SGE{{Addr: s.src.Addr() + uint64(8*src), Length: 8, LKey: s.lkey}}
	}
	if err := s.qp.PostSend([]verbs.SendWR{wr}); err != nil {
		panic(err)
	}
}

func (s *stage) poll() verbs.Status {
	var wc [1]verbs.WC
	if _, err := s.cq.Wait(wc[:], verbs.Forever); err != nil {
		panic(err)
	}
	return wc[0].Status
}

type persistAct struct {
	name string
	do   func(s *stage)
}

func requesterActs() []persistAct {
	var out []persistAct
	for i := range words {
		out = append(out,
			persistAct{fmt.Sprint("write ", i), func(s *stage) { s.post(verbs.SendWR{Op: verbs.OpWrite, Flags: verbs.Inline}, i, i) }},
			persistAct{fmt.Sprint("written ", i), func(s *stage) {
				s.post(verbs.SendWR{Op: verbs.OpWrite, Flags: verbs.Inline | verbs.Signaled}, i+1, i)
				s.say(0, "%v", s.poll())
			}},
			persistAct{fmt.Sprint("flush ", i), func(s *stage) {
				s.post(verbs.SendWR{Op: verbs.OpFlush, FlushTo: verbs.FlushPersistent, FlushLen: 8}, 0, i)
			}},
			persistAct{fmt.Sprint("flushed ", i), func(s *stage) {
				s.post(verbs.SendWR{Op: verbs.OpFlush, Flags: verbs.Signaled, FlushTo: verbs.FlushPersistent, FlushLen: 8}, 0, i)
				s.say(0, "%v", s.poll())
			}},
			persistAct{fmt.Sprint("atomic write ", i), func(s *stage) { s.post(verbs.SendWR{Op: verbs.OpAtomicWrite}, i+2, i) }},
			persistAct{fmt.Sprint("read ", i), func(s *stage) {
				s.post(verbs.SendWR{Op: verbs.OpRead, Flags: verbs.Signaled}, 7, i)
				s.say(0, "%v %d", s.poll(), s.src.Load64(56))
			}})
	}
	return out
}

func ownerActs() []persistAct {
	var out []persistAct
	for i := range words {
		out = append(out,
			persistAct{fmt.Sprint("store ", i), func(s *stage) { s.dst.Store64(wordAt(i), 10) }},
			persistAct{fmt.Sprint("store again ", i), func(s *stage) { s.dst.Store64(wordAt(i), 11) }},
			persistAct{fmt.Sprint("load ", i), func(s *stage) { s.say(1, "%d", s.dst.Load64(wordAt(i))) }},
			persistAct{fmt.Sprint("clwb ", i), func(s *stage) { s.dst.Flush(wordAt(i), 8) }})
	}
	return append(out, persistAct{"fence", func(s *stage) { s.dst.Fence(); s.kept = "fenced;"; s.say(1, "") }},
		persistAct{"store half", func(s *stage) { s.dst.Store(4, []byte{9, 9, 9, 9}) }})
}

// persistence is the scenario of a program. after runs when b is up again.
func persistence(faults string, ofA, ofB []persistAct, after func(s *stage)) *explore.Scenario {
	return &explore.Scenario{Name: "test/persistence", Faults: faults, Build: func(c *explore.Case) (sim.Config, error) {
		s := &stage{c: c}
		c.OnReset(func() { s.logs, s.kept = [2]string{}, "" })
		run := func(acts []persistAct) {
			for _, a := range acts {
				a.do(s)
			}
		}
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Linger: true, Nodes: []sim.Node{
			{Name: "a", Main: func(host.Host, int) { run(ofA) }},
			{Name: "b", Main: func(h host.Host, life int) {
				if life == 0 {
					run(ofB)
					return
				}
				s.logs[1] = "" // nobody knows what a dead host has seen
				s.dst, _ = h.OpenPMEM("log", 72)
				s.say(1, "back")
				after(s)
			}},
		}, Setup: func(hs []*sim.Host) {
			s.src, _ = hs[0].Alloc(64)
			for i := range 7 {
				s.src.Store64(8*i, uint64(i+1))
			}
			s.dst, _ = hs[1].OpenPMEM("log", 72)
			pa, pb := domain(hs[0]), domain(hs[1])
			s.lkey = register(pa, s.src, verbs.LocalWrite)
			s.rkey = register(pb, s.dst, all|verbs.FlushPersistent|verbs.FlushGlobal)
			s.qp, s.cq = persistentPair(hs[0], pa, hs[1], pb)
		}, AtEnd: func([]*sim.Host) { c.Outcome(s.kept + s.logs[0] + "|" + s.logs[1]) }}, nil
	}}
}

func persistentPair(a host.Host, pa verbs.PD, b host.Host, pb verbs.PD) (verbs.QP, verbs.CQ) {
	prepared := func(h host.Host, pd verbs.PD) (verbs.PreparedQP, verbs.CQ) {
		cq, _ := h.Device().CreateCQ(16, nil)
		q, err := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: all | verbs.FlushPersistent | verbs.FlushGlobal})
		if err != nil {
			panic(err)
		}
		return q, cq
	}
	p, cq := prepared(a, pa)
	q, _ := prepared(b, pb)
	out, _ := p.Connect(q.Endpoint())
	_, _ = q.Connect(p.Endpoint())
	return out, cq
}

// readBack reports each word, in an order that the program chooses, since an early read
// can restrict the later ones.
func readBack(order []int) func(s *stage) {
	return func(s *stage) {
		for _, i := range order {
			s.say(1, "%d=%d", i, s.dst.Load64(wordAt(i)))
		}
	}
}

// After a power failure, late resolution finds exactly what a machine finds that
// decides about every unit when its power fails.
func TestPersistenceLosesNothing(t *testing.T) {
	sequential(t)
	pinRapid(t)
	tried, naive, compared, outcomes := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		tried++
		ra, oa := requesterActs(), ownerActs()
		pick := func(label string, from []persistAct, most int) (out []persistAct) {
			for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(from)-1), 0, most).Draw(t, label) {
				out = append(out, from[i])
			}
			return out
		}
		ofA, ofB := pick("requester", ra, 3), pick("owner", oa, 3)
		order := rapid.Permutation([]int{0, 1, 2}).Draw(t, "order")
		profile := rapid.SampledFrom([]string{"strong", "strong+DDIO=false", "strong+Domain=eADR", "strong+TornLines=false", "relaxed",
			"srd+DDIO=false", "iba"}).Draw(t, "profile")
		fault := rapid.SampledFrom([]string{"power(b)<=1", "crash(b)<=1", "power(b)<=2"}).Draw(t, "fault")
		s := persistence(fault, ofA, ofB, readBack(order))
		opt := explore.Options{Profile: profile, Workers: 1}
		want, _, done, err := explore.Naive(s, opt, true, 3_000)
		if err != nil {
			t.Fatal(err)
		}
		if done {
			naive++
		} else {
			// Too many runs: the same machine, but recognising states.
			eager, err := explore.Check(s, explore.Options{Profile: profile, Workers: 1, Eager: true, MaxRuns: 20_000})
			if err != nil || eager.Verdict == explore.RanOut {
				return
			}
			if !eager.Exhausted {
				t.Fatal(eager.Verdict, eager.Reason)
			}
			want = eager.Outcomes
		}
		compared++
		outcomes += len(want)
		r, err := explore.Check(s, opt)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, r.Outcomes); d != "" {
			t.Fatalf("%s under %s, read in the order %v:\n  a: %s\n  b: %s\noutcomes differ (-naive +reduced):\n%s",
				fault, profile, order, actNames(ofA), actNames(ofB), d)
		}
	})
	t.Logf("%d of %d programs compared, %d of them with the naive search, %d outcomes", compared, tried, naive, outcomes)
	if compared < tried*3/4 {
		t.Errorf("only %d of %d programs were small enough to compare", compared, tried)
	}
}

func actNames(acts []persistAct) string {
	names := make([]string, len(acts))
	for i, a := range acts {
		names[i] = a.name
	}
	return strings.Join(names, ", ")
}
