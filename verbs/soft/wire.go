package soft

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// The content of a TCP connection; all numbers are big-endian:
//
//	requester: hello, then requests, each followed by its payload
//	responder: welcome, then answers, those of kind data followed by their payload
//
// Every part has a fixed length, except the payloads. A payload is read in pieces of one
// packet, so a peer cannot cause an allocation by announcing a length.
const (
	version     = 1
	helloSize   = 42
	welcomeSize = 8
	requestSize = 48
	answerSize  = 12
	maxMessage  = 1 << 30 // bytes of a request
)

var magic = [4]byte{'V', 'S', 'F', 'T'}

// errProtocol: the bytes of a connection violate the protocol.
var errProtocol = errors.New("soft: the peer breaks the protocol")

// errRefused: the peer has no queue pair for this connection, or none yet.
var errRefused = errors.New("soft: the peer accepts no connection")

// hello names the queue pair that connects, and the queue pair of the peer.
type hello struct {
	to, from uint32 // queue pair numbers
	psn      uint32 // of the first request
	life     uint32 // counts the connections of the requester: a late one never replaces a newer one
	gid      [16]byte
	port     uint16
}

func (h *hello) append(b []byte) []byte {
	b = append(b, magic[:]...)
	b = binary.BigEndian.AppendUint32(b, version)
	b = binary.BigEndian.AppendUint32(b, h.to)
	b = binary.BigEndian.AppendUint32(b, h.from)
	b = binary.BigEndian.AppendUint32(b, h.psn)
	b = binary.BigEndian.AppendUint32(b, h.life)
	b = append(b, h.gid[:]...)
	return binary.BigEndian.AppendUint16(b, h.port)
}

func parseHello(b []byte) (h hello, err error) {
	if no, err := preamble(b, helloSize); err != nil || no != 0 {
		return h, errors.Join(errProtocol, err)
	}
	h.to = binary.BigEndian.Uint32(b[8:])
	h.from = binary.BigEndian.Uint32(b[12:])
	h.psn = binary.BigEndian.Uint32(b[16:])
	h.life = binary.BigEndian.Uint32(b[20:])
	copy(h.gid[:], b[24:])
	h.port = binary.BigEndian.Uint16(b[40:])
	return h, nil
}

// preamble checks the magic and the version at the start of hello and welcome, and returns
// the field between them.
func preamble(b []byte, size int) (uint16, error) {
	if len(b) != size || !bytes.Equal(b[:4], magic[:]) {
		return 0, fmt.Errorf("%w: the peer is not a soft device", errProtocol)
	}
	if v := binary.BigEndian.Uint16(b[6:]); v != version {
		return 0, fmt.Errorf("%w: the peer has version %d of the protocol, this device has %d", errProtocol, v, version)
	}
	return binary.BigEndian.Uint16(b[4:]), nil
}

// appendWelcome answers a hello: the field before the version is 0, or 1 if the hello is refused.
func appendWelcome(b []byte, refused bool) []byte {
	v := uint32(version)
	if refused {
		v |= 1 << 16
	}
	return binary.BigEndian.AppendUint32(append(b, magic[:]...), v)
}

func parseWelcome(b []byte) error {
	no, err := preamble(b, welcomeSize)
	if err == nil && no != 0 {
		err = errRefused
	}
	return err
}

// request is the head of a work request.
type request struct {
	op     verbs.Opcode
	flush  verbs.Access // of a Flush: its kinds
	whole  bool         // of a Flush: the whole region
	seq    uint32
	length uint32 // of the payload, or of the range of a Read or a Flush
	rkey   uint32
	addr   uint64
	imm    uint32
	a, b   uint64 // compare and swap, or add
}

func (r *request) append(b []byte) []byte {
	var flags byte
	if r.whole {
		flags = 1
	}
	b = append(b, byte(r.op), byte(r.flush), flags, 0)
	b = binary.BigEndian.AppendUint32(b, r.seq)
	b = binary.BigEndian.AppendUint32(b, r.length)
	b = binary.BigEndian.AppendUint32(b, r.rkey)
	b = binary.BigEndian.AppendUint64(b, r.addr)
	b = binary.BigEndian.AppendUint32(b, r.imm)
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint64(b, r.a)
	return binary.BigEndian.AppendUint64(b, r.b)
}

