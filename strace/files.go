package strace

import (
	"sort"
	"strings"
)

// node is a file, whatever its names. Its history is kept because a rename
// may make it the log later.
type node struct {
	recs []rec
	size int64
	// sure is set if the size is known: the file was made empty in the trace,
	// or lseek showed its end. Otherwise it counts as empty at the start.
	sure bool
	// assumed is set if something depends on that.
	assumed bool
	// bad is the first thing that makes the history wrong. It matters only if
	// the file is the log.
	bad *ParseError
}

// rec is an op at its place in the trace, with running totals of its node so
// that a stretch of a history is counted without walking it.
type rec struct {
	seq    int
	op     Op
	writes int
	syncs  int
	bytes  int64
}

// event is a change of the file behind a name.
type event struct {
	seq  int
	op   Op    // Create, Open (first seen), Replace, Rename or Unlink
	node *node // the file behind the name from now on, nil for none
}

// files are all files and names of a trace.
type files struct {
	bound  map[string]*node   // name to file, now
	events map[string][]event // name to its history
	order  []string           // names in the order of appearance
	nodes  []*node            // files that have ops
	seq    int
	bytes  int64 // data kept
}

func newFiles() files {
	return files{bound: map[string]*node{}, events: map[string][]event{}}
}

// tick counts one op or event against MaxOps.
func (s *state) tick() (int, error) {
	s.files.seq++
	if s.files.seq > s.opts.MaxOps {
		return 0, errAt(s.line, 0, ErrTooLarge, mendRaise, "more than %d ops (MaxOps)", s.opts.MaxOps)
	}
	return s.files.seq, nil
}

// keep counts n bytes of data against MaxBytes.
func (s *state) keep(n int64) error {
	s.files.bytes += n
	if s.files.bytes > s.opts.MaxBytes {
		return errAt(s.line, 0, ErrTooLarge, mendRaise, "more than %d bytes of data (MaxBytes)", s.opts.MaxBytes)
	}
	return nil
}

// record appends an op to a file's history.
func (s *state) record(n *node, op Op) error {
	seq, err := s.tick()
	if err != nil {
		return err
	}
	if err := s.keep(int64(len(op.Data))); err != nil {
		return err
	}
	r := rec{seq: seq}
	if len(n.recs) == 0 {
		s.files.nodes = append(s.files.nodes, n)
	} else {
		last := n.recs[len(n.recs)-1]
		r.writes, r.syncs, r.bytes = last.writes, last.syncs, last.bytes
	}
	op.Line = s.line
	r.op = op
	switch op.Kind {
	case Write:
		r.writes++
		r.bytes += int64(len(op.Data))
	case Sync:
		r.syncs++
	}
	n.recs = append(n.recs, r)
	return nil
}

// spoil notes why a file's history cannot be trusted.
func (n *node) spoil(why *ParseError) {
	if n.bad == nil {
		n.bad = why
	}
}

// bind puts a file behind a name (or takes it away, with n nil).
func (s *state) bind(name string, op Op, n *node) error {
	seq, err := s.tick()
	if err != nil {
		return err
	}
	f := &s.files
	if err := s.keep(int64(len(name) + len(op.To))); err != nil {
		return err
	}
	if _, seen := f.events[name]; !seen {
		if len(f.order) >= maxNames {
			return errAt(s.line, 0, ErrTooLarge, mendRaise, "more than %d names of files", maxNames)
		}
		f.order = append(f.order, name)
	}
	op.Line = s.line
	f.events[name] = append(f.events[name], event{seq, op, n})
	if n == nil {
		delete(f.bound, name)
	} else {
		f.bound[name] = n
	}
	return nil
}

// unbind removes a name, if it is known.
func (s *state) unbind(name string) error {
	if s.files.bound[name] == nil {
		return nil
	}
	return s.bind(name, Op{Kind: Unlink}, nil)
}

// rename moves the file behind from to the name to. A file that the trace did
// not show before has unknown content, which matters if to is the log.
func (s *state) rename(from, to string) error {
	n := s.files.bound[from]
	if from == to || n != nil && n == s.files.bound[to] {
		return nil
	}
	if n != nil {
		if err := s.bind(from, Op{Kind: Rename, To: to}, nil); err != nil {
			return err
		}
	}
	return s.link(n, from, to)
}

// link puts the file n, once called from, behind the name to as well.
func (s *state) link(n *node, from, to string) error {
	if n == nil {
		if s.files.bound[to] == nil {
			return nil // neither name is known: nothing to record
		}
		n = &node{}
		n.spoil(errAt(s.line, 0, ErrUnknownContent, mendStart,
			"%q takes the name %q, but what it contains is not in the trace", from, to))
	}
	return s.bind(to, Op{Kind: Replace, Size: n.size}, n)
}

// exchange swaps the files behind two names (RENAME_EXCHANGE).
func (s *state) exchange(a, b string) error {
	na, nb := s.files.bound[a], s.files.bound[b]
	if na == nb {
		return nil
	}
	if err := s.link(na, a, b); err != nil {
		return err
	}
	return s.link(nb, b, a)
}

// notAFile returns the places whose writes never are a log.
func notAFile(name string) bool {
	for _, p := range []string{"/proc/", "/sys/", "/dev/pts/"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return name == "/dev/null" || name == "/dev/tty" || name == "/dev/zero" || name == "/dev/full"
}

// before returns the number of recs with a sequence number below seq.
func (n *node) before(seq int) int {
	return sort.Search(len(n.recs), func(i int) bool { return n.recs[i].seq >= seq })
}

// totals counts the recs from index i to j.
func (n *node) totals(i, j int) (writes, syncs int, bytes int64) {
	if i >= j {
		return 0, 0, 0
	}
	last := n.recs[j-1]
	writes, syncs, bytes = last.writes, last.syncs, last.bytes
	if i > 0 {
		b := n.recs[i-1]
		writes, syncs, bytes = writes-b.writes, syncs-b.syncs, bytes-b.bytes
	}
	return writes, syncs, bytes
}
