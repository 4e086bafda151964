package device

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Both ends create a queue pair again, and use it.
func TestConnectAnew(t *testing.T) {
	x, err := litmus.Parse("anew", []byte(`litmus anew
doc d
source s
rule r
hosts A B
dram B: x
thread A
  s1 = write x <- 1
  tell B go
  destroy A-B
  connect A-B
  r, s2 = read x
thread B
  hear go
  destroy A-B
  connect A-B
exists s1 == SUCCESS && s2 == SUCCESS && r == 1
  * Y
`))
	if err != nil {
		t.Fatal(err)
	}
	rep := compare(t, newFakeNet(false), Config{Runs: 20}, x)[0]
	if !rep.OK() || len(rep.Seen) != 1 || rep.LeftOut != 0 {
		t.Errorf("%+v", rep)
	}
}

// An unused receive and the contents of memory are gone when the next run begins.
func TestNothingIsLeftForTheNextRun(t *testing.T) {
	x, err := litmus.Parse("left", []byte(`litmus left
doc d
source s
rule r
hosts A B
dram B: b x
thread A
  maybe send B <- 1
  maybe write x <- 1
thread B
  maybe p = post recv b
exists b: unset(p) && B:b == 1
  * N
exists x: B:x == 1
  * Y
`))
	if err != nil {
		t.Fatal(err)
	}
	rep := compare(t, newFakeNet(false), Config{Runs: 60, Patience: 100 * time.Millisecond}, x)[0]
	if !rep.OK() || len(rep.Seen) < 4 {
		t.Errorf("%+v", rep)
	}
}

// A test whose set-up fails is skipped; one whose statement is refused is not.
func TestRefusals(t *testing.T) {
	const text = "litmus small\ndoc d\nsource s\nrule r\nhosts A B\ndram B: x[16]\nqp A -> B depth=DEPTH\nthread A\n  write x[4:8] <- 1\nexists B:x[8] == 0\n  * Y\n"
	for depth, want := range map[string]string{"9": "skipped", "2": "ok", "1": "refused"} {
		x, err := litmus.Parse("small", []byte(strings.Replace(text, "DEPTH", depth, 1)))
		if err != nil {
			t.Fatal(err)
		}
		net := newFakeNet(false)
		net.limit, net.unaligned = 8, depth == "1"
		rep := compare(t, net, Config{Runs: 3}, x)[0]
		got := "ok"
		switch {
		case rep.Skipped != "":
			got = "skipped"
		case rep.Refused != nil && !rep.OK() && rep.Differs():
			got = "refused"
		}
		if got != want {
			t.Errorf("depth %s: %s, %+v", depth, got, rep)
		}
	}
}