// parseRequest reads a head, and refuses a head that no requester of this version sends.
func parseRequest(b []byte) (r request, err error) {
	if len(b) != requestSize {
		return r, fmt.Errorf("%w: a request of %d bytes", errProtocol, len(b))
	}
	r = request{op: verbs.Opcode(b[0]), flush: verbs.Access(b[1]), whole: b[2] == 1, seq: binary.BigEndian.Uint32(b[4:]),
		length: binary.BigEndian.Uint32(b[8:]), rkey: binary.BigEndian.Uint32(b[12:]), addr: binary.BigEndian.Uint64(b[16:]),
		imm: binary.BigEndian.Uint32(b[24:]), a: binary.BigEndian.Uint64(b[32:]), b: binary.BigEndian.Uint64(b[40:])}
	switch {
	case !r.op.Valid():
		err = fmt.Errorf("%w: opcode %d", errProtocol, b[0])
	case b[2] > 1 || b[3] != 0 || binary.BigEndian.Uint32(b[28:]) != 0:
		err = fmt.Errorf("%w: reserved bits are set", errProtocol)
	case r.op == verbs.OpFlush && !r.flush.FlushesTo(), r.op != verbs.OpFlush && (r.flush != 0 || r.whole):
		err = fmt.Errorf("%w: a %v that flushes %#x", errProtocol, r.op, b[1])
	case !r.op.Fits(int(r.length)):
		err = fmt.Errorf("%w: a %v of %d bytes", errProtocol, r.op, r.length)
	case r.op != verbs.OpFlush && r.length > maxMessage:
		err = fmt.Errorf("%w: a %v of %d bytes", errProtocol, r.op, r.length)
	}
	return r, err
}

// payload returns the number of bytes after the head.
func (r *request) payload() int {
	switch r.op {
	case verbs.OpWrite, verbs.OpWriteImm, verbs.OpSend, verbs.OpSendImm, verbs.OpAtomicWrite:
		return int(r.length)
	}
	return 0
}

// kind is the kind of an answer. Each answer acknowledges all requests before its own.
type kind uint8

const (
	ack  kind = iota + 1 // the request is complete
	data                 // a piece of the result of a Read or an Atomic follows; the last piece is an ack too
	nak                  // the request is refused
	rnr                  // there is no receive for the request: resend it and all later ones
)

type answer struct {
	kind   kind
	status verbs.Status // of a nak
	seq    uint32
	length uint32 // of the payload
}

func (a *answer) append(b []byte) []byte {
	b = append(b, byte(a.kind), byte(a.status), 0, 0)
	b = binary.BigEndian.AppendUint32(b, a.seq)
	return binary.BigEndian.AppendUint32(b, a.length)
}

// parseAnswer reads an answer, and refuses an answer that no responder of this version sends.
func parseAnswer(b []byte) (a answer, err error) {
	if len(b) != answerSize {
		return a, fmt.Errorf("%w: an answer of %d bytes", errProtocol, len(b))
	}
	a = answer{kind(b[0]), verbs.Status(b[1]), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])}
	refusal := a.status == verbs.StatusRemAccessErr || a.status == verbs.StatusRemInvReqErr || a.status == verbs.StatusRemOpErr
	switch {
	case a.kind < ack || a.kind > rnr:
		err = fmt.Errorf("%w: an answer of kind %d", errProtocol, b[0])
	case b[2] != 0 || b[3] != 0:
		err = fmt.Errorf("%w: reserved bits are set", errProtocol)
	case (a.kind == nak) != refusal || a.kind != nak && a.status != 0:
		err = fmt.Errorf("%w: an answer of kind %d with %v", errProtocol, b[0], a.status)
	case (a.kind == data) != (a.length > 0) || a.length > mtu:
		err = fmt.Errorf("%w: an answer of kind %d with %d bytes", errProtocol, b[0], a.length)
	}
	return a, err
}
