package programs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Program is a small program for some hosts, as data. Its text, which [Parse] reads,
// is a header and the hosts:
//
//	relaxed crash(b)<=1 linger | a: write b x 1 s; wait b 1 | b again: load x / load x
//
// The header names the profile, the faults and the settings of the world. A host has the code
// of its lives, separated by slashes; the code lists acts in order.
type Program struct {
	Profile string
	Faults  []string // rules of a budget, such as crash(b*)<=1
	Timers  string   // the regime of time; empty: idle
	Set     []string // of settings
	Hosts   []Host
}

// settings are the words of a header beside the profile, the faults and the regime.
var settings = []string{
	"linger",  // hosts stay up when their code has ended
	"final",   // with linger: what memory holds at the end is part of the outcome
	"history", // tasks report through History, and the order of their reports is part of the outcome
	"onecq",   // all queue pairs of a host complete on one CQ
	"recvcq",  // receives complete on a CQ of their own, at which only channels look
	"short",   // queues of one request
	"rnr",     // a request is retried once if no receive is posted
	"sigall",  // every request is signaled
	"rd1",     // one Read or Atomic outstanding
	"psn",     // connections reuse one packet sequence number, as ghosts need it
}

// Host is a host, or several with the same code that are interchangeable.
type Host struct {
	Name   string
	Copies int // 0: one host of that name; n: hosts Name1 to Namen, which are symmetric
	Daemon bool
	Again  bool // a life that finishes is also followed by the next one
	Lives  [][]Act
}

// Act is something that a task does.
type Act struct {
	If    int // it is done only if the last value seen was If-1; 0: always
	Do    string
	To    string // the peers, with + between them; a name of several hosts is all of them, or all others
	At    int    // which word of memory
	V, W  int    // values; Last is the last value seen
	Flags string
	Body  []Act

	id int // set when it runs
}

// Last as a value is the last value that the task has seen.
const Last = -1

const wordNames = "xyzw"

// Is reports whether a word is in the header.
func (p *Program) Is(setting string) bool {
	return slices.Contains(p.Set, setting)
}

// String returns the text of the program.
func (p *Program) String() string {
	words := []string{p.Profile}
	words = append(words, p.Faults...)
	if p.Timers != "" {
		words = append(words, "timers="+p.Timers)
	}
	parts := []string{strings.Join(append(words, p.Set...), " ")}
	for i := range p.Hosts {
		parts = append(parts, p.Hosts[i].String())
	}
	return strings.Join(parts, " | ")
}

// String returns the text of the host.
func (h *Host) String() string {
	out := h.Name
	if h.Copies > 0 {
		out += "*" + strconv.Itoa(h.Copies)
	}
	if h.Daemon {
		out += " daemon"
	}
	if h.Again {
		out += " again"
	}
	lives := make([]string, len(h.Lives))
	for i, l := range h.Lives {
		lives[i] = actsText(l)
	}
	return strings.TrimRight(out+": "+strings.Join(lives, " / "), " ")
}

func actsText(acts []Act) string {
	out := make([]string, len(acts))
	for i := range acts {
		out[i] = acts[i].String()
	}
	return strings.Join(out, "; ")
}

// String returns the text of the act.
func (a *Act) String() string {
	var words []string
	if a.If > 0 {
		words = append(words, "?"+strconv.Itoa(a.If-1))
	}
	words = append(words, a.Do)
	for _, c := range table[a.Do].takes {
		switch c {
		case 't':
			words = append(words, a.To)
		case 'a':
			words = append(words, wordNames[a.At:a.At+1])
		case 'v':
			words = append(words, valueText(a.V))
		case 'w':
			words = append(words, valueText(a.W))
		case 'f':
			if a.Flags != "" {
				words = append(words, a.Flags)
			}
		case 'b':
			words = append(words, "{"+actsText(a.Body)+"}")
		}
	}
	return strings.Join(words, " ")
}

func valueText(v int) string {
	if v == Last {
		return "_"
	}
	return strconv.Itoa(v)
}

// clone makes a deep copy of the program.
func (p *Program) clone() *Program {
	q := *p
	q.Faults = append([]string(nil), p.Faults...)
	q.Set = append([]string(nil), p.Set...)
	q.Hosts = append([]Host(nil), p.Hosts...)
	for i := range q.Hosts {
		lives := append([][]Act(nil), q.Hosts[i].Lives...)
		for j := range lives {
			lives[j] = cloneActs(lives[j])
		}
		q.Hosts[i].Lives = lives
	}
	return &q
}

func cloneActs(acts []Act) []Act {
	out := append([]Act(nil), acts...)
	for i := range out {
		out[i].Body = cloneActs(out[i].Body)
	}
	return out
}

// names returns the hosts that h stands for.
func (h *Host) names() []string {
	if h.Copies == 0 {
		return []string{h.Name}
	}
	out := make([]string, h.Copies)
	for i := range out {
		out[i] = h.Name + strconv.Itoa(i+1)
	}
	return out
}

// acts calls f for each act of the program, including nested ones.
func (p *Program) acts(f func(h *Host, a *Act)) {
	for i := range p.Hosts {
		for _, l := range p.Hosts[i].Lives {
			eachAct(l, func(a *Act) { f(&p.Hosts[i], a) })
		}
	}
}

func eachAct(acts []Act, f func(*Act)) {
	for i := range acts {
		f(&acts[i])
		eachAct(acts[i].Body, f)
	}
}

// number gives the acts their numbers.
func (p *Program) number() int {
	n := 0
	p.acts(func(_ *Host, a *Act) { a.id = n; n++ })
	return n
}

// Parse reads the text of a program.
func Parse(text string) (*Program, error) {
	p := &Program{}
	for i, part := range strings.Split(text, "|") {
		var err error
		if i == 0 {
			err = p.header(part)
		} else {
			err = p.host(part)
		}
		if err != nil {
			return nil, fmt.Errorf("programs: %w in %q", err, strings.TrimSpace(part))
		}
	}
	return p, nil
}
