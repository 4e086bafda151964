package bench

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/bench/perftest"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// The tools of perftest, by their measures.
const (
	writeTool  = "ib_write_lat"
	readTool   = "ib_read_lat"
	atomicTool = "ib_atomic_lat"
	sendTool   = "ib_send_lat"
	writeRate  = "ib_write_bw"
	readRate   = "ib_read_bw"
)

var tools = []string{writeTool, readTool, atomicTool, sendTool, writeRate, readRate}

// bandwidth reports whether a tool measures rates.
func bandwidth(tool string) bool { return tool == writeRate || tool == readRate }

// tool returns the tool that measures s, or empty.
func (s spec) tool() string {
	switch {
	case s.measure == Rate && s.op == Write:
		return writeRate
	case s.measure == Rate && s.op == Read:
		return readRate
	case s.measure == HalfRoundTrip && s.op == Send:
		return sendTool
	case s.measure == HalfRoundTrip:
		return writeTool
	case s.depth == 1 && s.op == Read:
		return readTool
	case s.depth == 1 && s.op == CAS:
		return atomicTool
	}
	return ""
}

// gidIndexed is a card that can return the index of its address, such as a card of verbs/hw.
type gidIndexed interface{ GIDIndex() int }

// arguments are the arguments of both sides. -C reports cycles, -F suppresses a warning about the
// processor's frequency, -N omits the peak, and -Q is the number of requests per completion.
func arguments(dev verbs.Device, r request, port int) []string {
	a := []string{"-F", "-d", dev.Attr().Name, "-m", strconv.Itoa(r.MTU), "-n", strconv.Itoa(r.Iters), "-p", strconv.Itoa(port)}
	if d, ok := dev.(gidIndexed); ok {
		a = append(a, "-x", strconv.Itoa(d.GIDIndex()))
	}
	if cycles && !bandwidth(r.Tool) {
		a = append(a, "-C")
	}
	switch r.Tool {
	case writeRate, readRate:
		a = append(a, "-s", strconv.Itoa(r.Size), "-t", strconv.Itoa(r.Depth), "-Q", strconv.Itoa(r.Batch), "-N")
		if r.Batch > 1 {
			a = append(a, "-l", strconv.Itoa(r.Batch))
		}
		if r.Tool == writeRate {
			a = append(a, "-I", strconv.Itoa(r.Inline))
		}
	case writeTool, sendTool:
		a = append(a, "-s", strconv.Itoa(r.Size), "-I", strconv.Itoa(r.Inline))
	case readTool:
		a = append(a, "-s", strconv.Itoa(r.Size))
	case atomicTool:
		a = append(a, "-A", "CMP_AND_SWAP")
	}
	return a
}

// find returns the path of a tool, one of [tools].
func find(tool string) (string, error) {
	if !slices.Contains(tools, tool) {
		return "", fmt.Errorf("%w: unknown tool %q", ErrPerftest, tool)
	}
	path, err := exec.LookPath(tool)
	if err != nil {
		return "", fmt.Errorf("%w: %s is not installed; it is in Debian's package perftest (apt-get install perftest)", ErrPerftest, tool)
	}
	return path, nil
}

// version returns the tool's own version.
func version(ctx context.Context, tool string) (string, error) {
	path, err := find(tool)
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	fields := strings.Fields(string(out))
	if len(fields) == 0 {
		return "", fmt.Errorf("%w: %s --version: %w", ErrPerftest, tool, err)
	}
	return fields[len(fields)-1], nil
}

// perftestTime is how long a round of perftest may take.
const perftestTime = 2 * time.Minute

// server is the passive side of perftest.
type server struct {
	cmd    *exec.Cmd
	cancel context.CancelFunc
	out    bytes.Buffer
	port   int
	done   chan error
}

// serve starts the passive side and returns when it listens.
func serve(ctx context.Context, dev verbs.Device, r request) (*server, error) {
	path, err := find(r.Tool)
	if err != nil {
		return nil, err
	}
	s := &server{done: make(chan error, 1)}
	if s.port, err = freePort(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPerftest, err)
	}
	ctx, s.cancel = context.WithTimeout(ctx, perftestTime)
	s.cmd = exec.CommandContext(ctx, path, arguments(dev, r, s.port)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	if err := s.cmd.Start(); err != nil {
		s.cancel()
		return nil, fmt.Errorf("%w: %w", ErrPerftest, err)
	}
	go func() { s.done <- s.cmd.Wait() }()
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		select {
		case err := <-s.done:
			s.cancel()
			return nil, s.failed(err)
		case <-tick.C:
			if listening(s.port) {
				tick.Stop()
				return s, nil
			}
		}
	}
}

func (s *server) portNumber() int {
	if s == nil {
		return 0
	}
	return s.port
}

// wait returns when the server has exited, normally or because of the timeout.
func (s *server) wait() error {
	if s == nil {
		return nil
	}
	defer s.cancel()
	return s.failed(<-s.done)
}

// stop terminates the server.
func (s *server) stop() error {
	if s == nil {
		return nil
	}
	s.cancel()
	return s.wait()
}

func (s *server) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %w: %s", ErrPerftest, strings.Join(s.cmd.Args, " "), err, perftest.LastLines(s.out.String()))
}

// freePort returns an unused port.
func freePort() (int, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// listening looks up the port in the kernel's tables: perftest would take a trial connection
// for the client.
func listening(port int) bool {
	want := fmt.Sprintf(":%04X", port)
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(name) // a table may be missing
		for line := range strings.Lines(string(text)) {
			const listen = "0A"
			if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[1], want) && f[3] == listen {
				return true
			}
		}
	}
	return false
}

// runPerftest runs the active side and returns its report.
func runPerftest(ctx context.Context, dev verbs.Device, r request, host string, port int) (perftest.Report, error) {
	path, err := find(r.Tool)
	if err != nil {
		return perftest.Report{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, perftestTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(arguments(dev, r, port), host)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return perftest.Report{}, fmt.Errorf("%w: %s: %w: %s", ErrPerftest, strings.Join(cmd.Args, " "), err, perftest.LastLines(stdout.String()+stderr.String()))
	}
	return perftest.Parse(stdout.String(), wanted(&r))
}

// wanted returns the values that the report of a request must have. The tool for atomics chooses its own size.
func wanted(r *request) perftest.Want {
	w := perftest.Want{Size: r.Size, Iters: r.Iters, Rate: bandwidth(r.Tool)}
	if r.Tool == atomicTool {
		w.Size = 0
	}
	return w
}
