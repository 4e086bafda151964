package semantics_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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

// The two machines reach the same final states in programs made at random, with faults. It
// stops half a minute before the timeout of the test.
func TestRandomProgramsEndAlike(t *testing.T) {
	compared, large, invalid, shown, made := 0, 0, 0, 0, 0
	for i := range *programs {
		if end, ok := t.Deadline(); ok && time.Until(end) < 30*time.Second {
			break
		}
		made++
		s := *seed + uint64(i)
		text, profile := random(s, *kind)
		test, err := litmus.Parse("random", []byte(text))
		if err != nil {
			invalid++
			continue
		}
		d, err := difference(test, profile)
		switch {
		case errors.Is(err, semantics.ErrLimit):
			large++
			continue
		case err != nil:
			t.Errorf("seed %d: %v\n%s", s, err, text)
			continue
		}
		compared++
		if d == "" {
			continue
		}
		if shown++; shown <= *keep {
			text, d = shrink(test, profile, d)
		}
		t.Errorf("seed %d under %s:\n%s\n%s", s, profile, text, d)
	}
	t.Logf("%d of %d compared, %d differ; %d too large, %d are no programs", compared, made, shown, large, invalid)
	if 2*compared < made {
		t.Errorf("only %d of %d were compared", compared, made)
	}
}

// shrink removes statements, and what is shown, as long as the two machines still differ.
func shrink(test *lang.Test, profile, d string) (text, diff string) {
	text = test.Text()
	for again := true; again; {
		again = false
		for _, try := range shorter(text) {
			x, err := litmus.Parse("random", []byte(try))
			if err != nil {
				continue
			}
			if n, err := difference(x, profile); err == nil && n != "" {
				text, d, again = try, n, true
				break
			}
		}
	}
	return text, d
}

// shorter lists the texts without one statement or one shown term.
func shorter(text string) []string {
	var out []string
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		words := strings.Fields(l)
		switch {
		case strings.HasPrefix(l, "  ") && !strings.HasPrefix(l, "  * "):
			out = append(out, strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n"))
		case strings.HasPrefix(l, "show"):
			for k := 1; k < len(words) && len(words) > 2; k++ {
				c := slices.Clone(lines)
				c[i] = strings.Join(slices.Delete(slices.Clone(words), k, k+1), " ")
				out = append(out, strings.Join(c, "\n"))
			}
		}
	}
	return out
}

