package strace

// doFtruncate sets the length of an open file.
func (s *state) doFtruncate(p *proc, c *call) error {
	d, err := s.desc(p, c.args[0])
	if err != nil {
		return err
	}
	size, err := s.number(c.args[1])
	if err != nil {
		return err
	}
	if d == nil {
		return s.unknown.write(p, c, true)
	}
	if d.node == nil || size < 0 {
		return nil
	}
	return s.setSize(d.node, size)
}

func (s *state) doTruncate(p *proc, c *call) error {
	name, err := s.resolve(p, nil, c.args[0])
	if err != nil {
		return err
	}
	size, err := s.number(c.args[1])
	n := s.files.bound[name]
	if err != nil || n == nil || size < 0 {
		return err
	}
	return s.setSize(n, size)
}

// doFallocate handles the uses that change what a reader of the file sees:
// growing it, and putting zeros into it. Reserving space alone does not.
func (s *state) doFallocate(p *proc, c *call) error {
	d, err := s.desc(p, c.args[0])
	if err != nil || d == nil || d.node == nil {
		return err
	}
	off, err := s.number(c.args[2])
	if err != nil {
		return err
	}
	length, err := s.number(c.args[3])
	if err != nil {
		return err
	}
	n, mode := d.node, c.args[1].text
	if off < 0 || length < 0 || off > s.opts.MaxOffset || length > s.opts.MaxOffset-off {
		n.spoil(errAt(s.line, c.args[2].col, ErrTooLarge, mendRaise,
			"fallocate goes beyond byte %d (MaxOffset)", s.opts.MaxOffset))
		return nil
	}
	if hasFlag(mode, "FALLOC_FL_COLLAPSE_RANGE") || hasFlag(mode, "FALLOC_FL_INSERT_RANGE") {
		n.spoil(errAt(s.line, c.args[1].col, ErrUnsupported, "turn this off in the program",
			"fallocate moves the file's content"))
		return nil
	}
	if !hasFlag(mode, "FALLOC_FL_KEEP_SIZE") && off+length > n.size {
		if err := s.setSize(n, off+length); err != nil {
			return err
		}
	}
	if hasFlag(mode, "FALLOC_FL_PUNCH_HOLE") || hasFlag(mode, "FALLOC_FL_ZERO_RANGE") {
		return s.zero(n, off, min(off+length, n.size))
	}
	return nil
}

// zero records zeros from one byte of a file up to another.
func (s *state) zero(n *node, from, to int64) error {
	if from >= to {
		return nil
	}
	if to-from > s.opts.MaxBytes { // before the memory is taken
		return s.keep(to - from)
	}
	return s.record(n, Op{Kind: Write, Offset: from, Data: make([]byte, to-from)})
}

func (s *state) doRenameat(p *proc, c *call, flags []byte) error {
	return s.doRename(p, c, &c.args[0], c.args[1], &c.args[2], c.args[3], flags)
}

func (s *state) doRename(p *proc, _ *call, fromDir *arg, from arg, toDir *arg, to arg, flags []byte) error {
	old, err := s.resolve(p, fromDir, from)
	if err != nil {
		return err
	}
	name, err := s.resolve(p, toDir, to)
	if err != nil {
		return err
	}
	if hasFlag(flags, "RENAME_EXCHANGE") {
		return s.exchange(old, name)
	}
	return s.rename(old, name)
}

func (s *state) doUnlink(p *proc, dir *arg, name arg) error {
	full, err := s.resolve(p, dir, name)
	if err != nil {
		return err
	}
	return s.unbind(full)
}

func (s *state) doLink(p *proc, fromDir *arg, from arg, toDir *arg, to arg) error {
	old, err := s.resolve(p, fromDir, from)
	if err != nil {
		return err
	}
	name, err := s.resolve(p, toDir, to)
	if err != nil {
		return err
	}
	return s.link(s.files.bound[old], old, name)
}
