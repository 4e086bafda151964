// Package process starts, watches and kills processes of verbatim-run, for tests that kill them while they work.
package process

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

// ErrStuck: a process exited or stalled unexpectedly.
var ErrStuck = errors.New("a process stalled")

// Program is the program to start.
type Program struct {
	Path string   // of verbatim-run
	Env  []string // in addition to the environment of this process
	Logs string   // directory for the standard error of each process
}

// Process is a running process. Its caller must receive from Lines, or the process blocks.
type Process struct {
	Name  string
	Cmd   *exec.Cmd
	Stdin io.WriteCloser
	Lines chan string // of its standard output; closed at the end of the output
	log   string      // file name
}

// Start starts the program. note precedes the command line in the log.
func (p *Program) Start(name, note string, args ...string) (*Process, error) {
	x := &Process{Name: name, Lines: make(chan string, 64), log: filepath.Join(p.Logs, name+".log")}
	log, err := os.OpenFile(x.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own descriptor
	fmt.Fprintf(log, "--- %s: verbatim-run %s\n", note, strings.Join(args, " "))
	x.Cmd = exec.Command(p.Path, args...)
	x.Cmd.Stderr, x.Cmd.SysProcAttr = log, dieWithParent()
	x.Cmd.Env = append(os.Environ(), p.Env...)
	if x.Stdin, err = x.Cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := x.Cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := x.Cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(x.Lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return // an unfinished line does not count
			}
			x.Lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	return x, nil
}

// Ready waits for the line `ready: NAME at ADDRESS ...` of a server, and returns the address.
func (p *Process) Ready(ctx context.Context, patience time.Duration) (addr string, err error) {
	line, err := p.Next(ctx, patience)
	if err != nil {
		return "", err
	}
	word := strings.Fields(line)
	if len(word) < 4 || word[0] != "ready:" {
		return "", fmt.Errorf("%w: %s printed %q instead of ready", ErrStuck, p.Name, line)
	}
	return word[3], nil
}

// Next returns the next line of the process. The error wraps [ErrStuck], or comes from ctx.
func (p *Process) Next(ctx context.Context, patience time.Duration) (string, error) {
	expired := time.NewTimer(patience)
	defer expired.Stop()
	select {
	case line, ok := <-p.Lines:
		if !ok {
			return "", p.Failed(p.Cmd.Wait())
		}
		return line, nil
	case <-expired.C:
		return "", fmt.Errorf("%w: %s printed nothing for %v; %s", ErrStuck, p.Name, patience, p.LastWords())
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Rest closes the standard input of the process and passes its lines to take, until it exits with success. The error
// wraps [ErrStuck], or comes from take or ctx.
func (p *Process) Rest(ctx context.Context, patience time.Duration, take func(line string) error) error {
	if err := p.Stdin.Close(); err != nil {
		return err
	}
	expired := time.NewTimer(patience)
	defer expired.Stop()
	for {
		select {
		case line, ok := <-p.Lines:
			if !ok {
				if err := p.Cmd.Wait(); err != nil {
					return p.Failed(err)
				}
				return nil
			}
			if err := take(line); err != nil {
				return err
			}
		case <-expired.C:
			return fmt.Errorf("%w: %s did not exit within %v; %s", ErrStuck, p.Name, patience, p.LastWords())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Failed returns the error for a process that exited unexpectedly. err is the result of Wait.
func (p *Process) Failed(err error) error {
	ended := "with success"
	if err != nil {
		ended = err.Error()
	}
	return fmt.Errorf("%w: %s exited unexpectedly (%s); %s", ErrStuck, p.Name, ended, p.LastWords())
}

// LastWords returns the last lines of the log.
func (p *Process) LastWords() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return "its last output, from " + p.log + ":\n  " + strings.Join(lines[max(0, len(lines)-6):], "\n  ")
}

// Kill sends SIGKILL. It does not wait.
func (p *Process) Kill() error {
	if err := p.Cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.Name, err)
	}
	return nil
}

// Bury passes the remaining lines of a killed process to line, and waits until it has exited. The error wraps
// [ErrStuck] if the process had exited before the kill.
func (p *Process) Bury(line func(string)) error {
	for l := range p.Lines {
		line(l)
	}
	err := p.Cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() { // a signal ended it
		return nil
	}
	return p.Failed(err)
}
