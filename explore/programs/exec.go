package programs

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// task is a task that runs acts.
type task struct {
	m     *machine
	path  string // of the acts that started it
	links []*link
	log   []byte // what it has seen
	said  int    // how much of that it has reported
	last  uint64 // the last value
	done  bool
	ended bool // by the act
	holds bool // the mutex
	req   host.Request
	asked host.Gather
	order []string // whom it asked
	only  string   // the host of a group that it visits
	read  *Act     // the last request with a response
	sent  *Act     // and the last with a source
	list  []joined // requests that are posted with the next one
	wcs   [4]verbs.WC
	named verbs.CQ // by a channel
}

func (t *task) run(acts []Act) {
	for i := range acts {
		a := &acts[i]
		if t.ended || a.If > 0 && t.last != uint64(a.If-1) {
			continue
		}
		if len(t.list) > 0 && (!table[a.Do].sends || a.To != t.list[0].act.To) {
			t.postList()
		}
		table[a.Do].do(t, a)
	}
	t.postList()
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// note adds to the observations of the task.
func (t *task) note(s string) {
	if len(t.log) > 0 {
		t.log = append(t.log, ' ')
	}
	t.log = append(t.log, s...)
}

func (t *task) saw(v uint64) {
	t.last = v
	t.note(strconv.FormatUint(v, 10))
}

func (t *task) value(v int) uint64 {
	if v == Last {
		return t.last
	}
	return uint64(v)
}

// errorNames are the errors that an interface promises.
var errorNames = []struct {
	err  error
	name string
}{
	{verbs.ErrTimeout, "timeout"}, {verbs.ErrClosed, "closed"}, {verbs.ErrInvalid, "invalid"}, {verbs.ErrQueueFull, "full"},
	{verbs.ErrUnsupported, "unsupported"}, {verbs.ErrState, "state"}, {verbs.ErrBusy, "busy"}, {host.ErrTimeout, "timeout"},
	{host.ErrUnreachable, "unreachable"}, {host.ErrNoService, "noservice"}, {host.ErrClosed, "closed"}, {host.ErrMedia, "media"},
}

func errorName(err error) string {
	var remote *host.RemoteError
	if errors.As(err, &remote) {
		return "rejected"
	}
	for _, e := range errorNames {
		if errors.Is(err, e.err) {
			return e.name
		}
	}
	return err.Error()
}

// err notes an error, if there is one.
func (t *task) err(err error) bool {
	if err != nil {
		t.note(errorName(err))
	}
	return err != nil
}

// peers returns the hosts that an act names. Of a group it returns only the host that is being visited, if any.
func (t *task) peers(a *Act) []string {
	names := t.m.x.peers(t.m.at, a.To)
	if t.only != "" && slices.Contains(names, t.only) {
		return []string{t.only}
	}
	return names
}

// visit does acts with each of several hosts, in any order, until one of them ends the task. Its record does not
// depend on the order.
func (t *task) visit(a *Act) {
	names := t.peers(a)
	seen, sum, log, only := make([]string, len(names)), uint64(0), t.log, t.only
	for i := range host.InAnyOrder(t.m.h, names) {
		t.only, t.log, t.last = names[i], nil, 0
		t.run(a.Body)
		seen[i] = string(t.log)
		sum += t.last
		if t.ended {
			break
		}
	}
	t.only, t.log, t.last = only, log, sum
	t.req, t.asked, t.named = nil, nil, nil // of the last
	t.noteAlike(seen)
}

// to returns the task's connection to each peer that the act names.
func (t *task) to(a *Act) []*link {
	var out []*link
	for _, name := range t.peers(a) {
		for _, l := range t.links {
			if l.peer == name {
				out = append(out, l)
			}
		}
	}
	return out
}

// wait waits for completions of the connections to some peers: of one, or of each of
// several that are interchangeable.
func (t *task) wait(a *Act, timeout time.Duration) {
	if t.m.x.p.isGroup(a.To) && len(t.peers(a)) > 1 {
		t.each(a, timeout)
		return
	}
	for _, l := range t.to(a) {
		n, err := l.cq.Wait(t.wcs[:max(1, min(a.V, len(t.wcs)))], timeout)
		t.err(err)
		for i := range n {
			t.note(t.completion(&t.wcs[i]))
		}
	}
}

func (t *task) poll(a *Act) {
	var out []string
	last, some := uint64(0), false
	for _, l := range t.to(a) {
		n, err := l.cq.Poll(t.wcs[:max(1, min(a.V, len(t.wcs)))])
		if t.err(err) {
			continue
		}
		seen := make([]string, n)
		for i := range n {
			seen[i] = t.completion(&t.wcs[i])
		}
		if n == 0 {
			seen = []string{"none"}
		} else {
			last, some = last+t.last, true
		}
		out = append(out, strings.Join(seen, " "))
	}
	if some {
		t.last = last
	}
	t.noteAlike(out)
}

func (t *task) channel(timeout time.Duration) {
	cq, err := t.m.ch.Wait(timeout)
	if t.err(err) {
		return
	}
	n, err := cq.Poll(t.wcs[:1])
	if !t.err(err) && n == 1 {
		t.note(t.completion(&t.wcs[0]))
	}
}

// chanWait keeps the CQ that a channel names, and chanPoll polls it.
func (t *task) chanWait() {
	cq, err := t.m.ch.Wait(verbs.Forever)
	if !t.err(err) {
		t.named = cq
	}
}

func (t *task) chanPoll() {
	if t.named == nil {
		return
	}
	n, err := t.named.Poll(t.wcs[:1])
	t.named = nil
	switch {
	case t.err(err):
	case n == 1:
		t.note(t.completion(&t.wcs[0]))
	default:
		t.note("none")
	}
}

// each waits until each of some connections has a completion.
func (t *task) each(a *Act, timeout time.Duration) {
	var cqs []verbs.CQ
	for _, l := range t.to(a) {
		if !slices.Contains(cqs, l.cq) {
			cqs = append(cqs, l.cq)
		}
	}
	wcs := make([]verbs.WC, len(cqs))
	if t.err(t.m.ch.Gather(cqs, wcs, timeout)) {
		return
	}
	out, sum := make([]string, len(wcs)), uint64(0)
	for i := range wcs {
		out[i] = t.completion(&wcs[i])
		sum += t.last
	}
	t.last = sum // it must not reveal which interchangeable host had which
	sort.Strings(out)
	t.note(strings.Join(out, "+"))
}

// completion formats a completion and the data that came with it.
func (t *task) completion(wc *verbs.WC) string {
	if wc.Status != verbs.StatusSuccess {
		return wc.Status.String()
	}
	out := wc.Op.String()
	if wc.HasImm {
		out += fmt.Sprint("#", wc.Imm)
	}
	switch wc.Op {
	case verbs.WCRead, verbs.WCCompareSwap, verbs.WCFetchAdd:
		at := int(wc.ID)/maxPeers*buffers + int(wc.ID)%maxPeers*buffers/maxPeers
		t.last = t.m.buf.Load64(at)
		out += fmt.Sprint("=", t.last)
		if wc.ByteLen > 8 {
			out += fmt.Sprint(",", t.m.buf.Load64(at+8))
		}
	case verbs.WCRecv:
		t.last = t.m.in.Load64(int(wc.ID &^ received))
		out += fmt.Sprint("=", t.last)
	}
	return out
}

func (t *task) peek() {
	if t.read == nil {
		return
	}
	var out []string
	for i := range t.to(t.read) {
		t.last = t.m.buf.Load64(slot(t.read, i))
		out = append(out, strconv.FormatUint(t.last, 10))
	}
	sort.Strings(out)
	t.note(strings.Join(out, "+"))
}

func (t *task) scribble(a *Act) {
	if t.read == nil {
		return
	}
	for i := range t.to(t.read) {
		t.m.buf.Store64(slot(t.read, i), t.value(a.V))
	}
}

func (t *task) change(a *Act) {
	if t.sent == nil {
		return
	}
	for i := range t.to(t.sent) {
		t.m.buf.Store64(slot(t.sent, i)+sources, t.value(a.V))
	}
}

func (t *task) state(a *Act) {
	var out []string
	for _, l := range t.to(a) {
		out = append(out, l.qp.State().String())
	}
	t.noteAlike(out)
}

// noteAlike notes what was observed of several hosts. It must not reveal which host is which.
func (t *task) noteAlike(seen []string) {
	sort.Strings(seen)
	for _, s := range seen {
		t.note(s)
	}
}

func (t *task) modify(a *Act, attrs []verbs.QPAttr) {
	for _, l := range t.to(a) {
		for _, x := range attrs {
			if t.err(l.qp.Modify(x)) {
				break
			}
		}
	}
}

func (t *task) destroy(a *Act) {
	for _, l := range t.to(a) {
		t.err(l.qp.Destroy())
	}
}
