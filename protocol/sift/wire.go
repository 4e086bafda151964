package sift

import (
	"encoding/binary"
	"fmt"

	"github.com/verbatim-rdma/verbatim/codec/wire"
)

// service is the name under which memory nodes accept connections.
const service = "sift"

// door is a region of a memory node to connect to.
type door uint8

const (
	adminDoor  door = iota + 1 // the administrative word, for all CPU nodes
	memoryDoor                 // the replicated memory region, for one coordinator
	copyDoor                   // the same, to bring the node up to date
)

// request is the message with which a CPU node connects. The paper does not define it.
type request struct {
	door door
	node uint16
	term uint16 // in which it was elected; 0 at the admin door
	// layout is the hash of the layout that it takes the memory to have.
	layout uint64
}

func (r request) encode() []byte {
	b := append(make([]byte, 0, 17), byte(r.door))
	b = binary.BigEndian.AppendUint64(b, uint64(r.node)<<16|uint64(r.term))
	return binary.BigEndian.AppendUint64(b, r.layout)
}

// decodeRequest reads what encode wrote. The error wraps [ErrMalformed].
func decodeRequest(b []byte) (request, error) {
	r := wire.NewReader(b)
	d, x := door(r.Uint8()), r.Uint64()
	q := request{door: d, node: uint16(x >> 16), term: uint16(x), layout: r.Uint64()}
	r.Fail(d >= adminDoor && d <= copyDoor && x>>32 == 0 && q.node >= 1 && q.node <= MaxNode && (q.term > 0) == (d != adminDoor))
	if r.End() != nil {
		return request{}, fmt.Errorf("%w: a request to connect of %d bytes", ErrMalformed, len(b))
	}
	return q, nil
}
