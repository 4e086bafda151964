package soak

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

// process is a process of the program. Its standard error goes to a log.
type process struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string // what it prints; closed at the end
	log   string      // file name
}

// start starts `verbatim-run ncl ARGS`. What it prints must be taken from lines.
func (s *soak) start(name string, args ...string) (*process, error) {
	p := &process{name: name, lines: make(chan string, 64), log: filepath.Join(s.cfg.Dir, name+".log")}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own
	fmt.Fprintf(log, "--- round %d: verbatim-run ncl %s\n", s.round, strings.Join(args, " "))
	p.cmd = exec.Command(s.cfg.Program, append([]string{"ncl"}, args...)...)
	p.cmd.Stderr, p.cmd.SysProcAttr = log, dieWithParent()
	p.cmd.Env = append(os.Environ(), s.cfg.Env...)
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
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
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return // a line that was not finished is none
			}
			p.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	return p, nil
}

// next is the next line that p prints. The error wraps [ErrStuck], or is that of ctx.
func (p *process) next(ctx context.Context, patience time.Duration) (string, error) {
	expired := time.NewTimer(patience)
	defer expired.Stop()
	select {
	case line, ok := <-p.lines:
		if !ok {
			return "", p.failed(p.cmd.Wait())
		}
		return line, nil
	case <-expired.C:
		return "", fmt.Errorf("%w: %s printed nothing for %v; %s", ErrStuck, p.name, patience, p.lastWords())
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// failed says that p has ended, which it should not.
func (p *process) failed(err error) error {
	ended := "with success"
	if err != nil {
		ended = err.Error()
	}
	return fmt.Errorf("%w: %s ended by itself (%s); %s", ErrStuck, p.name, ended, p.lastWords())
}

// lastWords are the last lines of its log.
func (p *process) lastWords() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return "its last output, from " + p.log + ":\n  " + strings.Join(lines[max(0, len(lines)-6):], "\n  ")
}

// kill is kill -9. It does not wait.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	return nil
}

// bury takes what a killed process had still printed, and waits until it is gone.
func (p *process) bury(line func(string)) error {
	for l := range p.lines {
		line(l)
	}
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() { // it ended by the signal
		return nil
	}
	return p.failed(err)
}

// serve starts a coordinator or a peer, and returns when it is ready, with its address.
func (s *soak) serve(ctx context.Context, name string, args ...string) (*process, string, error) {
	p, err := s.start(name, append(args, "--listen", "127.0.0.1:0")...)
	if err != nil {
		return nil, "", err
	}
	s.running = append(s.running, p)
	line, err := p.next(ctx, s.cfg.Patience)
	if err != nil {
		return nil, "", err
	}
	word := strings.Fields(line)
	if len(word) < 4 || word[0] != "ready:" {
		return nil, "", fmt.Errorf("%w: %s printed %q instead of ready", ErrStuck, name, line)
	}
	return p, word[3], nil
}
