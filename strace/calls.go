package strace

// handler applies a call that succeeded and has at least args arguments.
type handler struct {
	args int
	do   func(*state, *proc, *call) error
}

// handlers are the calls that matter; all others are passed over.
var handlers = map[string]handler{
	"open":   {2, func(s *state, p *proc, c *call) error { return s.open(p, c, nil, c.args[0], c.args[1].text) }},
	"openat": {3, func(s *state, p *proc, c *call) error { return s.open(p, c, &c.args[0], c.args[1], c.args[2].text) }},
	// openat2 has its flags in a structure: {flags=O_RDWR|O_CREAT, ...}.
	"openat2": {3, func(s *state, p *proc, c *call) error { return s.open(p, c, &c.args[0], c.args[1], c.args[2].text) }},
	"creat": {1, func(s *state, p *proc, c *call) error {
		return s.open(p, c, nil, c.args[0], []byte("O_WRONLY|O_CREAT|O_TRUNC"))
	}},
	"close":       {1, (*state).doClose},
	"close_range": {2, (*state).doCloseRange},
	"dup":         {1, func(s *state, p *proc, c *call) error { return s.dup(p, c, false) }},
	"dup2":        {2, func(s *state, p *proc, c *call) error { return s.dup(p, c, false) }},
	"dup3":        {3, func(s *state, p *proc, c *call) error { return s.dup(p, c, hasFlag(c.args[2].text, "O_CLOEXEC")) }},
	"fcntl":       {2, (*state).doFcntl},
	"fcntl64":     {2, (*state).doFcntl},
	"chdir":       {1, (*state).doChdir},
	"fchdir":      {1, (*state).doFchdir},

	"write":     {3, func(s *state, p *proc, c *call) error { return s.write(p, c, stringData, nil, nil) }},
	"writev":    {3, func(s *state, p *proc, c *call) error { return s.write(p, c, vectorData, nil, nil) }},
	"pwrite64":  {4, func(s *state, p *proc, c *call) error { return s.write(p, c, stringData, &c.args[3], nil) }},
	"pwrite":    {4, func(s *state, p *proc, c *call) error { return s.write(p, c, stringData, &c.args[3], nil) }},
	"pwritev":   {4, func(s *state, p *proc, c *call) error { return s.write(p, c, vectorData, &c.args[3], nil) }},
	"pwritev2":  {5, func(s *state, p *proc, c *call) error { return s.write(p, c, vectorData, &c.args[3], c.args[4].text) }},
	"read":      {1, (*state).doRead},
	"readv":     {1, (*state).doRead},
	"lseek":     {3, (*state).doLseek},
	"_llseek":   {4, (*state).doLlseek},
	"fsync":     {1, (*state).doSync},
	"fdatasync": {1, (*state).doSync},
	"syncfs":    {0, (*state).doSyncAll},
	"sync":      {0, (*state).doSyncAll},

	"ftruncate":   {2, (*state).doFtruncate},
	"ftruncate64": {2, (*state).doFtruncate},
	"truncate":    {2, (*state).doTruncate},
	"truncate64":  {2, (*state).doTruncate},
	"fallocate":   {4, (*state).doFallocate},

	"rename":    {2, func(s *state, p *proc, c *call) error { return s.doRename(p, c, nil, c.args[0], nil, c.args[1], nil) }},
	"renameat":  {4, func(s *state, p *proc, c *call) error { return s.doRenameat(p, c, nil) }},
	"renameat2": {5, func(s *state, p *proc, c *call) error { return s.doRenameat(p, c, c.args[4].text) }},
	"unlink":    {1, func(s *state, p *proc, c *call) error { return s.doUnlink(p, nil, c.args[0]) }},
	"unlinkat": {3, func(s *state, p *proc, c *call) error {
		if hasFlag(c.args[2].text, "AT_REMOVEDIR") {
			return nil
		}
		return s.doUnlink(p, &c.args[0], c.args[1])
	}},
	"link": {2, func(s *state, p *proc, c *call) error { return s.doLink(p, nil, c.args[0], nil, c.args[1]) }},
	"linkat": {4, func(s *state, p *proc, c *call) error {
		return s.doLink(p, &c.args[0], c.args[1], &c.args[2], c.args[3])
	}},

	"fork":   {0, (*state).doClone},
	"vfork":  {0, (*state).doClone},
	"clone":  {1, (*state).doClone},
	"clone3": {1, (*state).doClone},
	"execve": {0, (*state).doExec},

	// Calls that put bytes into a file without showing them.
	"mmap":            {5, (*state).doMmap},
	"mmap2":           {5, (*state).doMmap},
	"sendfile":        {1, func(s *state, p *proc, c *call) error { return s.unseen(p, c, c.args[0]) }},
	"sendfile64":      {1, func(s *state, p *proc, c *call) error { return s.unseen(p, c, c.args[0]) }},
	"copy_file_range": {3, func(s *state, p *proc, c *call) error { return s.unseen(p, c, c.args[2]) }},
	"splice":          {3, func(s *state, p *proc, c *call) error { return s.unseen(p, c, c.args[2]) }},
}

func isClone(name string) bool {
	return name == "clone" || name == "clone3" || name == "fork" || name == "vfork"
}

// doClone adds the child, unless its first line came before the end of the
// call that made it.
func (s *state) doClone(p *proc, c *call) error {
	pid := int(c.ret)
	if c.ret <= 0 || c.ret > maxPID || s.procs.byPID[pid] != nil {
		return nil
	}
	if len(s.procs.byPID) >= maxProcs {
		return errAt(s.line, 0, ErrTooLarge, mendOutput, "more than %d processes at one time", maxProcs)
	}
	shares := false
	for _, a := range c.args {
		shares = shares || hasFlag(a.text, "CLONE_FILES")
	}
	_, err := s.child(p, pid, shares)
	return err
}

// doExec closes the descriptors that are marked close-on-exec.
func (s *state) doExec(p *proc, _ *call) error {
	for fd, e := range p.tab.fds {
		if e.cloexec {
			s.closeFD(p, fd)
		}
	}
	return nil
}

func (s *state) doMmap(p *proc, c *call) error {
	if !hasFlag(c.args[2].text, "PROT_WRITE") || !hasFlag(c.args[3].text, "MAP_SHARED") {
		return nil
	}
	if fd, ok := intArg(c.args[4]); !ok || fd < 0 {
		return nil // anonymous memory
	}
	return s.unseen(p, c, c.args[4])
}

// unseen spoils a file that gets bytes which the trace does not show.
func (s *state) unseen(p *proc, c *call, fd arg) error {
	d, err := s.desc(p, fd)
	if err != nil || d == nil || d.node == nil {
		return err
	}
	d.node.spoil(errAt(s.line, 0, ErrUnsupported, "let the program write the log with write or pwrite64",
		"%s changes the file, and strace does not show how", c.name))
	return nil
}

// badArg places a fault of an argument in its line.
func (s *state) badArg(a arg, bad *scanError) *ParseError {
	col := 0
	if a.col > 0 {
		col = a.col + bad.at
	}
	return errAt(s.line, col, ErrSyntax, mendLine, "%s", bad.what)
}

// number decodes an argument that must be a number.
func (s *state) number(a arg) (int64, error) {
	n, ok := intArg(a)
	if !ok {
		return 0, errAt(s.line, a.col, ErrSyntax, mendLine, "expected a number, not %s", brief(a.text))
	}
	return n, nil
}
