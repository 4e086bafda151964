package semantics_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/semantics"
)

var (
	programs = flag.Int("programs", 40, "random programs that are compared")
	seed     = flag.Uint64("seed", 1, "seed of the first random program")
	kind     = flag.String("kind", "all", "kind of random programs")
	keep     = flag.Int("keep", 10, "programs that differ and are shown")
)

// The two machines agree on programs made at random, with faults.
func TestRandomProgramsEndAlike(t *testing.T) {
	compared, large, invalid, refused, shown := 0, 0, 0, 0, 0
	reasons := map[string]int{}
	for i := range *programs {
		s := *seed + uint64(i)
		text, profile := random(s, *kind)
		test, err := litmus.Parse("random", []byte(text))
		if err != nil {
			invalid++
			if invalid < 3 {
				t.Log(err)
			}
			continue
		}
		got, err := semantics.Run(test, profile, *limit)
		switch {
		case errors.Is(err, semantics.ErrLimit):
			large++
			continue
		case errors.Is(err, semantics.ErrUnsupported):
			reasons[err.Error()]++
			continue
		}
		want, err2 := litmus.Run(test, profile, litmus.Options{NoRuns: true, MaxRuns: 30000})
		if err2 != nil {
			t.Fatal(err2)
		}
		if errors.Is(want.Reason, litmus.ErrLimit) {
			large++
			continue
		}
		if errors.Is(want.Reason, litmus.ErrStuck) && err == nil && len(got.Finals) == 0 {
			compared++
			continue
		}
		if errors.Is(want.Reason, litmus.ErrRefused) || errors.Is(err, semantics.ErrRefused) {
			if errors.Is(want.Reason, litmus.ErrRefused) != errors.Is(err, semantics.ErrRefused) {
				t.Errorf("seed %d: refused: %v / %v\n%s", s, err, want.Reason, text)
			}
			refused++
			continue
		}
		if err != nil || want.Reason != nil {
			t.Errorf("seed %d: %v / %v\n%s", s, err, want.Reason, text)
			continue
		}
		compared++
		if d := diff(got.Finals, want.Finals); d != "" {
			if shown++; shown > *keep {
				t.Fail()
				continue
			}
			small, d := shrink(test, profile, d)
			t.Errorf("seed %d under %s:\n%s\n%s", s, profile, small, d)
		}
	}
	t.Log(compared, "compared", large, "too large", invalid, "invalid", refused, "refused", shown, "differ", reasons)
}

// shrink removes statements as long as the two machines still differ.
func shrink(test *lang.Test, profile, d string) (string, string) {
	best := test.Text()
	for changed := true; changed; {
		changed = false
		lines := strings.Split(best, "\n")
		for i, l := range lines {
			if !strings.HasPrefix(l, "  ") || strings.HasPrefix(l, "  * ") {
				if !strings.HasPrefix(l, "show") {
					continue
				}
			}
			var tries []string
			if strings.HasPrefix(l, "show") {
				words := strings.Fields(l)
				for k := 1; k < len(words); k++ {
					w := append(append([]string{}, words[:k]...), words[k+1:]...)
					if len(w) > 1 {
						tries = append(tries, strings.Join(w, " "))
					}
				}
			} else {
				tries = append(tries, "")
			}
			for _, try := range tries {
				c := append([]string{}, lines...)
				c[i] = try
				if try == "" {
					c = append(c[:i], c[i+1:]...)
				}
				text := strings.Join(c, "\n")
				x, err := litmus.Parse("random", []byte(text))
				if err != nil {
					continue
				}
				got, err := semantics.Run(x, profile, *limit)
				want, err2 := litmus.Run(x, profile, litmus.Options{NoRuns: true, MaxRuns: 30000})
				if err != nil || err2 != nil || want.Reason != nil {
					continue
				}
				if n := diff(got.Finals, want.Finals); n != "" {
					best, d, changed = text, n, true
					break
				}
			}
			if changed {
				break
			}
		}
	}
	return best, d
}

