package etcd_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/etcd"
	"github.com/verbatim-rdma/verbatim/coord/etcd/etcdtest"
)

// slack is what a busy machine may add to a timeout.
const slack = 5 * time.Second

// A stopped server: every call returns in time, with an error that leaves its effect
// open. The request is carried out at most once, even when the server resumes.
func TestServerStandsStill(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	cfg := s.config()
	patient := newClient(t, cfg)
	cfg.CallTimeout = 100 * time.Millisecond
	c := newClient(t, cfg)
	for _, key := range []string{"k", "gone"} {
		if err := patient.Create(key, nil, coord.NoSession); err != nil {
			t.Fatal(err)
		}
	}
	s.Stop()
	began := time.Now()
	errs := operations(c)
	took := time.Since(began)
	s.Continue()
	for op, err := range errs {
		if !errors.Is(err, coord.ErrUnavailable) || !strings.Contains(err.Error(), s.Endpoint) {
			t.Errorf("%s: got %v, want ErrUnavailable with the endpoint", op, err)
		}
	}
	if limit := time.Duration(len(errs))*cfg.CallTimeout + slack; took > limit {
		t.Errorf("%d calls took %v, more than %v", len(errs), took, limit)
	}
	if version, err := patient.Set("k", []byte("after"), coord.AnyVersion); err != nil || version < 2 || version > 3 {
		t.Errorf("after one set without an answer the next has version %d, %v", version, err)
	}
	if err := patient.Create("new", nil, coord.NoSession); err != nil && !errors.Is(err, coord.ErrExists) {
		t.Errorf("create: %v", err)
	}
}

// Writers count with compare-and-set while the server is killed and restarted. No
// version is returned twice, and no acknowledged one is lost.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	cfg := s.config()
	c := newClient(t, cfg)
	if err := c.Create("k", nil, coord.NoSession); err != nil {
		t.Fatal(err)
	}
	session := newSession(t, c)
	if err := c.Create("ephemeral", nil, session); err != nil {
		t.Fatal(err)
	}
	acked, unknown := map[uint64]bool{}, 0
	for round := 0; round < 10 && unknown == 0; round++ { // whether a call is under way at a kill is chance
		counters := make([]*counter, 3)
		var wg sync.WaitGroup
		restarted := make(chan struct{})
		for i := range counters {
			counters[i] = &counter{c: newClient(t, cfg), blind: i == 0, before: make(chan struct{}), after: restarted}
			wg.Go(counters[i].run)
		}
		for _, n := range counters {
			<-n.before
		}
		s.Restart()
		close(restarted)
		wg.Wait()
		for _, n := range counters {
			if n.err != nil {
				t.Error(n.err)
			}
			unknown += n.unknown
			for _, v := range n.acked {
				if acked[v] {
					t.Errorf("version %d was given to two writers", v)
				}
				acked[v] = true
			}
		}
	}
	_, last, err := c.Get("k")
	if err != nil {
		t.Fatal(err)
	}
	least := coord.FirstVersion + uint64(len(acked))
	if last < least || last > least+uint64(unknown) {
		t.Errorf("the key has version %d; %d sets were acknowledged and %d had no answer", last, len(acked), unknown)
	}
	t.Logf("%d sets acknowledged, %d without an answer, version %d", len(acked), unknown, last)
	if unknown == 0 {
		t.Error("no call met the kill")
	}
	if err := c.CheckSession(session); err != nil {
		t.Errorf("the session has not outlived a restart of the server: %v", err)
	}
	if _, _, err := c.Get("ephemeral"); err != nil {
		t.Errorf("its key: %v", err)
	}
}

// counter adds one to a key until it is answered after the restart.
type counter struct {
	c      coord.Client
	blind  bool          // does not look first, so it is always within a Set
	before chan struct{} // closed after some sets
	after  chan struct{} // closed after the restart

	acked   []uint64
	unknown int
	err     error
}

func (n *counter) run() {
	for deadline := time.Now().Add(time.Minute); n.err == nil; {
		last := closed(n.after)
		version, err := n.add()
		switch {
		case err == nil && last:
			n.acked = append(n.acked, version)
			return
		case err == nil:
			if n.acked = append(n.acked, version); len(n.acked) == 10 {
				close(n.before)
			}
		case errors.Is(err, coord.ErrUnavailable):
			n.unknown++
		case !errors.Is(err, coord.ErrVersion):
			n.err = err
		}
		if time.Now().After(deadline) {
			n.err = fmt.Errorf("not done in time; last: %v", err)
		}
	}
}

func (n *counter) add() (uint64, error) {
	version := coord.AnyVersion
	if !n.blind {
		var err error
		if _, version, err = n.c.Get("k"); err != nil {
			return 0, err
		}
	}
	return n.c.Set("k", nil, version)
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// No server from the start: an error in time that names the endpoint.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	nowhere, _ := etcdtest.FreePorts(t)
	cfg := etcd.Config{Endpoints: []string{nowhere}, Name: "a", CallTimeout: 100 * time.Millisecond}
	c := newClient(t, cfg)
	began := time.Now()
	for op, err := range operations(c) {
		if !errors.Is(err, coord.ErrUnavailable) || !strings.Contains(err.Error(), nowhere+": no answer in 100ms") {
			t.Errorf("%s: got %v", op, err)
		}
	}
	cfg.User, cfg.Password = "u", "p"
	if _, err := etcd.New(cfg); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("login: got %v", err)
	}
	if took := time.Since(began); took > 10*cfg.CallTimeout+slack {
		t.Errorf("it took %v", took)
	}
}
