package ncl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

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

// op is a request to a log peer. A request is the op (1 byte), the identity of the file
// (8), the epoch (4), the application and the file (length in 1 byte, bytes), and then
// for alloc and join the size (8), for alloc, join and recover the endpoint. A collect
// or revoke is the op alone. All integers are big-endian; every request has one
// encoding.
type op uint8

const (
	opAlloc   op = iota + 1 // set up a region (4.3, step 3)
	opRecover               // find the region again, prepare one to copy to (4.5.1)
	opSwitch                // point the mr-map to the copy (4.5.1)
	opRelease               // free (4.3)
	opJoin                  // prepare a region to copy to, in the place of a failed peer (4.5.2)
	opCollect               // look for leaked regions now, and say how much is lent (4.5.1)
	opRevoke                // take all memory back (4.5.2)
)

var opNames = [...]string{opAlloc: "alloc", opRecover: "recover", opSwitch: "switch", opRelease: "release",
	opJoin: "join", opCollect: "collect", opRevoke: "revoke"}

func (o op) String() string { return opNames[o] }

func (o op) hasEndpoint() bool { return o.hasSize() || o == opRecover }

func (o op) alone() bool { return o == opCollect || o == opRevoke }

func (o op) hasSize() bool { return o == opAlloc || o == opJoin }

// generation is a file of this name and one of its epochs. Identities grow from one
// creation of a name to the next, so the larger generation is the more recent.
type generation struct {
	id    uint64
	epoch uint32
}

func (g generation) newerThan(o generation) bool {
	return g.id > o.id || g.id == o.id && g.epoch > o.epoch
}

// request is a decoded request.
type request struct {
	op op
	generation
	app, file string
	size      int            // alloc, join
	endpoint  verbs.Endpoint // alloc, join, recover: the application's queue pair
}

func (r *request) encode() []byte {
	b := make([]byte, 0, 1+8+4+1+len(r.app)+1+len(r.file)+8+verbs.EndpointSize)
	b = append(b, byte(r.op))
	if r.op.alone() {
		return b
	}
	b = binary.BigEndian.AppendUint64(b, r.id)
	b = binary.BigEndian.AppendUint32(b, r.epoch)
	b = appendString(b, r.app)
	b = appendString(b, r.file)
	if r.op.hasSize() {
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
	if r.op < opAlloc || r.op > opRevoke {
		return r, fmt.Errorf("%w: request %d is unknown", ErrMalformed, r.op)
	}
	if r.op.alone() {
		return r, d.end()
	}
	r.id, r.epoch = d.uint64(), d.epoch()
	r.app, r.file = d.name(), d.name()
	if r.op.hasSize() {
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

// offer is a peer's answer to alloc, join and recover: its end of the connection, the
// region to write to, and for recover before it the one to read from.
type offer struct {
	endpoint       verbs.Endpoint
	current, fresh window // current is for recover only
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

// entry is the value of a file in the ap-map (4.3, step 4b): which file it is and
// its epoch, its size, f, whether a recovery copies it, its peers, and those that are
// asked to become peers. A file that is being created has no peers yet.
type entry struct {
	generation
	size    int
	f       int
	copying bool // the recovery that began this epoch may need fresh regions on the peers
	peers   []string
	joining []string
}

// created reports whether the creation of the file came to its end.
func (e *entry) created() bool { return len(e.peers) > 0 }

// claims reports whether the region of generation g in a peer's mr-map is the file's, or
// will be once the file is created.
func (e *entry) claims(peer string, g generation) bool {
	return g.id == e.id && slices.Contains(e.peers, peer) || g == e.generation && slices.Contains(e.joining, peer)
}

// fills reports whether somebody may still fill the fresh region of generation g on a peer.
func (e *entry) fills(peer string, g generation) bool {
	return g == e.generation && (e.copying && slices.Contains(e.peers, peer) || slices.Contains(e.joining, peer))
}

func (e *entry) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, e.id)
	b = binary.BigEndian.AppendUint32(b, e.epoch)
	b = binary.BigEndian.AppendUint64(b, uint64(e.size))
	b = append(b, byte(e.f), 0)
	if e.copying {
		b[len(b)-1] = 1
	}
	for _, names := range [][]string{e.peers, e.joining} {
		b = append(b, byte(len(names)))
		for _, p := range names {
			b = appendString(b, p)
		}
	}
	return b
}

func decodeEntry(b []byte) (entry, error) {
	d := decoder{b: b}
	e := entry{generation: generation{d.uint64(), d.epoch()}, size: d.size(), f: int(d.uint8()), copying: d.bool()}
	e.peers, e.joining = d.names(), d.names()
	if err := d.end(); err != nil {
		return e, err
	}
	err := validatePeers(e.joining)
	if err == nil && e.created() {
		if err = validatePeers(e.peers); len(e.peers) != 2*e.f+1 {
			err = fmt.Errorf("%d peers for f = %d", len(e.peers), e.f)
		}
	}
	if err != nil || e.f > MaxF {
		return e, fmt.Errorf("%w: %w", ErrMalformed, errors.Join(err, validateF(e.f)))
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

func (d *decoder) bool() bool {
	n := d.uint8()
	d.bad = d.bad || n > 1
	return n == 1
}

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

// names are at most as many as a file can have peers.
func (d *decoder) names() []string {
	n := int(d.uint8())
	if n > 2*MaxF+1 {
		d.bad = true
	}
	var out []string
	for i := 0; i < n && !d.bad; i++ {
		out = append(out, d.name())
	}
	return out
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