// maker makes a program at random.
type maker struct {
	r      *rand.Rand
	kind   string
	labels map[string][]string // by host, of sends; "recv" behind those of receives
	regs   []string
	n      int
	told   []string
	qps    []string
	pm     bool
	third  bool
	// Some combinations are left out, because the simulator is known to differ there:
	// see the table of differences in known_test.go.
	atomics, sources, fences, silent, cuts, both, overtakes bool
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// random is a program and a profile.
func random(seed uint64, kind string) (text, profile string) {
	m := &maker{r: rand.New(rand.NewPCG(seed, 7)), kind: kind, labels: map[string][]string{}}
	if kind == "all" {
		m.kind = pick(m.r, "order", "errors", "faults", "messages", "pmem")
	}
	m.pm = m.kind == "pmem"
	quiet := m.kind == "order" || m.kind == "pmem"
	m.atomics = m.r.IntN(2) == 0
	m.sources = m.r.IntN(2) == 0
	m.fences = m.kind == "order" && !m.sources
	m.silent = quiet
	m.both = m.r.IntN(2) == 0
	if m.kind == "faults" {
		m.cuts = m.r.IntN(2) == 0
		m.atomics = m.atomics && !m.cuts
	}
	m.third = m.r.IntN(4) == 0
	profile = pick(m.r, "strong", "relaxed", "ooo", "srd", "rxe")
	if m.r.IntN(4) == 0 {
		profile = "strong+" + pick(m.r, "ReadsSeeAcked=false", "AtomicFlushes=false", "AtomicOrdersLater=false", "FenceWaitsAll=true", "DrainOnRevoke=false",
			"AtomicGlob=true", "WholePackets=false", "MaxRdAtomic=1", "DDIO=false", "Domain=eADR", "Domain=Volatile", "StoreBuffers=false", "TornLines=false", "Placement=AnyOrder")
	}
	m.overtakes = profile == "ooo" || profile == "srd" || strings.Contains(profile, "WholePackets")
	var b strings.Builder
	hosts := "A B"
	if m.third {
		hosts += " C"
	}
	fmt.Fprintf(&b, "litmus random\ndoc Made at random.\nsource random\nrule random\nhosts %s\n", hosts)
	if m.pm {
		fmt.Fprintf(&b, "pmem B: x y\n")
	} else {
		fmt.Fprintf(&b, "dram B: x y\n")
	}
	fmt.Fprintf(&b, "dram A: a\n")
	opts := ""
	if m.r.IntN(3) == 0 {
		opts = pick(m.r, " depth=1", " rd_atomic=1", " rnr=1", " B.access=read|write", " B.rdepth=1", " signal_all=1")
	}
	m.qps = []string{"q1"}
	fmt.Fprintf(&b, "qp q1 A -> B%s\n", opts)
	if m.r.IntN(4) == 0 {
		m.qps = append(m.qps, "q2")
		fmt.Fprintf(&b, "qp q2 A -> B\n")
	}
	var threads strings.Builder
	list := []string{"A", "B"}
	if m.third {
		list = append(list, "C")
	}
	for _, h := range list {
		fmt.Fprintf(&threads, "\nthread %s\n", h)
		n := 1 + m.r.IntN(4)
		if h == "C" {
			n = 1 + m.r.IntN(2)
		}
		var unseen []string
		for range n {
			fmt.Fprintf(&threads, "  %s\n", m.stmt(h, &unseen))
		}
		for _, l := range unseen {
			if m.r.IntN(3) > 0 {
				fmt.Fprintf(&threads, "  %s = wait %s\n", m.reg(h), l)
			}
		}
	}
	body := threads.String()
	if !strings.Contains(body, "hear m") {
		body = strings.ReplaceAll(body, "  tell B m\n", "")
	}
	show := []string{"B:x", "B:y", "A:a"}
	for _, r := range m.regs {
		if strings.Contains(threads.String(), " "+r[2:]+" = ") {
			show = append(show, r)
		}
	}
	fmt.Fprintf(&b, "show %s\n%s\nexists blocked(A)\n  * Y\nexists blocked(B)\n  * Y\n", strings.Join(show, " "), body)
	return b.String(), profile
}

func (m *maker) reg(h string) string {
	m.n++
	r := fmt.Sprintf("r%d", m.n)
	m.regs = append(m.regs, h+"."+r)
	return r
}

func (m *maker) qp(h string) string {
	if h == "C" {
		return "C-B"
	}
	return pick(m.r, m.qps...)
}

// stmt is a statement of a thread.
func (m *maker) stmt(h string, unseen *[]string) string {
	m.n++
	kinds := map[string][]string{
		"order":    {"verb", "verb", "verb", "cpu", "cpu", "wait"},
		"errors":   {"verb", "verb", "verb", "bad", "control", "cpu", "wait", "state"},
		"faults":   {"verb", "verb", "verb", "fault", "cpu", "wait", "tell", "fault"},
		"messages": {"send", "send", "verb", "cpu", "tell", "wait", "control"},
		"pmem":     {"verb", "cpu", "cpu", "clwb", "fault", "tell", "wait"},
	}[m.kind]
	loc := pick(m.r, "x", "y")
	val := fmt.Sprint(m.n)
	qp := m.qp(h)
	flags := func() string {
		f := " on " + qp
		if m.fences && m.r.IntN(4) == 0 {
			f += " fence"
		}
		switch n := m.r.IntN(6); {
		case n == 0 && m.silent:
		case n == 1 && m.silent:
			f += " unsignaled"
		default:
			l := fmt.Sprintf("l%d", m.n)
			f += " as " + l
			*unseen = append(*unseen, l)
		}
		return f
	}
	switch k := pick(m.r, kinds...); k {
	case "verb", "bad":
		bad := ""
		if h == "B" && (m.atomics || m.kind == "errors" && !m.both) {
			return m.stmt(h, unseen)
		}
		if k == "bad" && h != "B" && !m.atomics && !m.both {
			bad = " key=bad"
		}
		if h == "B" {
			return m.fromB(loc, val, qp, unseen, flags, bad)
		}
		src := val
		if h == "A" && m.sources && m.r.IntN(2) == 0 {
			src = "a"
			if m.r.IntN(4) == 0 {
				bad += " inline"
			}
		}
		switch n := m.r.IntN(5); {
		case n < 2 || m.cuts:
			return "write " + loc + " <- " + src + flags() + bad
		case n == 2:
			if h == "A" && m.sources && m.r.IntN(3) == 0 {
				return "read a <- " + loc + m.signaled(qp, unseen) + strings.TrimSuffix(bad, " inline")
			}
			return fmt.Sprintf("%s = read %s on %s%s", m.reg(h), loc, qp, strings.TrimSuffix(bad, " inline"))
		case n == 3:
			if !m.atomics {
				return m.stmt(h, unseen)
			}
			return fmt.Sprintf("cas %s 0 %s", loc, val) + flags() + strings.TrimSuffix(bad, " inline")
		}
		if !m.atomics {
			return m.stmt(h, unseen)
		}
		return fmt.Sprintf("%s = faa %s 1 on %s%s", m.reg(h), loc, qp, strings.TrimSuffix(bad, " inline"))
	case "send":
		if h == "B" || m.r.IntN(3) == 0 && h != "C" {
			l := fmt.Sprintf("l%d", m.n)
			*unseen = append(*unseen, l)
			into := pick(m.r, " ", " "+loc+" ")
			if h == "A" {
				into = pick(m.r, " ", " a ")
			}
			return "recv" + into + "on " + qp + " as " + l
		}
		return pick(m.r, "send B <- "+val+flags(), "write "+loc+" <- "+val+" imm=5"+flags(), "send B"+flags())
	case "cpu", "clwb":
		if h == "C" {
			return "write " + loc + " <- " + val + flags()
		}
		if h == "A" {
			loc = "a"
		}
		if k == "clwb" {
			return pick(m.r, "clwb "+loc, "mfence")
		}
		switch m.r.IntN(6) {
		case 0, 1:
			return m.reg(h) + " = load " + loc
		case 2, 3:
			return "store " + loc + " <- " + val
		case 4:
			return "mfence"
		}
		if m.sources {
			return m.reg(h) + " = load " + loc
		}
		if m.r.IntN(2) == 0 {
			return m.reg(h) + " = xadd " + loc + " 100"
		}
		return fmt.Sprintf("%s = cmpxchg %s 0 %s", m.reg(h), loc, val)
	case "wait":
		if len(*unseen) == 0 {
			return m.stmt(h, unseen)
		}
		i := m.r.IntN(len(*unseen))
		l := (*unseen)[i]
		if m.r.IntN(4) == 0 {
			return m.reg(h) + " = poll " + l
		}
		*unseen = append((*unseen)[:i:i], (*unseen)[i+1:]...)
		return m.reg(h) + " = wait " + l
	case "tell":
		if h == "A" && len(m.told) == 0 && !m.cuts {
			m.told = append(m.told, "told")
			return "tell B m"
		}
		if h == "B" && len(m.told) == 1 {
			m.told = append(m.told, "heard")
			return "hear m"
		}
		return m.stmt(h, unseen)
	case "control":
		if m.atomics {
			return m.stmt(h, unseen)
		}
		if h == "C" {
			qp = "C-B"
		}
		c := []string{"modify " + qp + " ERR", "modify " + qp + " RESET", "destroy " + qp}
		if !m.overtakes && !m.both {
			c = append(c, "access "+qp+" none")
		}
		if h == "B" && !m.both {
			c = append(c, "dereg "+loc, "dereg "+loc)
		}
		if h == "A" {
			c = append(c, "dereg a")
		}
		return pick(m.r, "", "maybe ") + pick(m.r, c...)
	case "state":
		return m.reg(h) + " = state " + qp
	case "fault":
		if m.cuts {
			if len(m.told) == 0 {
				m.told = append(m.told, "none")
			}
			return pick(m.r, "", "maybe ") + pick(m.r, "cut A B", "break A B", "heal A B", "partition A B", "cut A B", "heal A B")
		}
		return pick(m.r, "", "maybe ") + pick(m.r, "crash B", "crash A", "power B")
	}
	return "mfence"
}

// signaled are the flags of a Read into memory. Without a completion of its own, the
// simulator has the response in memory only with a later one (docs/semantics.md, known
// limits).
func (m *maker) signaled(qp string, unseen *[]string) string {
	l := fmt.Sprintf("l%d", m.n)
	*unseen = append(*unseen, l)
	return " on " + qp + " as " + l
}

// fromB is a verb of B, whose peer is A.
func (m *maker) fromB(loc, val, qp string, unseen *[]string, flags func() string, bad string) string {
	if !m.sources {
		return "write a <- " + val + flags() + bad
	}
	if m.r.IntN(2) == 0 || m.cuts {
		return "write a <- " + loc + flags() + bad
	}
	return "read " + loc + " <- a" + m.signaled(qp, unseen) + bad
}
