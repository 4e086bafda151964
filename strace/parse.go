package strace

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// state is the state of the parser.
type state struct {
	opts    Options
	line    int // line of the event at hand
	procs   procs
	files   files
	unknown unknownFDs
	seen    bool // at least one line was strace's
	notes   []string
	noted   map[string]bool
	steps   int // ops walked to find the content of renamed files
}

// Parse reads strace's output and gives the workload of one log file. The
// error names the wrong line and how to fix it; it wraps one of the Err
// values of this package, or it is the reader's.
func Parse(r io.Reader, opts Options) (*Trace, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &state{
		opts: opts, procs: newProcs(), files: newFiles(),
		unknown: unknownFDs{}, noted: map[string]bool{},
	}
	lines := &lineReader{br: bufio.NewReaderSize(r, 64<<10), max: opts.MaxLine}
	for {
		text, ended, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		s.line = lines.n
		if err := s.event(text, ended); err != nil {
			return nil, err
		}
	}
	if !s.seen {
		return nil, errAt(0, 0, ErrEmpty, "give the file that strace -o wrote", "it contains no event")
	}
	s.noteUnfinished()
	return s.choose()
}

// event handles one line.
func (s *state) event(line []byte, ended bool) error {
	pid, at := splitPrefix(line)
	text := line[at:]
	switch {
	case isDecoration(line, text):
		s.announced(text)
	case bytes.HasPrefix(text, []byte("+++ ")):
		s.seen = true
		return s.exit(pid)
	case bytes.HasPrefix(text, []byte("--- ")):
		s.seen = true // a signal
	case bytes.HasPrefix(text, []byte("<... ")):
		return s.resumed(pid, text, at)
	default:
		return s.syscall(pid, text, at, ended)
	}
	return nil
}

// announced takes the number of a child from strace's own message.
func (s *state) announced(text []byte) {
	words := strings.Fields(strings.TrimPrefix(string(text[:min(len(text), 80)]), "strace: "))
	if len(words) == 3 && words[0] == "Process" && words[2] == "attached" && len(s.procs.known) < maxProcs {
		if pid, err := strconv.Atoi(words[1]); err == nil {
			s.procs.known[pid] = true
		}
	}
}

func (s *state) exit(pid int) error {
	p, err := s.proc(pid)
	if err != nil {
		return err
	}
	s.procs.exited(p.pid)
	return nil
}

// syscall handles a line that begins a call, and mostly ends it too.
func (s *state) syscall(pid int, text []byte, at int, ended bool) error {
	open := nameEnd(text)
	if open == 0 {
		return s.foreign(text, at, ended)
	}
	s.seen = true
	h, wanted := handlers[string(text[:open])]
	head, unfinished := cutUnfinished(text)
	if !wanted {
		if !ended && !unfinished && !bytes.Contains(text, []byte(") ")) {
			return s.cutOff(at + len(text))
		}
		return nil
	}
	p, err := s.proc(pid)
	if err != nil {
		return err
	}
	if unfinished {
		return s.pend(p, string(text[:open]), head)
	}
	return s.finish(p, h, text, open, at, ended)
}

// finish takes a whole call apart and applies it.
func (s *state) finish(p *proc, h handler, text []byte, open, at int, ended bool) error {
	c, bad := scanCall(text, open)
	if bad != nil {
		if bad.cut && !ended {
			return s.cutOff(at + bad.at)
		}
		return errAt(s.line, column(at, bad.at), ErrSyntax, mendLine+"; "+mendOutput, "%s", bad.what)
	}
	c.line = s.line
	for i := range c.args {
		if at < 0 {
			c.args[i].col = 0
		} else {
			c.args[i].col += at
		}
	}
	if c.unkn && c.name != "exit_group" {
		s.note("some calls have no result (the program was killed meanwhile), and count as not executed")
	}
	if c.unkn || c.ret < 0 {
		return nil // it changed nothing
	}
	if len(c.args) < h.args {
		return errAt(s.line, column(at, 0), ErrSyntax, mendLine, "%s has %d arguments instead of %d", c.name, len(c.args), h.args)
	}
	return h.do(s, p, c)
}

