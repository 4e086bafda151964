package soft

import (
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// admit is a connection of r's peer, which nobody serves.
func (r *rig) admit(t *testing.T, life uint32) *inbound {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { check(t, here.Close()) })
	return r.d.admit(hello{to: r.q.num, from: 77, psn: 99, life: life, gid: r.d.at.Addr().As16(), port: 9}, there)
}

// to is a request for n bytes at the start of the region.
func (r *rig) to(op verbs.Opcode, seq uint32, n int) request {
	return request{op: op, seq: seq, length: uint32(n), rkey: r.mr.RKey(), addr: r.mr.Addr()}
}

// What is revoked in the middle of a message is revoked for the rest of it.
func TestRevokedMidway(t *testing.T) {
	forbid := verbs.QPAttr{Mask: verbs.AttrAccess}
	for name, x := range map[string]struct {
		revoke verbs.QPAttr
		op     verbs.Opcode
		want   verdict
	}{
		"a Write, by access flags": {forbid, verbs.OpWrite, refused},
		"a Write, by ERR":          {verbs.QPAttr{SetState: true, State: verbs.StateErr}, verbs.OpWrite, gone},
		"a Write, by RESET":        {verbs.QPAttr{SetState: true, State: verbs.StateReset}, verbs.OpWrite, gone},
		"a Read, by access flags":  {forbid, verbs.OpRead, refused},
		"a Read, by ERR":           {verbs.QPAttr{SetState: true, State: verbs.StateErr}, verbs.OpRead, gone},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, verbs.QPConfig{})
			in, req, b := r.admit(t, 0), r.to(x.op, 99, 16), []byte{1, 2, 3, 4, 5, 6, 7, 8}
			piece := func(off int) verdict {
				v, _ := in.place(&req, off, b)
				return v
			}
			if x.op == verbs.OpRead {
				piece = func(off int) verdict {
					v, _ := in.sample(&req, off, b)
					return v
				}
			}
			if v, _ := in.begin(&req); v != goOn {
				t.Fatal(v)
			}
			if v := piece(0); v != goOn {
				t.Fatal(v)
			}
			check(t, r.q.Modify(x.revoke))
			if v := piece(8); v != x.want {
				t.Errorf("the rest ends as %d, want %d", v, x.want)
			}
			if got := r.mem.Bytes()[8]; got != 0 {
				t.Errorf("byte 8 is %d after the revocation", got)
			}
		})
	}
}

// A connection takes the place of another only before the first request: after it, requests
// might be executed twice.
func TestSecondConnection(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	in, req := r.admit(t, 1), r.to(verbs.OpWrite, 99, 8)
	if v, _ := in.begin(&req); v != goOn {
		t.Fatal(v)
	}
	if r.admit(t, 2) != nil || in.dead {
		t.Error("another connection takes the place of one that has made requests")
	}
	in.leave()
	if r.admit(t, 2) != nil {
		t.Error("another connection follows one that has made requests")
	}
	r.again(t)
	if r.admit(t, 2) == nil {
		t.Error("none is taken after a RESET")
	}
}

// A request that is not the next one ends the connection, unless a receive was missing.
func TestOutOfSequence(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	skipped, next := r.to(verbs.OpAtomicWrite, 100, 8), r.to(verbs.OpAtomicWrite, 99, 8)
	payload := []byte{1, 0, 0, 0, 0, 0, 0, 0}
	r.feed(t, append(next.append(append(skipped.append(r.hello()), payload...)), payload...))
	if got := r.mem.Bytes()[0]; got != 0 {
		t.Errorf("byte 0 is %d: a request behind one out of sequence was executed", got)
	}
}

// A requester that takes no answers keeps nobody from its queue pair.
func TestAnswersNotTaken(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	// The answers to the Reads fill the buffer but for 48 bytes, so the third Atomic's overflows.
	b, seq := r.hello(), uint32(99)
	for _, n := range []int{mtu, mtu, mtu, mtu - 96} {
		read := r.to(verbs.OpRead, seq, n)
		b, seq = read.append(b), seq+1
	}
	for range 3 {
		add := r.to(verbs.OpFetchAdd, seq, word)
		add.a = 1
		b, seq = add.append(b), seq+1
	}
	here, there := net.Pipe()
	served, done := make(chan struct{}), make(chan error, 1)
	go func() { r.d.serve(there); close(served) }()
	if _, err := here.Write(b[:helloSize]); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Read(make([]byte, welcomeSize)); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Write(b[helloSize:]); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); atomic.LoadUint64(wordAt(r.mem.Bytes())) != little(3); {
		if time.Now().After(end) {
			t.Fatal("the Atomics are not executed")
		}
	}
	go func() { done <- r.q.Modify(verbs.QPAttr{SetState: true, State: verbs.StateErr}) }()
	select {
	case err := <-done:
		check(t, err)
	case <-time.After(patience):
		t.Error("Modify waits for the requester")
	}
	check(t, here.Close())
	<-served
}

// A cut ends what comes in, also what comes in while the link is cut.
func TestCutEndsInbound(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	in := r.admit(t, 0)
	r.d.setCut(r.q.peer(), true)
	if !in.dead {
		t.Error("a connection outlives the cut")
	}
	if r.admit(t, 1) != nil {
		t.Error("a connection is taken while the link is cut")
	}
	for life := range uint32(200) {
		r.d.setCut(r.q.peer(), false)
		r.q.mu.Lock()
		took := make(chan *inbound)
		go func() { took <- r.admit(t, life+2) }()
		for range 100 {
			runtime.Gosched() // it waits for the lock
		}
		r.d.mu.Lock()
		r.d.cut[r.q.peer()] = true
		r.d.mu.Unlock()
		r.q.mu.Unlock()
		r.q.lose(r.q.peer())
		if in := <-took; in != nil && !in.dead {
			t.Fatalf("connection %d was taken while the link was being cut, and goes on", life)
		}
	}
}
