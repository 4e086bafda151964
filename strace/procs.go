package strace

import (
	"maps"

	"path"
)

// desc is an open file description: what dup, fork and clone share.
type desc struct {
	node     *node  // nil: not a file that counts (device, folder opened to read)
	path     string // name given to open, for calls relative to a folder
	pos      int64
	posKnown bool
	appends  bool // O_APPEND
	syncs    bool // O_SYNC or O_DSYNC: each write is durable at once
}

type fdEntry struct {
	desc    *desc
	cloexec bool
}

// fdTable is the descriptors of a process, shared by its threads.
type fdTable struct {
	fds  map[int64]fdEntry
	refs int
}

// proc is one process or thread.
type proc struct {
	pid     int // 0: the first process of a trace without numbers
	tab     *fdTable
	cwd     *string // shared with the table; "" until the trace shows it
	pending *pendingCall
}

// pendingCall is a call that strace wrote in two parts.
type pendingCall struct {
	name string
	text []byte
	line int
}

// procs are the processes alive.
type procs struct {
	byPID   map[int]*proc
	root    *proc        // the first of the trace
	known   map[int]bool // children that the trace named before their first line
	clones  []*proc      // parents whose clone has begun and not ended
	entries int          // descriptors in all tables
}

func newProcs() procs {
	return procs{byPID: map[int]*proc{}, known: map[int]bool{}}
}

// proc returns the process of a line. A number that was never announced is
// either the first process, which had no number while it was alone, or a
// child whose clone is not in the trace.
func (s *state) proc(pid int) (*proc, error) {
	ps := &s.procs
	if p := ps.byPID[pid]; p != nil {
		return p, nil
	}
	if pid == 0 && ps.root != nil {
		return ps.unnumbered(), nil
	}
	if ps.root == nil {
		return ps.add(pid, &fdTable{fds: map[int64]fdEntry{}}, new(string)), nil
	}
	if len(ps.byPID) >= maxProcs {
		return nil, errAt(s.line, 0, ErrTooLarge, mendOutput, "more than %d processes at one time", maxProcs)
	}
	if len(ps.clones) > 0 {
		parent := ps.clones[0]
		ps.clones = ps.clones[1:]
		shares := parent.pending != nil && hasFlag(parent.pending.text, "CLONE_FILES")
		return s.child(parent, pid, shares)
	}
	if ps.root.pid == 0 && !ps.known[pid] {
		ps.root.pid = pid
		delete(ps.byPID, 0)
		ps.byPID[pid] = ps.root
		return ps.root, nil
	}
	s.note("some processes appear without the clone that created them, and count as threads of the first; trace clone, clone3, fork and vfork too to be sure")
	return ps.add(pid, ps.root.tab, ps.root.cwd), nil
}

// unnumbered returns the process of a line without a number: strace leaves the
// number out while only one process is left.
func (ps *procs) unnumbered() *proc {
	if ps.byPID[ps.root.pid] == nil && len(ps.byPID) == 1 {
		for _, p := range ps.byPID {
			return p
		}
	}
	return ps.root
}

func (ps *procs) add(pid int, tab *fdTable, cwd *string) *proc {
	p := &proc{pid: pid, tab: tab, cwd: cwd}
	tab.refs++
	ps.byPID[pid] = p
	if ps.root == nil {
		ps.root = p
	}
	return p
}

// child adds a process made by parent: a thread shares the descriptors, a
// process gets a copy of the table (the descriptions stay shared).
func (s *state) child(parent *proc, pid int, shares bool) (*proc, error) {
	if shares {
		return s.procs.add(pid, parent.tab, parent.cwd), nil
	}
	tab := &fdTable{fds: make(map[int64]fdEntry, len(parent.tab.fds))}
	maps.Copy(tab.fds, parent.tab.fds)
	cwd := *parent.cwd
	s.procs.entries += len(tab.fds)
	return s.procs.add(pid, tab, &cwd), s.checkEntries()
}

func (s *state) checkEntries() error {
	if s.procs.entries > maxEntries {
		return errAt(s.line, 0, ErrTooLarge, "trace close and execve too", "more than %d open descriptors", maxEntries)
	}
	return nil
}

// exited forgets a process.
func (ps *procs) exited(pid int) {
	p := ps.byPID[pid]
	if p == nil {
		return
	}
	delete(ps.byPID, pid)
	ps.dropClone(p)
	if p.tab.refs--; p.tab.refs == 0 {
		ps.entries -= len(p.tab.fds)
	}
}

func (ps *procs) dropClone(p *proc) {
	for i, q := range ps.clones {
		if q == p {
			ps.clones = append(ps.clones[:i:i], ps.clones[i+1:]...)
			return
		}
	}
}

// setFD binds a descriptor, whatever it was before.
func (s *state) setFD(p *proc, fd int64, d *desc, cloexec bool) error {
	if _, again := p.tab.fds[fd]; !again {
		s.procs.entries++
	}
	p.tab.fds[fd] = fdEntry{d, cloexec}
	return s.checkEntries()
}

func (s *state) closeFD(p *proc, fd int64) {
	if _, ok := p.tab.fds[fd]; ok {
		delete(p.tab.fds, fd)
		s.procs.entries--
	}
}

// resolve makes the name of a file as absolute as the trace allows. dir is
// the argument that names the folder of a relative name; nil: the working
// folder.
func (s *state) resolve(p *proc, dir *arg, name arg) (string, error) {
	raw, short, bad := stringArg(name.text)
	if bad != nil {
		return "", s.badArg(name, bad)
	}
	if short {
		return "", errAt(s.line, name.col, ErrTruncatedString, mendString, "the file's name is shortened")
	}
	if len(raw) > 0 && raw[0] == '/' {
		return s.checkName(path.Clean(string(raw)), name)
	}
	base := *p.cwd
	if dir != nil {
		fd, _ := intArg(*dir)
		noted, _ := argNote(*dir)
		if fd == atCwd && path.IsAbs(noted) {
			*p.cwd = noted // -y shows the working folder
			base = noted
		} else if fd != atCwd {
			base = noted
			if e, ok := p.tab.fds[fd]; ok && noted == "" {
				base = e.desc.path
			}
		}
	}
	return s.checkName(path.Join(base, string(raw)), name)
}

// checkName bounds a name: the kernel accepts none that is longer, but a damaged
// trace might build one up.
func (s *state) checkName(full string, name arg) (string, error) {
	if len(full) > maxPath {
		return "", errAt(s.line, name.col, ErrTooLarge, mendLine, "the name of a file is longer than %d bytes", maxPath)
	}
	return full, nil
}
