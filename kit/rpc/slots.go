package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// A message is the number of its call (8 bytes, big-endian), followed by its content.
// An answer repeats the number of its request.
const header = 8

// slots are the buffers of one end: Credits to send from, and as many to receive into.
type slots struct {
	cfg   Config
	group *lend.Group
	conn  *lend.Conn
	mem   *lend.Memory
	head  [header]byte
	sge   [1]verbs.SGE
	send  [1]verbs.SendWR
	recv  [1]verbs.RecvWR
	quiet int // sends since the last signaled one
}

// sendQueue is the least length of a send queue. One send in half a queue is signaled. The other sends
// need no completion: an answer shows that its request has arrived, and the next request in a slot
// shows that the answer has arrived.
const sendQueue = 32

func newSlots(g *lend.Group, cfg Config) (*slots, error) {
	if cfg.KeepAlive > 0 && g.Timeout != cfg.KeepAlive { // another task may read it
		g.Timeout = cfg.KeepAlive
	}
	mem, err := g.Register(2 * cfg.Credits * (header + cfg.MaxMessage))
	return &slots{cfg: cfg, group: g, mem: mem}, err
}

// queues configures the queue pair. It permits remote writes, for the other end's empty
// Writes; they cannot change memory, since no key exists.
func (c *Config) queues() verbs.QPConfig {
	return verbs.QPConfig{MaxSendWR: c.sends(), MaxRecvWR: c.Credits, MaxSGE: 1, Access: verbs.RemoteWrite}
}

func (c *Config) sends() int { return max(2*c.Credits, sendQueue) }

// at returns the offset of send slot i; the receive slots follow the send slots.
func (s *slots) at(i int) int { return i * (header + s.cfg.MaxMessage) }

func (s *slots) in(i int) int { return s.at(s.cfg.Credits + i) }

// open posts all receives.
func (s *slots) open(conn *lend.Conn) error {
	s.conn = conn
	for i := range s.cfg.Credits {
		if err := s.expect(i); err != nil {
			return err
		}
	}
	return nil
}

// expect posts receive i.
func (s *slots) expect(i int) error {
	s.sge[0] = s.mem.SGE(s.in(i), header+s.cfg.MaxMessage)
	s.recv[0] = verbs.RecvWR{ID: uint64(i), SGL: s.sge[:]}
	return s.conn.PostRecv(s.recv[:])
}

// put sends a message from slot i. It reports whether the card accepted it.
func (s *slots) put(i int, number uint64, content []byte) bool {
	binary.BigEndian.PutUint64(s.head[:], number)
	s.mem.Region.Store(s.at(i), s.head[:])
	if len(content) > 0 {
		s.mem.Region.Store(s.at(i)+header, content)
	}
	s.group.Room(s.conn, 1)
	s.sge[0] = s.mem.SGE(s.at(i), header+len(content))
	s.send[0] = verbs.SendWR{ID: number, Op: verbs.OpSend, SGL: s.sge[:]}
	if s.quiet++; s.quiet >= s.cfg.sends()/2 {
		s.quiet, s.send[0].Flags = 0, verbs.Signaled
	}
	return s.group.Post(s.conn, s.send[:])
}

// receive waits for a message, and probes the other end meanwhile.
func (s *slots) receive() (verbs.WC, error) {
	for {
		wc, err := s.group.Receive(s.conn)
		if !errors.Is(err, verbs.ErrTimeout) || s.conn.Err != nil {
			return wc, err
		}
		if err := s.group.Do(s.conn, verbs.SendWR{Op: verbs.OpWrite}); err != nil {
			return wc, err
		}
	}
}

// take waits for a message, copies it, and returns the slot in which it arrived. After
// an error the connection has failed.
func (s *slots) take() (number uint64, content []byte, i int, err error) {
	wc, err := s.receive()
	if err != nil {
		return 0, nil, 0, err
	}
	return s.content(wc)
}

// content copies the message that arrived with a completion. After an error the connection
// has failed.
func (s *slots) content(wc verbs.WC) (number uint64, content []byte, i int, err error) {
	if wc.ByteLen < header || wc.Op != verbs.WCRecv || wc.ID >= uint64(s.cfg.Credits) {
		err = fmt.Errorf("%w: %v of %d bytes", ErrMalformed, wc.Op, wc.ByteLen)
		s.group.Fail(s.conn, err)
		return 0, nil, 0, err
	}
	i = int(wc.ID)
	s.mem.Region.Load(s.in(i), s.head[:])
	content = make([]byte, wc.ByteLen-header)
	if len(content) > 0 {
		s.mem.Region.Load(s.in(i)+header, content)
	}
	return binary.BigEndian.Uint64(s.head[:]), content, i, nil
}
