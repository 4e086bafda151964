package ncl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// service is the service name of a log peer.
const service = "ncl"

// A region is the stamp followed by the data of the file, on the peers and in the
// application's local buffer alike.
const (
	stampSize = 8
	dataAt    = stampSize
)

// op is the operation of a request to a log peer. A request is the op (1 byte), the
// identity of the file (8), the epoch (4), the application and the file (length in 1
// byte, bytes), then for alloc and join the size (8), and for alloc, join and recover
// the endpoint. A collect or revoke is the op alone. All integers are big-endian; every
// request has exactly one encoding.
type op uint8

const (
	opAlloc   op = iota + 1 // set up a region (4.3, step 3)
	opRecover               // look up the region, prepare a fresh region for the copy (4.5.1)
	opSwitch                // point the mr-map to the copy (4.5.1)
	opRelease               // free (4.3)
	opJoin                  // prepare a region for the copy, to replace a failed peer (4.5.2)
	opCollect               // look for leaked regions now, and report the lent bytes (4.5.1)
	opRevoke                // revoke all memory (4.5.2)
)

var opNames = [...]string{opAlloc: "alloc", opRecover: "recover", opSwitch: "switch", opRelease: "release",
	opJoin: "join", opCollect: "collect", opRevoke: "revoke"}

func (o op) String() string { return opNames[o] }

func (o op) hasEndpoint() bool { return o.hasSize() || o == opRecover }

func (o op) alone() bool { return o == opCollect || o == opRevoke }

// windows returns the number of regions that the answer offers: for a recovery the region to
// read and the region to write.
func (o op) windows() int {
	if o == opRecover {
		return 2
	}
	return 1
}

func (o op) hasSize() bool { return o == opAlloc || o == opJoin }

// generation is a file of this name and one of its epochs. Identities grow from
// creation to creation of a name, so the larger generation is the more recent.
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
	b = wire.AppendString(b, r.app)
	b = wire.AppendString(b, r.file)
	if r.op.hasSize() {
		b = binary.BigEndian.AppendUint64(b, uint64(r.size))
	}
	if r.op.hasEndpoint() {
		b = lend.AppendEndpoint(b, r.endpoint)
	}
	return b
}

// decodeRequest accepts exactly the encodings of requests within the limits.
func decodeRequest(b []byte) (request, error) {
	d := wire.NewReader(b)
	r := request{op: op(d.Uint8())}
	if r.op < opAlloc || r.op > opRevoke {
		return r, fmt.Errorf("%w: request %d is unknown", ErrMalformed, r.op)
	}
	if r.op.alone() {
		return r, malformed(d)
	}
	r.id, r.epoch = d.Uint64(), readEpoch(d)
	r.app, r.file = readName(d), readName(d)
	if r.op.hasSize() {
		r.size = readSize(d)
	}
	if r.op.hasEndpoint() {
		r.endpoint = lend.ReadEndpoint(d)
	}
	return r, malformed(d)
}

// entry is the value of a file in the ap-map (4.3, step 4b): its identity and epoch,
// its size, f, whether a recovery is copying it, its peers, and the candidates that are
// being asked to become peers. A file that is being created has no peers yet.
type entry struct {
	generation
	size    int
	f       int
	copying bool // the recovery that began this epoch may need fresh regions on the peers
	peers   []string
	joining []string
}

// created reports whether the creation of the file has finished.
func (e *entry) created() bool { return len(e.peers) > 0 }

// claims reports whether the region of generation g in a peer's mr-map belongs to the
// file, or will once the file is created.
func (e *entry) claims(peer string, g generation) bool {
	return g.id == e.id && slices.Contains(e.peers, peer) || g == e.generation && slices.Contains(e.joining, peer)
}

// fills reports whether the fresh region of generation g on a peer may still be filled.
func (e *entry) fills(peer string, g generation) bool {
	return g == e.generation && (e.copying && slices.Contains(e.peers, peer) || slices.Contains(e.joining, peer))
}

func (e *entry) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, e.id)
	b = binary.BigEndian.AppendUint32(b, e.epoch)
	b = binary.BigEndian.AppendUint64(b, uint64(e.size))
	b = wire.AppendBool(append(b, byte(e.f)), e.copying)
	for _, names := range [][]string{e.peers, e.joining} {
		b = append(b, byte(len(names)))
		for _, p := range names {
			b = wire.AppendString(b, p)
		}
	}
	return b
}

func decodeEntry(b []byte) (entry, error) {
	d := wire.NewReader(b)
	e := entry{generation: generation{d.Uint64(), readEpoch(d)}, size: readSize(d), f: int(d.Uint8()), copying: d.Bool()}
	e.peers, e.joining = readNames(d), readNames(d)
	if err := malformed(d); err != nil {
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

// readEpoch reads an epoch.
func readEpoch(r *wire.Reader) uint32 {
	e := r.Uint32()
	r.Fail(e >= 1 && e <= MaxEpoch)
	return e
}

// readNames reads a list of names, at most the largest number of peers of a file.
func readNames(r *wire.Reader) []string {
	n := int(r.Uint8())
	r.Fail(n <= 2*MaxF+1)
	var out []string
	for i := 0; i < n && r.Left() > 0; i++ {
		out = append(out, readName(r))
	}
	r.Fail(len(out) == n)
	return out
}

func readName(r *wire.Reader) string { return r.String(1, MaxName) }

func readSize(r *wire.Reader) int { return r.Int(1, MaxSize) }

// malformed returns nil if r was read completely and without errors.
func malformed(r *wire.Reader) error {
	if err := r.End(); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}
