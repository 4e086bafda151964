package strace

import "bytes"

// dataFunc takes the bytes of a write out of its second argument. short means
// that strace left some out.
type dataFunc func(a arg) (data []byte, short bool, bad *scanError)

func stringData(a arg) ([]byte, bool, *scanError) { return stringArg(a.text) }

// vectorData joins the strings of "[{iov_base="abc", iov_len=3}, ...]", or of
// "[{"abc", 3}, ...]" as strace wrote it before version 4.17.
func vectorData(a arg) (data []byte, short bool, bad *scanError) {
	if len(a.text) == 0 || a.text[0] != '[' {
		return nil, false, &scanError{0, "expected a list, not " + brief(a.text), false}
	}
	for i := 0; i < len(a.text); {
		if a.text[i] != '"' {
			// Dots instead of an element: the list itself is shortened.
			short = short || bytes.HasPrefix(a.text[i:], []byte("..."))
			i++
			continue
		}
		end, bad := skipString(a.text, i)
		if bad != nil {
			return nil, false, bad
		}
		part, bad := unescape(a.text[i+1 : end-1])
		if bad != nil {
			bad.at += i + 1
			return nil, false, bad
		}
		// What follows a shortened element is at a wrong place.
		if !short {
			data = append(data, part...)
		}
		i = end
	}
	return data, short, nil
}

// write handles write, writev, pwrite64, pwritev and pwritev2.
func (s *state) write(p *proc, c *call, data dataFunc, offset *arg, flags []byte) error {
	d, err := s.desc(p, c.args[0])
	if err != nil || c.ret == 0 {
		return err
	}
	if d == nil {
		return s.unknown.write(p, c, offset != nil)
	}
	if d.node == nil {
		return nil
	}
	off, err := s.place(d, offset, hasFlag(flags, "RWF_APPEND"))
	if err != nil {
		return err
	}
	if off < 0 || off > s.opts.MaxOffset || c.ret > s.opts.MaxOffset-off {
		d.node.spoil(s.badPlace(d, off, c))
		return nil
	}
	written, why := s.dataOf(c, data)
	if why != nil {
		d.node.spoil(why)
		return nil
	}
	if offset == nil || isMinusOne(offset) {
		d.pos = off + c.ret
	}
	d.node.size = max(d.node.size, off+c.ret)
	if err := s.record(d.node, Op{Kind: Write, Offset: off, Data: written}); err != nil {
		return err
	}
	if d.syncs || hasFlag(flags, "RWF_SYNC") || hasFlag(flags, "RWF_DSYNC") {
		return s.record(d.node, Op{Kind: Sync})
	}
	return nil
}

// place returns the offset of a write; -1 if the trace does not show it. With
// O_APPEND Linux writes at the end even if the call names an offset.
func (s *state) place(d *desc, offset *arg, appends bool) (int64, error) {
	positioned := offset != nil && !isMinusOne(offset)
	switch {
	case d.appends || appends:
		if !d.node.sure {
			d.node.assumed = true
		}
		return d.node.size, nil
	case positioned:
		return s.number(*offset)
	case d.posKnown:
		return d.pos, nil
	}
	return -1, nil
}

// isMinusOne: for pwritev2 an offset of -1 stands for the file's position.
func isMinusOne(offset *arg) bool {
	return string(offset.text) == "-1" || string(offset.text) == "18446744073709551615"
}

// badPlace returns why the offset of a write is not accepted.
func (s *state) badPlace(d *desc, off int64, c *call) *ParseError {
	if off == -1 && !d.posKnown {
		return errAt(s.line, c.args[0].col, ErrUnknownOffset, mendStart,
			"%s goes to the file's position, but the open of %s is not in the trace", c.name, brief([]byte(d.path)))
	}
	return errAt(s.line, 0, ErrTooLarge, mendRaise,
		"%s of %d bytes at offset %d goes beyond byte %d (MaxOffset)", c.name, c.ret, off, s.opts.MaxOffset)
}

// dataOf returns the bytes that a write really wrote: the call may have written
// fewer than it was given.
func (s *state) dataOf(c *call, data dataFunc) ([]byte, *ParseError) {
	a := c.args[1]
	all, short, bad := data(a)
	switch {
	case bad != nil:
		return nil, s.badArg(a, bad)
	case int64(len(all)) >= c.ret:
		return bytes.Clone(all[:c.ret]), nil // the decoder's memory is larger
	case short:
		return nil, errAt(s.line, a.col, ErrTruncatedString, mendString,
			"strace shows %d of the %d bytes that %s wrote", len(all), c.ret, c.name)
	}
	return nil, errAt(s.line, a.col, ErrSyntax, mendLine,
		"%s has %d bytes of data, but wrote %d", c.name, len(all), c.ret)
}

// doRead moves the position.
func (s *state) doRead(p *proc, c *call) error {
	fd, err := s.number(c.args[0])
	if e, ok := p.tab.fds[fd]; ok && err == nil && c.ret <= s.opts.MaxOffset {
		e.desc.pos += c.ret
	}
	return err
}

func (s *state) doLseek(p *proc, c *call) error {
	d, err := s.desc(p, c.args[0])
	if err != nil || d == nil {
		return err
	}
	d.pos, d.posKnown = c.ret, true
	if d.node != nil && !d.node.sure && string(c.args[2].text) == "SEEK_END" {
		if by, ok := intArg(c.args[1]); ok && by == 0 {
			d.node.size, d.node.sure = max(d.node.size, c.ret), true
		}
	}
	return nil
}

// doLlseek handles the call of 32-bit machines, which gives the new position
// in a list: _llseek(3, 10, [10], SEEK_SET) = 0.
func (s *state) doLlseek(p *proc, c *call) error {
	at := c.args[len(c.args)-2]
	at.text = bytes.Trim(at.text, "[]")
	n, err := s.number(at)
	if err != nil {
		return err
	}
	moved := *c
	moved.ret = n
	moved.args = []arg{c.args[0], c.args[1], c.args[len(c.args)-1]}
	return s.doLseek(p, &moved)
}

func (s *state) doSync(p *proc, c *call) error {
	d, err := s.desc(p, c.args[0])
	if err != nil {
		return err
	}
	if d == nil {
		return s.unknown.sync(p, c)
	}
	if d.node == nil {
		return nil
	}
	return s.record(d.node, Op{Kind: Sync})
}

// doSyncAll handles sync and syncfs: all files written are durable.
func (s *state) doSyncAll(_ *proc, _ *call) error {
	for _, n := range s.files.nodes {
		if err := s.record(n, Op{Kind: Sync}); err != nil {
			return err
		}
	}
	return nil
}
