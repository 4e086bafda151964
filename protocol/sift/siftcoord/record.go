package siftcoord

import (
	"encoding/binary"
	"fmt"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/coord"
)

// Kinds of records. A record is its kind (1 byte), the host that asked (with its length in 1 byte), and the rest.
const (
	request = 1 // of a host, as package coord encodes it
	expiry  = 2 // of the session with this number (8 bytes)
)

// replay executes a record of an earlier coordinator.
func (s *Service) replay(record []byte) error {
	r := wire.NewReader(record)
	kind, from := r.Uint8(), r.String(0, wire.MaxString)
	body := r.Take(r.Left())
	r.Fail(kind == request || kind == expiry && len(body) == 8)
	if err := r.End(); err != nil {
		return fmt.Errorf("%w: a record: %w", ErrCorrupt, err)
	}
	if kind == request {
		s.keeper.Store.Apply(from, body) // a replayed request does not show that its host is alive
	} else {
		s.keeper.ExpireSession(coord.Session(binary.BigEndian.Uint64(body)))
	}
	return nil
}

func binary64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
