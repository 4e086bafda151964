package resp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// shelf is a store in this process. It fails with err if that is set.
type shelf struct {
	mu   sync.Mutex
	held map[string]string
	err  error
}

func (s *shelf) Put(key, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.held[string(key)] = string(value)
	}
	return s.err
}

func (s *shelf) Get(key, buf []byte) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.held[string(key)]
	return append(buf, v...), ok, s.err
}

func (s *shelf) Delete(key []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		delete(s.held, string(key))
	}
	return s.err
}

// front is a front end of a store.
func front(t testing.TB, s *shelf) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	cfg := Config{Role: func() string { return "serves" }, Store: func() Store {
		if s == nil {
			return nil
		}
		return s
	}}
	go func() { _ = Serve(l, cfg) }()
	return l.Addr().String()
}

// A client of Redis finds what it needs, in both versions of the protocol.
func TestAClientOfRedisWorks(t *testing.T) {
	ctx := t.Context()
	for _, version := range []int{2, 3} {
		s := &shelf{held: map[string]string{}}
		c := redis.NewClient(&redis.Options{Addr: front(t, s), Protocol: version, ClientName: "test"})
		t.Cleanup(func() { _ = c.Close() })
		check := func(what string, got any, err error, want any) {
			t.Helper()
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("version %d: %s: %v, %v, want %v", version, what, got, err, want)
			}
		}
		str := func(what string, got string, err error) func(want any) {
			return func(want any) { t.Helper(); check(what, got, err, want) }
		}
		pong, err := c.Ping(ctx).Result()
		str("ping", pong, err)("PONG")
		binary := "a\x00b\r\nc"
		ok, err := c.Set(ctx, "k", binary, 0).Result()
		str("set", ok, err)("OK")
		v, err := c.Get(ctx, "k").Result()
		str("get", v, err)(binary)
		if _, err := c.Get(ctx, "none").Result(); !errors.Is(err, redis.Nil) {
			t.Errorf("version %d: a key that is not there: %v", version, err)
		}
		ok, err = c.Set(ctx, "empty", "", 0).Result()
		str("set", ok, err)("OK")
		v, err = c.Get(ctx, "empty").Result()
		str("get", v, err)("")
		n, err := c.Exists(ctx, "k", "none", "empty").Result()
		check("exists", n, err, 2)
		n, err = c.Del(ctx, "k", "none").Result()
		check("del", n, err, 1)
		n, err = c.Exists(ctx, "k").Result()
		check("exists", n, err, 0)
		echo, err := c.Echo(ctx, "x").Result()
		str("echo", echo, err)("x")
		settings, err := c.ConfigGet(ctx, "appendonly").Result()
		check("config", settings, err, map[string]string{"appendonly": "no"})
		settings, err = c.ConfigGet(ctx, "maxmemory").Result()
		check("config", len(settings), err, 0)
		info, err := c.Info(ctx).Result()
		check("info", strings.Contains(info, "sift:serves"), err, true)
		if _, err := c.Command(ctx).Result(); err != nil {
			t.Error(err)
		}
		if _, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range 100 {
				p.Set(ctx, fmt.Sprint("p", i), i, 0)
			}
			return nil
		}); err != nil || s.held["p99"] != "99" {
			t.Errorf("version %d: pipeline: %v", version, err)
		}
		for what, err := range map[string]error{
			"no option": c.Set(ctx, "k", "v", 1e9).Err(), "unknown command": c.Incr(ctx, "k").Err(), "wrong number": c.Do(ctx, "get").Err(),
			"out of range": c.Do(ctx, "select", "1").Err(), "no settings": c.ConfigSet(ctx, "save", "").Err(),
		} {
			if err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("version %d: %v, want %q", version, err, what)
			}
		}
	}
}

