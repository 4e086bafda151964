package strace

import (
	"fmt"
	"sort"
	"strings"
)

// unknownFDs counts the writes to descriptors without a name. Sockets are
// among them, so only calls that sockets do not support identify a file.
type unknownFDs map[int64]*unknownFD

type unknownFD struct {
	fd, line int64 // line: of the first call that only files know
	syncs    int
	placed   int // writes at an offset, and truncations
	plain    int // other writes
}

func (u unknownFDs) get(c *call, fileOnly bool) *unknownFD {
	fd, _ := intArg(c.args[0])
	e := u[fd]
	if e == nil {
		e = &unknownFD{fd: fd}
		if len(u) < maxNotes { // more would not change the advice
			u[fd] = e
		}
	}
	if fileOnly && e.line == 0 {
		e.line = int64(c.line)
	}
	return e
}

func (u unknownFDs) write(_ *proc, c *call, placed bool) error {
	e := u.get(c, placed)
	if placed {
		e.placed++
	} else {
		e.plain++
	}
	return nil
}

func (u unknownFDs) sync(_ *proc, c *call) error {
	u.get(c, true).syncs++
	return nil
}

// likeliest returns the descriptor that is most like a log, nil if none is.
func (u unknownFDs) likeliest() *unknownFD {
	var best *unknownFD
	for _, e := range u {
		if e.syncs+e.placed == 0 {
			continue
		}
		if best == nil || e.syncs > best.syncs || e.syncs == best.syncs && (e.placed+e.plain > best.placed+best.plain ||
			e.placed+e.plain == best.placed+best.plain && e.fd < best.fd) {
			best = e
		}
	}
	return best
}

func (e *unknownFD) err() error {
	return errAt(int(e.line), 0, ErrUnknownFD, mendStart,
		"descriptor %d (%d writes, %d syncs) behaves like the log, but its open is not in the trace",
		e.fd, e.placed+e.plain, e.syncs)
}

// choose picks the log and puts its history together.
func (s *state) choose() (*Trace, error) {
	t := &Trace{Lines: s.line, Files: s.fileInfos()}
	best := -1
	for i, f := range t.Files {
		if s.opts.matches(f.Path) {
			best = i
			break
		}
	}
	unknown := s.unknown.likeliest()
	switch {
	case best < 0 && s.opts.File != "" && len(t.Files) > 0:
		return nil, errAt(0, 0, ErrNoFile, "name one of these in Options.File",
			"nothing is written to %q; files written: %s", s.opts.File, someNames(t.Files))
	case best < 0 && unknown != nil:
		return nil, unknown.err()
	case best < 0:
		return nil, errAt(0, 0, ErrNoWrites, mendStart, "the trace has %d lines, and no write to a file that it shows being opened", s.line)
	case s.opts.File == "" && unknown != nil && unknown.syncs > t.Files[best].Syncs:
		return nil, unknown.err()
	}
	t.File = t.Files[best].Path
	var err error
	t.Ops, err = s.history(t.File)
	t.Notes = s.notes
	if err != nil {
		return nil, fmt.Errorf("log file %q: %w", t.File, err)
	}
	return t, nil
}

func someNames(files []FileInfo) string {
	var names []string
	for _, f := range files[:min(5, len(files))] {
		names = append(names, fmt.Sprintf("%q", f.Path))
	}
	if len(files) > 5 {
		names = append(names, fmt.Sprintf("and %d more", len(files)-5))
	}
	return strings.Join(names, ", ")
}

// fileInfos counts all names and orders them as Options.File promises.
func (s *state) fileInfos() []FileInfo {
	var list []FileInfo
	for _, name := range s.files.order {
		info := FileInfo{Path: name}
		spoiled := false
		s.stretches(name, func(e event, i, j int) {
			if e.op.Kind == Replace {
				info.Writes++
			}
			if e.node != nil {
				w, y, b := e.node.totals(i, j)
				info.Writes, info.Syncs, info.Bytes = info.Writes+w, info.Syncs+y, info.Bytes+b
				spoiled = spoiled || e.node.bad != nil
			}
		})
		// A spoiled file may be the log; then the user must learn of it.
		if info.Writes > 0 || spoiled {
			list = append(list, info)
		}
	}
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		switch {
		case a.Syncs != b.Syncs:
			return a.Syncs > b.Syncs
		case a.Writes != b.Writes:
			return a.Writes > b.Writes
		}
		return a.Bytes > b.Bytes
	})
	return list
}

// stretches walks the events of a name; i and j delimit what happened to the
// file behind it until the next event.
func (s *state) stretches(name string, visit func(e event, i, j int)) {
	events := s.files.events[name]
	for k, e := range events {
		if e.node == nil {
			visit(e, 0, 0)
			continue
		}
		end := len(e.node.recs)
		if k+1 < len(events) {
			end = e.node.before(events[k+1].seq)
		}
		visit(e, e.node.before(e.seq), end)
	}
}

// history returns the ops of a name.
func (s *state) history(name string) ([]Op, error) {
	var ops []Op
	var failed error
	s.stretches(name, func(e event, i, j int) {
		if failed != nil {
			return
		}
		if e.node != nil && e.node.bad != nil {
			failed = e.node.bad
			return
		}
		op := e.op
		if op.Kind == Open || e.node != nil && e.node.assumed {
			s.note("the trace does not show whether the log was new; it is taken as empty at the start")
		}
		if op.Kind == Replace {
			if op.Data, failed = s.content(e.node, i, op); failed != nil {
				return
			}
		}
		ops = append(ops, op)
		if e.node == nil {
			return
		}
		for _, r := range e.node.recs[i:j] {
			ops = append(ops, r.op)
		}
	})
	return ops, failed
}

// content returns the bytes of a file after the first i ops of its history.
func (s *state) content(n *node, i int, at Op) ([]byte, error) {
	s.line = at.Line
	if err := s.keep(at.Size); err != nil {
		return nil, err
	}
	// A damaged trace may rename a file with a long history endlessly.
	if s.steps += i; s.steps/16 > s.opts.MaxOps {
		return nil, errAt(s.line, 0, ErrTooLarge, mendRaise, "the log is replaced too often by files with a long history")
	}
	data := make([]byte, at.Size)
	for _, r := range n.recs[:i] {
		switch r.op.Kind {
		case Write:
			copy(data[min(r.op.Offset, at.Size):], r.op.Data)
		case Truncate:
			clear(data[min(r.op.Size, at.Size):])
		}
	}
	return data, nil
}
