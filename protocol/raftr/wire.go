package raftr

import (
	"encoding/binary"
	"fmt"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/verbatim-rdma/verbatim/codec/wire"
)

// The messages of the library have our own encoding: exactly one for each message, with bounds, and only
// for the messages of this protocol. Sender and receiver follow from the connection.

// kinds are the messages that nodes send each other, by their numbers on the wire.
var kinds = [...]pb.MessageType{pb.MsgApp, pb.MsgAppResp, pb.MsgVote, pb.MsgVoteResp, pb.MsgHeartbeat, pb.MsgHeartbeatResp}

const (
	// messageHead is the size of a message without its entries: kind, term, log term, index, commit,
	// reject, hint, context, and the number of entries.
	messageHead = 1 + 4*8 + 1 + 8 + 8 + 4
	// entryHead is the size of an entry without its data: term and length. The index follows from the place.
	entryHead = 8 + 4
	// maxNumber bounds terms and indices, so that the next one is a number too.
	maxNumber = 1 << 62
)

// size returns the number of bytes of an encoded message.
func size(m *pb.Message) int {
	n := messageHead
	for _, e := range m.GetEntries() {
		n += entryHead + len(e.GetData())
	}
	return n
}

// appendMessage appends the encoding of m. The context is empty, or one number.
func appendMessage(b []byte, m *pb.Message) []byte {
	kind := byte(0)
	for i, t := range kinds {
		if t == m.GetType() {
			kind = byte(i)
		}
	}
	b = append(b, kind)
	for _, n := range []uint64{m.GetTerm(), m.GetLogTerm(), m.GetIndex(), m.GetCommit()} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	b = wire.AppendBool(b, m.GetReject())
	b = binary.BigEndian.AppendUint64(b, m.GetRejectHint())
	b = binary.BigEndian.AppendUint64(b, confirms(m))
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.GetEntries())))
	for _, e := range m.GetEntries() {
		b = binary.BigEndian.AppendUint64(b, e.GetTerm())
		b = binary.BigEndian.AppendUint32(b, uint32(len(e.GetData())))
		b = append(b, e.GetData()...)
	}
	return b
}

// confirms returns the number of reads that a heartbeat is to confirm, or that its answer confirms: the library
// keeps the number in the context.
func confirms(m *pb.Message) uint64 {
	if len(m.GetContext()) != 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(m.GetContext())
}

// decodeMessages decodes the messages of one call or answer. The error wraps [ErrMalformed].
func (c *Config) decodeMessages(b []byte) ([]*pb.Message, error) {
	r := wire.NewReader(b)
	var out []*pb.Message
	for r.Left() > 0 {
		m := c.readMessage(r)
		if m == nil {
			return nil, fmt.Errorf("%w: message %d of a call of %d bytes", ErrMalformed, len(out)+1, len(b))
		}
		out = append(out, m)
	}
	return out, nil
}

// readMessage reads a message; nil: it is malformed.
func (c *Config) readMessage(r *wire.Reader) *pb.Message {
	kind := int(r.Uint8())
	r.Fail(kind < len(kinds))
	number := func() *uint64 {
		n := r.Uint64()
		r.Fail(n <= maxNumber)
		return &n
	}
	m := &pb.Message{Term: number(), LogTerm: number(), Index: number(), Commit: number()}
	reject := r.Bool()
	m.Reject, m.RejectHint = &reject, number()
	if n := *number(); n > 0 {
		m.Context = binary.LittleEndian.AppendUint64(nil, n)
	}
	for i := range r.Uint32() {
		term, n := number(), r.Uint32()
		r.Fail(n <= uint32(c.maxCommand()))
		data := r.Take(int(n))
		if data == nil { // the rest is too short, so the number of entries may be invalid
			return nil
		}
		index := *m.Index + 1 + uint64(i)
		m.Entries = append(m.Entries, &pb.Entry{Term: term, Index: &index, Data: data})
	}
	if bad(r) {
		return nil
	}
	m.Type = kinds[kind].Enum()
	return m
}

// bad reports whether the bytes that r has read so far are malformed.
func bad(r *wire.Reader) bool { return r.Take(0) == nil }

// A command is the content of a log entry: an operation of a client. The entry with which a leader begins
// its term is empty.
type command struct {
	op         op
	session    uint64 // 0: none
	seq        uint64 // number of the write in its session, from 1
	key, value string
}

type op uint8

const (
	opOpen op = iota // a session
	opPut
	opGet // only in requests of clients
	ops
)

const commandHead = 1 + 8 + 8 + 1 // operation, session, number, length of the key

func (c *Config) maxCommand() int { return commandHead + MaxKey + c.Value }

func (x *command) encode() []byte {
	b := append(make([]byte, 0, commandHead+len(x.key)+len(x.value)), byte(x.op))
	b = binary.BigEndian.AppendUint64(b, x.session)
	b = binary.BigEndian.AppendUint64(b, x.seq)
	b = wire.AppendString(b, x.key)
	return append(b, x.value...)
}

// decodeCommand decodes a command. The error wraps [ErrMalformed].
func decodeCommand(b []byte) (*command, error) {
	r := wire.NewReader(b)
	x := &command{op: op(r.Uint8()), session: r.Uint64(), seq: r.Uint64(), key: r.String(0, MaxKey)}
	r.Fail(x.op < ops)
	x.value = string(r.Take(r.Left()))
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("%w: a command of %d bytes", ErrMalformed, len(b))
	}
	return x, nil
}

// A reply answers a client's request.
type reply struct {
	status status
	found  bool
	number uint64 // of the session that was opened
	text   string // the value, or the name of the presumed leader, or an error
}

type status uint8

const (
	done status = iota
	notLeader
	unknown // it may have been carried out
	refused // it was not, and never will be
	statuses
)

func (x *reply) encode() []byte {
	b := wire.AppendBool([]byte{byte(x.status)}, x.found)
	b = binary.BigEndian.AppendUint64(b, x.number)
	return append(b, x.text...)
}

func decodeReply(b []byte) (*reply, error) {
	r := wire.NewReader(b)
	x := &reply{status: status(r.Uint8()), found: r.Bool(), number: r.Uint64()}
	r.Fail(x.status < statuses)
	x.text = string(r.Take(r.Left()))
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("%w: an answer of %d bytes", ErrMalformed, len(b))
	}
	return x, nil
}