// Each error of a store has a word of its own.
func TestErrorsHaveWords(t *testing.T) {
	for _, x := range []struct {
		s    *shelf
		want string
	}{
		{nil, "NOTLEADING this node does not lead"},
		{&shelf{err: fmt.Errorf("%w: x", kv.ErrNotLeading)}, "NOTLEADING"},
		{&shelf{err: fmt.Errorf("%w: x", kv.ErrUnknown)}, "UNKNOWN the operation may have been carried out"},
		{&shelf{err: fmt.Errorf("%w: a value of\r\n 9 bytes", kv.ErrTooLong)}, "TOOLONG sift/kv: key or value outside the limits: a value of   9 bytes"},
		{&shelf{err: kv.ErrFull}, "FULL sift/kv: the store is full"},
		{&shelf{err: io.ErrShortWrite}, "ERR short write"},
	} {
		c := redis.NewClient(&redis.Options{Addr: front(t, x.s), MaxRetries: -1})
		t.Cleanup(func() { _ = c.Close() })
		ctx := context.Background()
		for what, err := range map[string]error{"set": c.Set(ctx, "k", "v", 0).Err(), "get": c.Get(ctx, "k").Err(), "del": c.Del(ctx, "k").Err()} {
			if err == nil || !strings.HasPrefix(err.Error(), x.want) {
				t.Errorf("%s: %v, want %q", what, err, x.want)
			}
		}
	}
}

// Lines of words are commands, too; bytes that are none end the connection with an error.
func TestBytesOfAClient(t *testing.T) {
	addr := front(t, &shelf{held: map[string]string{}})
	for _, x := range []struct{ sent, want string }{
		{"PING\r\n", "+PONG\r\n"},
		{"ping\n\r\n*0\r\nQUIT\r\nPING\r\n", "+PONG\r\n+OK\r\n"},
		{"SET a 1\r\nGET a\r\nDEL a\r\nGET a\r\nQUIT\r\n", "+OK\r\n$1\r\n1\r\n:1\r\n$-1\r\n+OK\r\n"},
		{"HELLO 4\r\nHELLO 3 AUTH u p\r\nQUIT\r\n", "-NOPROTO unsupported protocol version\r\n-ERR syntax error: this store has no option \"AUTH\" of HELLO, and no passwords\r\n+OK\r\n"},
		{"*1\r\n$4\r\nPINGxx", "-ERR Protocol error: protocol error: no line end after a string of the given length\r\n"},
		{"*x\r\n", "-ERR Protocol error: protocol error: invalid multibulk length\r\n"},
		{"*1025\r\n", "-ERR Protocol error: protocol error: invalid multibulk length\r\n"},
		{"*1\r\n$2097153\r\n", "-ERR Protocol error: protocol error: invalid bulk length: a command has at most 2097152 bytes\r\n"},
		{"*2\r\n$1\r\nx\r\n$2097152\r\n", "-ERR Protocol error: protocol error: invalid bulk length: a command has at most 2097152 bytes\r\n"},
		{"*1\r\n$-1\r\n", "-ERR Protocol error: protocol error: invalid bulk length: a command has at most 2097152 bytes\r\n"},
		{"*1\r\nx\r\n", "-ERR Protocol error: protocol error: expected '$'\r\n"},
		{strings.Repeat("x", maxLine), "-ERR Protocol error: protocol error: too big a line\r\n"},
		{"*1\r\n$4\r\nPI", ""},
		{"", ""},
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, x.sent); err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(c)
		if string(got) != x.want || err != nil {
			t.Errorf("%.60q: %q, %v, want %q", x.sent, got, err, x.want)
		}
		_ = c.Close()
	}
}

func FuzzReadCommand(f *testing.F) {
	for _, s := range []string{"*2\r\n$3\r\nGET\r\n$1\r\na\r\n", "PING\r\n", "*-1\r\n", "*1\r\n$0\r\n\r\n", "*1\r\n$9\r\nx"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(b), maxLine)
		for {
			args, err := readCommand(r)
			if err != nil {
				if !errors.Is(err, errProtocol) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatal(err)
				}
				return
			}
			total := 0
			for _, a := range args {
				total += len(a)
			}
			if total > len(b) {
				t.Fatalf("%d bytes of arguments in %d", total, len(b))
			}
			s := session{writer: &writer{Writer: bufio.NewWriter(io.Discard)}, cfg: &Config{Store: func() Store { return nil }, Role: func() string { return "" }}}
			if len(args) > 0 {
				s.do(args)
			}
		}
	})
}
