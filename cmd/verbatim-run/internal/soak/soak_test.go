package soak

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The processes of these tests are this test program again, as a stand-in for
// `verbatim-run ncl` that keeps a file on the disk and has a bug if it is told to.
const fakeEnv, fakeDir = "SOAK_TEST_FAKE", "SOAK_TEST_DIR"

func TestMain(m *testing.M) {
	if bug := os.Getenv(fakeEnv); bug != "" {
		if err := fake(bug, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func fake(bug string, args []string) error {
	switch args[0] {
	case "coord", "peer":
		fmt.Println("ready: it at 127.0.0.1:1")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	case "peers":
		lent := 0
		if bug == "leaks" {
			lent = 1
		}
		fmt.Printf("{\"name\":\"peer1\",\"lent\":%d}\n", lent)
		return nil
	}
	path := filepath.Join(os.Getenv(fakeDir), args[slices.Index(args, "--file")+1])
	if args[0] == "write" {
		fmt.Println("start: this is the instance of app")
	}
	records, err := readFake(path)
	if err != nil {
		return err
	}
	resumed := args[0] == "recover" || slices.Contains(args, "--resume")
	if resumed {
		records = spoil(bug, records)
		for i, r := range records {
			line, err := json.Marshal(shownRecord{i + 1, r})
			if err != nil {
				return err
			}
			fmt.Println(string(line))
		}
	}
	if args[0] == "recover" {
		fmt.Println(`{"file":"x"}`)
		return nil
	}
	if bug == "refuses" && resumed {
		return errors.New("too few peers, it says")
	}
	fmt.Printf("open: %d records, 3 of 3 peers: peer1 peer2 peer3\n", len(records))
	return writeFake(bug, path, len(records))
}

// spoil is what a recovery with a bug makes of the records.
func spoil(bug string, records [][]byte) [][]byte {
	n := len(records)
	switch {
	case bug == "forgets" && n > 1:
		return records[:n-2]
	case bug == "swaps" && n > 1:
		records[n-1], records[n-2] = records[n-2], records[n-1]
	case bug == "repeats" && n > 0:
		return append(records, records[n-1])
	case bug == "invents":
		return append(records, []byte("never written"))
	case bug == "tears" && n > 0:
		records[n-1] = records[n-1][:1]
	}
	return records
}

// writeFake appends to the file what it reads. With the bug early it acknowledges
// records that are not yet in the file.
func writeFake(bug, path string, n int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	fresh := 0
	var late [][]byte
	for {
		r, err := readFrame(in)
		if err != nil {
			select {} // until it is killed
		}
		late = append(late, append(binary.BigEndian.AppendUint32(nil, uint32(len(r))), r...))
		if bug != "early" || len(late) > 3 {
			if _, err := file.Write(late[0]); err != nil {
				return err
			}
			late = late[1:]
		}
		n++
		if bug == "silent" && n == 3 {
			select {}
		}
		if bug != "never replaces" {
			fmt.Println("repair: 3 of 3 peers: peer1 peer2 peer4")
		} else if fresh++; fresh == 60 { // long after the death of a peer
			fmt.Println("repair: 2 of 3 peers: peer1 peer2")
		}
		fmt.Printf("ack %d\n", n)
	}
}

func readFrame(in io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	r := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(in, r)
	return r, err
}

func readFake(path string) ([][]byte, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var records [][]byte
	for in := strings.NewReader(string(b)); err == nil; {
		var r []byte
		if r, err = readFrame(in); err == nil {
			records = append(records, r)
		}
	}
	return records, nil
}

func fakeConfig(t *testing.T, bug string) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Program: self, Devices: []string{"none"}, Rounds: 12, Seed: 3, Acks: 10, Spares: 1, Dir: t.TempDir(), Patience: 30 * time.Second,
		Env: []string{fakeEnv + "=" + bug, fakeDir + "=" + t.TempDir()}}
}

func TestNothingIsLost(t *testing.T) {
	n, err := Run(context.Background(), fakeConfig(t, "honest"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", n)
	if n.Rounds != 12 || n.WriterKills != 12 || n.PeerKills == 0 || n.TogetherKills == 0 || n.Replacements == 0 || n.AgainKills == 0 || n.Recoveries == 0 || n.Acknowledged == 0 ||
		n.Returned == 0 || n.Files == 0 {
		t.Errorf("something was never done: %+v", n)
	}
}

// Whatever a program does wrong with the records, a soak must see it.
func TestWhatIsCaught(t *testing.T) {
	for bug, want := range map[string]error{
		"early": ErrLost, "forgets": ErrLost, "swaps": ErrLost, "repeats": ErrLost, "invents": ErrLost, "tears": ErrLost,
		"refuses": ErrStuck, "silent": ErrStuck, "never replaces": ErrStuck, "leaks": ErrLeaked,
	} {
		t.Run(bug, func(t *testing.T) {
			cfg := fakeConfig(t, bug)
			if bug == "silent" {
				cfg.Patience, cfg.SessionTTL = time.Second, time.Second/2
			}
			_, err := Run(context.Background(), cfg)
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
			t.Log(err)
		})
	}
}

// All processes have the same sessions: those of the flag.
func TestSessionTTL(t *testing.T) {
	for _, x := range []struct{ etcd, log, want string }{
		{"", "coord.log", "ncl coord --session-ttl 3s "},
		{"h:1", "app.log", " --etcd h:1 --etcd-ttl 3s "},
		{"h:1", "peer1.log", " --etcd h:1 --etcd-ttl 3s "},
	} {
		cfg := fakeConfig(t, "honest")
		cfg.Rounds, cfg.Etcd, cfg.SessionTTL = 1, x.etcd, 3*time.Second
		if _, err := Run(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(cfg.Dir, x.log))
		if err != nil || !strings.Contains(string(log), x.want) {
			t.Errorf("want %q: %v\n%s", x.want, err, log)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cfg := fakeConfig(t, "honest")
	cfg.Rounds = 1 << 30
	cfg.Progress = writerFunc(func() { cancel() })
	if n, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) || n.WriterKills == 0 {
		t.Errorf("%v after %+v", err, n)
	}
}

type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) { f(); return len(p), nil }

func TestExpectation(t *testing.T) {
	b := func(s ...string) [][]byte {
		var out [][]byte
		for _, x := range s {
			out = append(out, []byte(x))
		}
		return out
	}
	e := expectation{known: b("a", "b"), acked: 2, fed: func(i int) []byte { return []byte{byte('0' + i)} }}
	for _, tt := range []struct {
		got [][]byte
		ok  bool
	}{
		{b("a", "b", "1", "2"), true},
		{b("a", "b", "1", "2", "3"), true},
		{b("a", "b", "1", "2", "3", "4"), false},
		{b("a", "b", "1"), false},
		{b("a", "b"), false},
		{nil, false},
		{b("b", "a", "1", "2"), false},
		{b("a", "b", "2", "1"), false},
		{b("a", "b", "1", "2", "x"), false},
		{b("a", "b", "1", "2", ""), false},
		{b("a", "b", "1", "1", "2"), false},
		{b("a", "1", "2", "3"), false},
	} {
		if err := e.check(tt.got); (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrLost) {
			t.Errorf("%q: %v", tt.got, err)
		}
	}
}

// The plan follows from the seed, and does everything in time.
func TestPlan(t *testing.T) {
	cfg := (&Config{}).complete()
	draws := func() []plan {
		r := rand.New(rand.NewPCG(1, 0))
		var out []plan
		for i := range 200 {
			out = append(out, draw(r, &cfg, i%10 == 0))
		}
		return out
	}
	plans := draws()
	if !reflect.DeepEqual(plans, draws()) {
		t.Error("the same seed has two plans")
	}
	var inRecovery, peer, together, back, last int
	for i, p := range plans {
		if p.inRecovery {
			inRecovery++
			if i%10 == 0 {
				t.Error("a file that is not there is being recovered")
			}
		}
		if p.peer >= 0 {
			peer++
		}
		if p.together {
			together++
		}
		if p.backAtOnce {
			back++
		}
		if p.lastOfFile {
			last++
		}
	}
	if inRecovery < 15 || peer < 40 || together < 15 || back < 50 || last < 10 {
		t.Error(inRecovery, peer, together, back, last)
	}
	if reflect.DeepEqual(record(&cfg, 1, 2), record(&cfg, 2, 1)) || !reflect.DeepEqual(record(&cfg, 1, 2), record(&cfg, 1, 2)) {
		t.Error("records")
	}
}

func TestConfig(t *testing.T) {
	good := Config{Program: "x", Devices: []string{"d"}, Rounds: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for _, x := range []struct {
		f    func(c *Config)
		says string
	}{
		{func(c *Config) { c.Program = "" }, "program"}, {func(c *Config) { c.Devices = nil }, "device"},
		{func(c *Config) { c.F = 8 }, "f is 8"}, {func(c *Config) { c.F = -1 }, "f is -1"}, {func(c *Config) { c.Spares = -1 }, "-1 spare"},
		{func(c *Config) { c.Rounds = 0 }, "0 rounds"}, {func(c *Config) { c.Acks = -1 }, "-1 ack"}, {func(c *Config) { c.Acks = 1 << 62 }, "ack"},
		{func(c *Config) { c.Record = 7 }, "records of at most 7"}, {func(c *Config) { c.Size = 1000 }, "files of 1000"},
		{func(c *Config) { c.Size = 1 << 40 }, "files of"}, {func(c *Config) { c.Patience = 1 }, "a patience of 1ns"},
		{func(c *Config) { c.SessionTTL = -1 }, "--session-ttl"}, {func(c *Config) { c.SessionTTL = time.Minute }, "--session-ttl"},
	} {
		bad := good
		x.f(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%+v: %v, which does not say %q", bad, err, x.says)
		}
	}
}