func TestConfigValidate(t *testing.T) {
	cards := newFakeNet(false).cards(1)
	for want, c := range map[string]Config{
		"Devices is empty":  {},
		"Runs is -1":        {Devices: cards, Runs: -1},
		"MaxTime is -1s":    {Devices: cards, MaxTime: -time.Second},
		"Patience -1ns":     {Devices: cards, Patience: -1},
		"did you mean rxe?": {Devices: cards, Profile: "rxf"},
	} {
		if _, err := NewRig(c); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestReadKnown(t *testing.T) {
	got, err := ReadKnown("f", strings.NewReader("# why\n\n a | B:x=1 * | because \n"))
	if diff := cmp.Diff([]Known{{"a", "B:x=1 *", "because"}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, bad := range []string{"a|b", "a||c", "a|b|c|d", "ok|s|w\n|b|c"} {
		if _, err := ReadKnown("f", strings.NewReader(bad)); !errors.Is(err, ErrKnown) || !strings.Contains(err.Error(), "f:") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestKnownPatterns(t *testing.T) {
	for _, x := range []struct {
		pattern, s string
		want       bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*", "", true}, {"*b", "ab", true}, {"*b", "abc", false},
		{"a*c*e", "abcde", true}, {"a*c*e", "abcd", false}, {"*=-*", "A.r=1 A.s=- B:x=1", true}, {"*=-*", "A.r=1", false},
	} {
		if got := like(x.pattern, x.s); got != x.want {
			t.Errorf("%q, %q: %v", x.pattern, x.s, got)
		}
	}
}

// The delays are derived from the seed, and from nothing else.
func TestPausesFollowFromTheSeed(t *testing.T) {
	draw := func(seed uint64, test string, run int) (out [3]uint64) {
		p := newPauses(seed, test, run, 3)
		for i := range out {
			out[i] = p.rand[i].Uint64() + uint64(p.shift[i])
		}
		return out
	}
	a := draw(1, "t", 2)
	if a != draw(1, "t", 2) {
		t.Error("the same seed, other delays")
	}
	for _, b := range [][3]uint64{draw(2, "t", 2), draw(1, "u", 2), draw(1, "t", 3)} {
		if a == b {
			t.Error("another seed, the same delays")
		}
	}
	if a[0] == a[1] {
		t.Error("two threads with the same delays")
	}
}

func TestMessages(t *testing.T) {
	x := &lang.Test{Name: "t", Hosts: []string{"A", "B"}}
	r, err := NewRig(Config{Devices: newFakeNet(false).cards(1), Patience: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	net := newNetwork(r.cfg.Patience)
	hosts, err := r.hosts(x, net)
	if err != nil {
		t.Fatal(err)
	}
	a, b := hosts[0], hosts[1]
	if _, err := a.Call("B", "s", nil, verbs.Forever); !errors.Is(err, host.ErrUnreachable) {
		t.Error(err)
	}
	l, err := b.Listen("s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Listen("s"); err == nil {
		t.Error("two listeners")
	}
	if _, err := l.Accept(0); !errors.Is(err, host.ErrTimeout) {
		t.Error(err)
	}
	b.Go("serve", func() {
		for range 3 {
			req, err := l.Accept(10 * time.Second)
			switch {
			case err != nil:
				t.Error(err)
			case string(req.Body()) == "no":
				req.Reject("because")
			default:
				req.Reply(append([]byte(req.From()), req.Body()...))
				req.Reply(nil)
			}
		}
	})
	if got, err := a.Call("B", "s", []byte("x"), 10*time.Second); string(got) != "Ax" || err != nil {
		t.Error(got, err)
	}
	var remote *host.RemoteError
	if _, err := a.Call("B", "s", []byte("no"), 10*time.Second); !errors.As(err, &remote) {
		t.Error(err)
	}
	g := a.Gather([]host.Call{{To: "C", Service: "s"}, {To: "B", Service: "s", Body: []byte("y")}}, 10*time.Second)
	if got := g.Wait(1); !errors.Is(got[0].Err, host.ErrUnreachable) || string(got[1].Body) != "Ay" {
		t.Error(got)
	}
	if _, err := a.Call("B", "s", nil, verbs.Forever); !errors.Is(err, host.ErrTimeout) {
		t.Error(err) // nobody answers, and nothing waits forever
	}
	for _, cut := range []bool{true, false} { // with the one before, one request waits, and then two
		net.setCut("B", "A", cut)
		if _, err := a.Call("B", "s", []byte{1}, time.Millisecond); !errors.Is(err, host.ErrTimeout) {
			t.Error(cut, err)
		}
	}
	net.setCut("A", "B", true)
	for _, body := range []string{"", "\x01"} {
		req, err := l.Accept(0)
		if err != nil || string(req.Body()) != body {
			t.Fatalf("%q %v; want %q", req, err, body)
		}
		if req.Reply(nil); len(req.(*message).answer) > 0 {
			t.Error("an answer passes a cut link")
		}
	}
	if req, err := l.Accept(0); !errors.Is(err, host.ErrTimeout) {
		t.Errorf("%v %v: a request passed a cut link", req, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
