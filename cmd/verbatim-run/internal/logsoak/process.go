package logsoak

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrStuck: a process ended by itself, or did nothing for too long.
var ErrStuck = errors.New("logsoak: stuck")

// process is a process of the program.
type process struct {
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // what it prints; closed at its end
}

// start starts the program. What it prints must be taken from lines; its errors go to a file.
func (s *soak) start(ctx context.Context, name string, args ...string) (*process, error) {
	errs, err := os.OpenFile(filepath.Join(s.cfg.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer errs.Close() // the process has its own
	p := &process{name: name, cmd: exec.CommandContext(ctx, s.cfg.Program, args...), lines: make(chan string, 1024)}
	p.cmd.Stderr, p.cmd.Env = errs, append(os.Environ(), s.cfg.Env...)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return // a line that was not finished is none
			}
			p.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	return p, nil
}

// next is the next line that p prints. An error wraps ErrStuck.
func (p *process) next(patience time.Duration) (string, error) {
	expired := time.NewTimer(patience)
	defer expired.Stop()
	select {
	case line, ok := <-p.lines:
		if ok {
			return line, nil
		}
		return "", fmt.Errorf("%w: %s ended: %v", ErrStuck, p.name, p.cmd.Wait())
	case <-expired.C:
		return "", fmt.Errorf("%w: %s printed nothing for %v", ErrStuck, p.name, patience)
	}
}

// kill is kill -9. It returns what p had printed besides, when p is gone.
func (p *process) kill() (rest []string) {
	_ = p.cmd.Process.Kill()
	for line := range p.lines {
		rest = append(rest, line)
	}
	_ = p.cmd.Wait() // killed
	return rest
}

// serve starts a server and returns it with its address, when it is ready.
func (s *soak) serve(ctx context.Context, name string, args ...string) (*process, string, error) {
	p, err := s.start(ctx, name, args...)
	if err != nil {
		return nil, "", err
	}
	line, err := p.next(s.cfg.Patience)
	if err != nil {
		return nil, "", err
	}
	f := strings.Fields(line) // ready: NAME at ADDRESS ...
	if len(f) < 4 || f[0] != "ready:" {
		return nil, "", fmt.Errorf("%w: %s says %q", ErrStuck, name, line)
	}
	return p, f[3], nil
}
