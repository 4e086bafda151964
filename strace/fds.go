package strace

import "path"

// open handles open, openat and creat.
func (s *state) open(p *proc, c *call, dir *arg, name arg, flags []byte) error {
	full, err := s.resolve(p, dir, name)
	if err != nil {
		return err
	}
	// The result's note is the name after links were followed, but only the
	// name that the program used fits its later rename and unlink.
	d := &desc{
		path: full, posKnown: true, appends: hasFlag(flags, "O_APPEND"),
		syncs: hasFlag(flags, "O_SYNC") || hasFlag(flags, "O_DSYNC") || hasFlag(flags, "__O_SYNC"),
	}
	if !notAFile(full) {
		if d.node, err = s.openNode(full, flags); err != nil {
			return err
		}
	}
	if _, again := p.tab.fds[c.ret]; again {
		s.note("open gives descriptors that are still open: close is not in the trace; trace it too to be sure")
	}
	return s.setFD(p, c.ret, d, hasFlag(flags, "O_CLOEXEC"))
}

// openNode returns the file behind a name, made or emptied as the flags say.
func (s *state) openNode(name string, flags []byte) (*node, error) {
	n := s.files.bound[name]
	writes := hasFlag(flags, "O_WRONLY") || hasFlag(flags, "O_RDWR")
	creates := hasFlag(flags, "O_CREAT")
	excl, trunc := creates && hasFlag(flags, "O_EXCL"), hasFlag(flags, "O_TRUNC") && (writes || creates)
	switch {
	case hasFlag(flags, "O_TMPFILE"), hasFlag(flags, "O_DIRECTORY"), hasFlag(flags, "O_PATH"):
		return nil, nil
	case n != nil && excl: // the name was removed by a call that was not traced
		if err := s.unbind(name); err != nil {
			return nil, err
		}
		n = nil
	case n != nil && !writes && !trunc:
		return n, nil
	case n == nil && !writes && !creates:
		return nil, nil // opened to read only: nothing comes of it
	}
	if n != nil {
		return n, s.reopen(n, trunc)
	}
	n = &node{sure: excl || trunc}
	kind := Open
	if creates {
		kind = Create
	}
	return n, s.bind(name, Op{Kind: kind}, n)
}

func (s *state) reopen(n *node, trunc bool) error {
	if err := s.record(n, Op{Kind: Open}); err != nil || !trunc {
		return err
	}
	return s.setSize(n, 0)
}

// setSize records a new length, if it is new.
func (s *state) setSize(n *node, size int64) error {
	if n.sure && n.size == size {
		return nil
	}
	if size > s.opts.MaxOffset {
		n.spoil(errAt(s.line, 0, ErrTooLarge, mendRaise, "the file grows to %d bytes, beyond %d (MaxOffset)", size, s.opts.MaxOffset))
		return nil
	}
	n.size, n.sure = size, true
	return s.record(n, Op{Kind: Truncate, Size: size})
}

// desc returns the file that a descriptor refers to; nil if the trace does not show it. A
// note of -y names the file even if its open was not traced.
func (s *state) desc(p *proc, a arg) (*desc, error) {
	fd, err := s.number(a)
	if err != nil {
		return nil, err
	}
	noted, deleted := argNote(a)
	if noted != "" && !path.IsAbs(noted) {
		return &desc{}, nil // a socket or a pipe
	}
	if e, ok := p.tab.fds[fd]; ok {
		return e.desc, nil
	}
	if noted == "" {
		return nil, nil
	}
	d := &desc{path: noted}
	if !deleted && !notAFile(noted) {
		n := s.files.bound[noted]
		if n == nil {
			n = &node{}
			if err := s.bind(noted, Op{Kind: Open}, n); err != nil {
				return nil, err
			}
		}
		d.node = n
	}
	return d, s.setFD(p, fd, d, false)
}

func (s *state) doClose(p *proc, c *call) error {
	fd, err := s.number(c.args[0])
	if err != nil {
		return err
	}
	s.closeFD(p, fd)
	return nil
}

func (s *state) doCloseRange(p *proc, c *call) error {
	if len(c.args) > 2 && hasFlag(c.args[2].text, "CLOSE_RANGE_CLOEXEC") {
		return nil
	}
	from, err := s.number(c.args[0])
	if err != nil {
		return err
	}
	to, err := s.number(c.args[1])
	if err != nil {
		return err
	}
	for fd := range p.tab.fds {
		if fd >= from && fd <= to {
			s.closeFD(p, fd)
		}
	}
	return nil
}

// dup gives the description of the first argument a second number.
func (s *state) dup(p *proc, c *call, cloexec bool) error {
	d, err := s.desc(p, c.args[0])
	if err != nil {
		return err
	}
	if d == nil { // unknown stays unknown
		s.closeFD(p, c.ret)
		return nil
	}
	return s.setFD(p, c.ret, d, cloexec)
}

func (s *state) doFcntl(p *proc, c *call) error {
	cmd := string(c.args[1].text)
	switch cmd {
	case "F_DUPFD", "F_DUPFD_CLOEXEC":
		return s.dup(p, c, cmd == "F_DUPFD_CLOEXEC")
	case "F_SETFD", "F_SETFL":
	default:
		return nil
	}
	if len(c.args) < 3 {
		return errAt(s.line, c.args[1].col, ErrSyntax, mendLine, "%s needs a value", cmd)
	}
	fd, err := s.number(c.args[0])
	if err != nil {
		return err
	}
	e, ok := p.tab.fds[fd]
	switch {
	case !ok:
	case cmd == "F_SETFD":
		e.cloexec = hasFlag(c.args[2].text, "FD_CLOEXEC")
		p.tab.fds[fd] = e
	default: // O_SYNC cannot be changed this way
		e.desc.appends = hasFlag(c.args[2].text, "O_APPEND")
	}
	return nil
}

func (s *state) doChdir(p *proc, c *call) error {
	dir, err := s.resolve(p, nil, c.args[0])
	if err != nil {
		return err
	}
	*p.cwd = dir
	return nil
}

func (s *state) doFchdir(p *proc, c *call) error {
	d, err := s.desc(p, c.args[0])
	if err != nil {
		return err
	}
	if d == nil {
		*p.cwd = ""
	} else {
		*p.cwd = d.path
	}
	return nil
}
