package ncl

import (
	"encoding/binary"
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// service is the name under which a log peer listens.
const service = "ncl"

// A region is the stamp and then the data of the file, on the peers and in the
// application's local buffer alike.
const (
	stampSize = 8
	dataAt    = stampSize
)

// op is a request to a log peer. A request is the op (1 byte), the epoch (4),
// the application and the file (length in 1 byte, bytes), and then for alloc the
// size (8), for alloc and recover the endpoint. All integers are big-endian;
// every request has one encoding.
type op uint8

const (
	opAlloc   op = iota + 1 // set up a region (4.3, step 3)
	opRecover               // find the region again, prepare one to copy to (4.5.1)
	opSwitch                // point the mr-map to the copy (4.5.1)
	opRelease               // free (4.3)
)

var opNames = [...]string{opAlloc: "alloc", opRecover: "recover", opSwitch: "switch", opRelease: "release"}

func (o op) String() string { return opNames[o] }

func (o op) hasEndpoint() bool { return o == opAlloc || o == opRecover }

// request is a decoded request.
type request struct {
	op        op
	epoch     uint32
	app, file string
	size      int            // alloc
	endpoint  verbs.Endpoint // alloc, recover: the application's queue pair
}

func (r *request) encode() []byte {
	b := make([]byte, 0, 1+4+1+len(r.app)+1+len(r.file)+8+verbs.EndpointSize)
	b = append(b, byte(r.op))
	b = binary.BigEndian.AppendUint32(b, r.epoch)
	b = appendString(b, r.app)
	b = appendString(b, r.file)
	if r.op == opAlloc {
		b = binary.BigEndian.AppendUint64(b, uint64(r.size))
	}
	if r.op.hasEndpoint() {
		b = appendEndpoint(b, r.endpoint)
	}
	return b
}

// decodeRequest accepts what encode makes of a request within the limits, and
// nothing else.
func decodeRequest(b []byte) (request, error) {
	d := decoder{b: b}
	r := request{op: op(d.uint8())}
	if r.op < opAlloc || r.op > opRelease {
		return r, fmt.Errorf("%w: request %d is unknown", ErrMalformed, r.op)
	}
	r.epoch = d.epoch()
	r.app, r.file = d.name(), d.name()
	if r.op == opAlloc {
		r.size = d.size()
	}
	if r.op.hasEndpoint() {
		r.endpoint = d.endpoint()
	}
	return r, d.end()
}

// window is remote memory: where it is, its key and its size in bytes.
type window struct {
	addr uint64
	key  uint32
	size int // of the data, without the stamp
}

func appendWindow(b []byte, w window) []byte {
	b = binary.BigEndian.AppendUint64(b, w.addr)
	b = binary.BigEndian.AppendUint32(b, w.key)
	return binary.BigEndian.AppendUint64(b, uint64(w.size))
}

// offer is a peer's answer to alloc and recover: its end of the connection, the
// region to write to, and for recover before it the one to read from.
type offer struct {
	endpoint       verbs.Endpoint
	current, fresh window // alloc gives fresh only
}

func (o *offer) encode(to op) []byte {
	b := make([]byte, 0, verbs.EndpointSize+2*(8+4+8))
	b = appendEndpoint(b, o.endpoint)
	if to == opRecover {
		b = appendWindow(b, o.current)
	}
	return appendWindow(b, o.fresh)
}

func decodeOffer(b []byte, to op) (offer, error) {
	d := decoder{b: b}
	o := offer{endpoint: d.endpoint()}
	if to == opRecover {
		o.current = d.window()
	}
	o.fresh = d.window()
	return o, d.end()
}

// entry is the value of a file in the ap-map (4.3, step 4b): its epoch, its
// size, f and its peers.
type entry struct {
	epoch uint32
	size  int
	f     int
	peers []string
}

func (e *entry) encode() []byte {
	b := binary.BigEndian.AppendUint32(nil, e.epoch)
	b = binary.BigEndian.AppendUint64(b, uint64(e.size))
	b = append(b, byte(e.f))
	for _, p := range e.peers {
		b = appendString(b, p)
	}
	return b
}

func decodeEntry(b []byte) (entry, error) {
	d := decoder{b: b}
	e := entry{epoch: d.epoch(), size: d.size(), f: int(d.uint8())}
	if e.f > MaxF {
		d.bad = true
	}
	for i := 0; i < 2*e.f+1 && !d.bad; i++ {
		e.peers = append(e.peers, d.name())
	}
	if err := d.end(); err != nil {
		return e, err
	}
	if err := validatePeers(e.f, e.peers); err != nil {
		return e, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return e, nil
}

func appendString(b []byte, s string) []byte {
	b = append(b, byte(len(s)))
	return append(b, s...)
}

func appendEndpoint(b []byte, e verbs.Endpoint) []byte {
	b, _ = e.AppendBinary(b) // its error is there for an interface and always nil
	return b
}

// decoder takes values off the front of b. After the first that is not there or
// not within the limits it is bad, and gives zeros.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n int) []byte {
	if d.bad || len(d.b) < n {
		d.bad = true
		return make([]byte, n)
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) uint8() uint8   { return d.take(1)[0] }
func (d *decoder) uint32() uint32 { return binary.BigEndian.Uint32(d.take(4)) }
func (d *decoder) uint64() uint64 { return binary.BigEndian.Uint64(d.take(8)) }

func (d *decoder) epoch() uint32 {
	e := d.uint32()
	if e == 0 || e > MaxEpoch {
		d.bad = true
	}
	return e
}

func (d *decoder) size() int {
	n := d.uint64()
	if n == 0 || n > MaxSize {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *decoder) name() string {
	s := string(d.take(int(d.uint8())))
	if !validName(s) {
		d.bad = true
	}
	return s
}

func (d *decoder) endpoint() (e verbs.Endpoint) {
	if e.UnmarshalBinary(d.take(verbs.EndpointSize)) != nil {
		d.bad = true
	}
	return e
}

func (d *decoder) window() window {
	return window{addr: d.uint64(), key: d.uint32(), size: d.size()}
}

// end is nil if all was read and all was good.
func (d *decoder) end() error {
	if d.bad || len(d.b) > 0 {
		return ErrMalformed
	}
	return nil
}