// column returns the column of a byte of a call; none (0) if the call was
// joined from two lines (at below 0).
func column(at, i int) int {
	if at < 0 {
		return 0
	}
	return at + i + 1
}

// pend keeps the first part of a call.
func (s *state) pend(p *proc, name string, head []byte) error {
	if p.pending != nil { // damaged: the first part before was never ended
		s.files.bytes -= int64(len(p.pending.text))
		s.procs.dropClone(p)
	}
	if err := s.keep(int64(len(head))); err != nil {
		return err
	}
	p.pending = &pendingCall{name: name, text: bytes.Clone(head), line: s.line}
	if isClone(name) {
		s.procs.clones = append(s.procs.clones, p)
	}
	return nil
}

// resumed joins the second part of a call ("<... write resumed>") to its
// first and applies the whole: an effect counts when the call ends.
func (s *state) resumed(pid int, text []byte, at int) error {
	name, tail, ok := bytes.Cut(text[len("<... "):], []byte(" resumed>"))
	if !ok {
		return errAt(s.line, at+1, ErrSyntax, mendLine, `"<..." must continue with a call's name and "resumed>"`)
	}
	s.seen = true
	h, wanted := handlers[string(name)]
	if !wanted {
		return nil
	}
	p, err := s.proc(pid)
	if err != nil {
		return err
	}
	first := p.pending
	if first == nil || first.name != string(name) {
		return errAt(s.line, at+1, ErrSyntax, mendStart, "%s resumes here, but its beginning is not in the trace", brief(name))
	}
	s.files.bytes -= int64(len(first.text))
	p.pending = nil
	whole := append(first.text, tail...)
	s.procs.dropClone(p)
	if again, unfinished := cutUnfinished(whole); unfinished {
		return s.pend(p, first.name, again)
	}
	return s.finish(p, h, whole, len(first.name), -1, true)
}

// foreign makes the error for a line that is not strace's.
func (s *state) foreign(text []byte, at int, ended bool) error {
	switch {
	case !s.seen:
		return errAt(s.line, at+1, ErrNotStrace, "give the file that strace -f -s 1000000 -o wrote",
			"expected a call, not %s", brief(text))
	case !ended:
		return s.cutOff(at + len(text))
	default:
		return errAt(s.line, at+1, ErrSyntax, mendOutput, "expected a call, not %s", brief(text))
	}
}

func (s *state) cutOff(at int) error {
	return errAt(s.line, at+1, ErrCutOff, "let strace finish, or remove this last line", "the last line is incomplete")
}

// nameEnd returns the place of the "(" after a call's name, 0 if text does not
// begin with a call. strace writes ???? for a call it could not read.
func nameEnd(text []byte) int {
	for i, c := range text {
		switch {
		case c == '(':
			return i
		case c == '_' || c == '?' || c == '#' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) && i > 0:
		default:
			return 0
		}
	}
	return 0
}

// cutUnfinished takes the mark of a call's first part away.
func cutUnfinished(text []byte) (head []byte, unfinished bool) {
	for _, mark := range []string{"<unfinished ...>", "<detached ...>"} {
		if head, ok := bytes.CutSuffix(bytes.TrimRight(text, " "), []byte(mark)); ok {
			return bytes.TrimRight(head, " "), true
		}
	}
	return text, false
}

// note keeps an assumption, once.
func (s *state) note(text string) {
	if !s.noted[text] && len(s.notes) < maxNotes {
		s.noted[text] = true
		s.notes = append(s.notes, text)
	}
}

// noteUnfinished reports calls that the end of the trace interrupted.
func (s *state) noteUnfinished() {
	for _, p := range s.procs.byPID {
		if p.pending != nil {
			s.note("some calls were unfinished when the trace ended, and count as not executed")
		}
	}
}