var states = regexp.MustCompile(`  \w+ = state .*\n`)

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
	// see testdata/differences.
	atomics, sources, fences, silent, cuts, both, overtakes, anyOrder bool
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// random is a program and a profile.
func random(seed uint64, kind string) (text, profile string) {
	m := &maker{r: rand.New(rand.NewPCG(seed, 7)), kind: kind, labels: map[string][]string{}}
	if kind == "all" {
		m.kind = pick(m.r, "order", "errors", "faults", "messages", "pmem", "ghosts")
	}
	if m.kind == "ghosts" {
		return m.ghosts()
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
		profile = "strong+" + pick(m.r, "ReadsSeeAcked=false", "AtomicFlushes=false", "FenceWaitsAll=true", "DrainOnRevoke=false",
			"AtomicGlob=true", "WholePackets=false", "MaxRdAtomic=1", "DDIO=false", "Domain=Volatile", "StoreBuffers=false", "TornLines=false", "Placement=AnyOrder")
	}
	m.overtakes = profile == "ooo" || profile == "srd" || strings.Contains(profile, "WholePackets")
	m.anyOrder = !strings.HasPrefix(profile, "strong") && profile != "rxe" || strings.Contains(profile, "Placement")
	var b strings.Builder
	hosts := "A B"
	if m.third {
		hosts += " C"
	}
	fmt.Fprintf(&b, "litmus random\ndoc Made at random.\nsource random\nrule random\n")
	most := 4
	if (m.kind == "faults" || m.pm) && m.r.IntN(3) == 0 {
		b.WriteString(m.anywhere())
		most = 3
	}
	fmt.Fprintf(&b, "hosts %s\n", hosts)
	if m.pm {
		fmt.Fprintf(&b, "pmem B: %s\n", pick(m.r, "x y", "(x y)", "(x y@64)"))
	} else {
		fmt.Fprintf(&b, "dram B: x y\n")
	}
	fmt.Fprintf(&b, "dram A: a\n")
	opts := ""
	if m.r.IntN(3) == 0 {
		access := " B.access=read|write|flush-global|flush-persistent" // see testdata/differences/sent-behind-refused.litmus
		if m.kind == "errors" && !m.both {
			access = " B.access=read|write"
		}
		opts = pick(m.r, " depth=1", " rd_atomic=1", " rnr=1", access, " B.rdepth=1", " signal_all=1")
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
		n := 1 + m.r.IntN(most)
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
	if m.pm && m.r.IntN(2) == 0 {
		fmt.Fprintf(&threads, "\nrecover B2 on B\n")
		for range 1 + m.r.IntN(2) {
			fmt.Fprintf(&threads, "  %s = load %s\n", m.reg("B2"), m.loc())
		}
	}
	body := threads.String()
	if !strings.Contains(body, "hear m") {
		body = strings.ReplaceAll(body, "  tell B m\n", "")
	}
	if strings.Contains(body, "destroy") || strings.Contains(body, "modify") { // see refused-before-read.litmus there
		body = states.ReplaceAllString(body, "")
	}
	if strings.Contains(body+b.String(), "crash") && strings.Contains(profile, "Volatile") {
		profile = "strong" // see testdata/differences/power-between-lives.litmus
	}
	show := []string{"B:x", "B:y", "A:a"}
	for _, r := range m.regs {
		if strings.Contains(body, " "+r[strings.Index(r, ".")+1:]+" = ") {
			show = append(show, r)
		}
	}
	fmt.Fprintf(&b, "show %s\n%s\nexists blocked(A)\n  * Y\nexists blocked(B)\n  * Y\n", strings.Join(show, " "), body)
	return b.String(), profile
}

// ghosts is a program that connects a queue pair again, and in which a Write of the old
// connection may execute on the new one.
func (m *maker) ghosts() (text, profile string) {
	profile = pick(m.r, "strong", "relaxed", "ooo", "srd", "rxe", "strong+DrainOnRevoke=false")
	var b strings.Builder
	fmt.Fprintf(&b, "litmus random\ndoc Made at random.\nsource random\nrule random\n")
	anywhere := m.r.IntN(3) == 0
	if anywhere {
		fmt.Fprintf(&b, "faults ghost(A,B)<=1\n")
	}
	fmt.Fprintf(&b, "hosts A B\ndram B: x y\nqp q1 A -> B psn=7\nshow B:x B:y")
	same, verb := pick(m.r, " samepsn", " samepsn", ""), func() string {
		m.n++
		return fmt.Sprintf("%s on q1 as l%d", pick(m.r, fmt.Sprintf("write %s <- %d", m.loc(), m.n), fmt.Sprintf("awrite y <- %d", m.n)), m.n)
	}
	a, last := []string{verb()}, m.n
	if m.r.IntN(3) == 0 {
		a, last = append(a, verb()), m.n
	}
	if m.r.IntN(3) == 0 {
		a = append(a, fmt.Sprintf("%s = wait l%d", m.reg("A"), last))
	}
	a = append(a, "destroy q1", "connect q1"+same)
	if m.r.IntN(2) == 0 {
		a = append(a, fmt.Sprintf("%s = write %s <- %d on q1", m.reg("A"), m.loc(), m.n))
	}
	a = append(a, "tell B m")
	tail := []string{fmt.Sprintf("store %s <- 50\n  mfence", m.loc()), m.reg("B") + " = load y"}
	if !anywhere {
		tail = append(tail, "maybe ghost A B") // it has no effect if the Write never left
	}
	m.r.Shuffle(len(tail), func(i, j int) { tail[i], tail[j] = tail[j], tail[i] })
	tail = slices.Insert(tail, 0, "hear m")
	for _, r := range m.regs {
		b.WriteString(" " + r)
	}
	fmt.Fprintf(&b, "\n\nthread A\n  %s\n\nthread B\n  destroy q1\n  connect q1%s\n  %s\n\nexists blocked(A)\n  * Y\n",
		strings.Join(a, "\n  "), same, strings.Join(tail, "\n  "))
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
	s := ""
	switch k := pick(m.r, kinds...); k {
	case "verb", "bad":
		s = m.verb(h, k == "bad", unseen)
	case "send":
		s = m.send(h, unseen)
	case "cpu":
		s = m.cpu(h, unseen)
	case "clwb":
		s = m.flush(h)
	case "wait":
		s = m.wait(h, unseen)
	case "tell":
		s = m.tell(h)
	case "control":
		s = m.control(h)
	case "state":
		s = m.reg(h) + " = state " + m.qp(h)
	case "fault":
		s = m.fault(h)
	}
	if s == "" {
		return m.stmt(h, unseen)
	}
	return s
}

func (m *maker) loc() string { return pick(m.r, "x", "y") }

// flags are the flags of a request.
func (m *maker) flags(qp string, unseen *[]string) string {
	f := " on " + qp
	if m.fences && m.r.IntN(4) == 0 {
		f += " fence"
	}
	switch n := m.r.IntN(6); {
	case n == 0 && m.silent:
		return f
	case n == 1 && m.silent:
		return f + " unsignaled"
	}
	return strings.TrimPrefix(f, " on "+qp) + m.signaled(qp, unseen)
}

func (m *maker) verb(h string, bad bool, unseen *[]string) string {
	if h == "B" {
		if m.atomics || m.kind == "errors" && !m.both || (m.kind == "faults" || m.pm) && m.revokes() {
			return ""
		}
		return m.fromB(unseen)
	}
	loc, qp, src, inline, key := m.loc(), m.qp(h), fmt.Sprint(m.n), "", ""
	if bad && !m.atomics && !m.both {
		key = " key=bad"
	}
	if h == "A" && m.sources && m.r.IntN(2) == 0 {
		src, inline = "a", pick(m.r, "", "", " inline")
	}
	if m.r.IntN(3) == 0 && !m.cuts {
		return m.extension(loc, src, qp, key, unseen)
	}
	switch n := m.r.IntN(5); {
	case n < 2 || m.cuts:
		return "write " + loc + " <- " + src + m.flags(qp, unseen) + key + inline
	case n == 2 && h == "A" && m.sources && m.r.IntN(3) == 0:
		return "read a <- " + loc + m.signaled(qp, unseen) + key
	case n == 2:
		return fmt.Sprintf("%s = read %s on %s%s", m.reg(h), loc, qp, key)
	case !m.atomics:
		return ""
	case n == 3:
		return fmt.Sprintf("cas %s 0 %d", loc, m.n) + m.flags(qp, unseen)
	}
	return fmt.Sprintf("%s = faa %s 1 on %s", m.reg(h), loc, qp)
}

// extension is a verb of the memory placement extensions.
func (m *maker) extension(loc, src, qp, key string, unseen *[]string) string {
	if m.r.IntN(2) == 0 && !(m.atomics && (m.third || len(m.qps) > 1)) {
		return "awrite " + loc + " <- " + src + m.flags(qp, unseen) + key
	}
	scope := pick(m.r, "", "", " global", " both")
	if m.r.IntN(4) == 0 {
		scope += " whole"
	}
	return "flush " + loc + scope + m.flags(qp, unseen) + key
}

func (m *maker) send(h string, unseen *[]string) string {
	loc, qp := m.loc(), m.qp(h)
	if h == "B" || m.r.IntN(3) == 0 && h != "C" {
		if h == "A" {
			loc = "a"
		}
		return "recv " + loc + m.signaled(qp, unseen)
	}
	f := m.flags(qp, unseen)
	return pick(m.r, fmt.Sprintf("send B <- %d", m.n)+f, fmt.Sprintf("write %s <- %d imm=5", loc, m.n)+f, "send B"+f)
}

func (m *maker) cpu(h string, unseen *[]string) string {
	loc := m.loc()
	switch h {
	case "A":
		loc = "a"
	case "C":
		return fmt.Sprintf("write %s <- %d", loc, m.n) + m.flags("C-B", unseen)
	}
	switch n := m.r.IntN(7); {
	case n < 2 || n > 4 && m.sources:
		return m.reg(h) + " = load " + loc
	case n < 4:
		return fmt.Sprintf("store %s <- %d", loc, m.n)
	case n == 4:
		return "mfence"
	case n == 5:
		return m.reg(h) + " = xadd " + loc + " 100"
	}
	return fmt.Sprintf("%s = cmpxchg %s 0 %d", m.reg(h), loc, m.n)
}

func (m *maker) flush(h string) string {
	switch h {
	case "A":
		return "clwb a"
	case "C":
		return ""
	}
	return pick(m.r, "clwb "+m.loc(), "mfence")
}

func (m *maker) wait(h string, unseen *[]string) string {
	if len(*unseen) == 0 {
		return ""
	}
	i := m.r.IntN(len(*unseen))
	l := (*unseen)[i]
	if m.r.IntN(4) == 0 {
		return m.reg(h) + " = poll " + l
	}
	*unseen = append((*unseen)[:i:i], (*unseen)[i+1:]...)
	return m.reg(h) + " = wait " + l
}

func (m *maker) tell(h string) string {
	switch {
	case h == "A" && len(m.told) == 0 && !m.cuts:
		m.told = append(m.told, "told")
		return "tell B m"
	case h == "B" && len(m.told) == 1 && m.told[0] == "told":
		m.told = append(m.told, "heard")
		return "hear m"
	}
	return ""
}

func (m *maker) control(h string) string {
	if m.atomics {
		return ""
	}
	qp := m.qp(h)
	list := []string{"modify " + qp + " ERR", "modify " + qp + " RESET", "destroy " + qp}
	if !m.overtakes && !m.both {
		list = append(list, "access "+qp+" none")
		if h == "B" && m.kind != "messages" {
			list = append(list, "dereg "+m.loc(), "dereg "+m.loc())
		}
		if h == "A" {
			list = append(list, "dereg a")
		}
	}
	return pick(m.r, "", "maybe ") + pick(m.r, list...)
}

func (m *maker) fault(h string) string {
	list := []string{"crash B", "power B", "suspect A"}
	switch {
	case m.cuts:
		list = []string{"cut A B", "break A B", "heal A B", "partition A B", "cut A B", "heal A B"}
	case m.pm && m.anyOrder: // see testdata/differences/crash-loses-any.litmus
		list = list[1:]
	case h != "A" && !m.atomics: // after a suspicion, the name of A is not its own
		list = append(list, "crash A")
	}
	if m.revokes() {
		list = append(list, "revoke B", "revoke B")
	}
	return pick(m.r, "", "maybe ") + pick(m.r, list...)
}

// revokes reports whether the registrations of B may end. B then posts nothing: see
// testdata/differences/revoke-private.litmus.
func (m *maker) revokes() bool { return !m.atomics && !m.overtakes && !m.both && !m.cuts }

// anywhere is a budget of faults.
func (m *maker) anywhere() string {
	list := []string{"crash(B)<=1", "power(B)<=1", "suspect(A)<=1"}
	if !m.atomics {
		list = append(list, "crash(A)<=1")
	}
	switch {
	case m.pm && m.anyOrder:
		list = list[1:]
	case m.cuts:
		list = []string{"cut(A,B)<=1", "break(A,B)<=1", "partition(A,B)<=1"}
	case m.revokes():
		list = append(list, "revoke(B)<=1", "revoke(B)<=1")
	}
	return "faults " + pick(m.r, list...) + "\n"
}

// fromB is a verb of B, whose peer is A.
func (m *maker) fromB(unseen *[]string) string {
	loc, qp := m.loc(), pick(m.r, m.qps...)
	switch {
	case !m.sources:
		return fmt.Sprintf("write a <- %d", m.n) + m.flags(qp, unseen)
	case m.r.IntN(2) == 0 || m.cuts:
		return "write a <- " + loc + m.flags(qp, unseen)
	}
	return "read " + loc + " <- a" + m.signaled(qp, unseen)
}

// signaled are the flags of a request with a completion. A Read into memory has one: see
// testdata/differences/unsignaled-read.litmus.
func (m *maker) signaled(qp string, unseen *[]string) string {
	l := fmt.Sprintf("l%d", m.n)
	*unseen = append(*unseen, l)
	return " on " + qp + " as " + l
}
