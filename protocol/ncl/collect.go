package ncl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// collect frees the regions that no file claims (4.5.1, "Handling Space Leaks").
//
// A region in the mr-map is claimed if the ap-map has the file, with the identity of
// the region, and lists this peer as a peer of the file. The epoch of the region may be
// older, since the remaining peers are not contacted when others are replaced. A region
// that is not yet in the mr-map is claimed in its own epoch, as in the paper, and as long
// as it may still be filled according to the ap-map. An application changes the ap-map
// before it requests a region, so an unclaimed region will never be claimed: see findings
// 3, 4 and 7.
func (p *peer) collect() {
	if p.coord == nil {
		return
	}
	for i := len(p.mrMap) - 1; i >= 0; i-- {
		m := p.mrMap[i]
		e, _, err := loadEntry(p.coord, m.app, m.file)
		if err != nil && !errors.Is(err, ErrNotFound) {
			p.note("look for leaked regions", err)
			return // the next file would wait as long, and delay requests
		}
		p.freeLeaked(m, &e)
	}
	p.tell()
}

// freeLeaked frees the regions of m that e does not claim. A missing file has an entry
// that claims nothing.
func (p *peer) freeLeaked(m *mapping, e *entry) {
	name := p.h.Name()
	if m.fresh != nil && !e.fills(name, m.fresh.generation) {
		p.h.Logf("frees the region for a copy of file %q of %q, which leaked", m.file, m.app)
		p.freeFresh(m)
	}
	if m.current != nil && !e.claims(name, m.current.generation) {
		p.h.Logf("frees the region of file %q of %q, which leaked", m.file, m.app)
		p.free(m.current)
		m.current = nil
	}
	if m.current == nil && m.fresh == nil {
		p.remove(m)
	}
}

// acceptOrCollect waits for a request, and collects leaked regions meanwhile.
func (p *peer) acceptOrCollect(lis host.Listener) (host.Request, error) {
	for p.every > 0 {
		req, err := lis.Accept(max(p.due-p.h.Now(), 0))
		if !errors.Is(err, host.ErrTimeout) {
			return req, err
		}
		p.collect()
		p.due = p.h.Now() + p.every
	}
	return lis.Accept(verbs.Forever)
}

// Collect makes a log peer look for leaked regions now, and returns the number of bytes
// that it lends afterwards.
func Collect(h host.Host, peer string, timeout time.Duration) (int, error) {
	r := request{op: opCollect}
	b, err := h.Call(peer, service, r.encode(), timeout)
	if err != nil {
		return 0, fmt.Errorf("ncl: collect at peer %s: %w", peer, err)
	}
	if len(b) != 8 || binary.BigEndian.Uint64(b) > math.MaxInt {
		return 0, fmt.Errorf("ncl: collect at peer %s: %w: an answer of %d bytes", peer, ErrMalformed, len(b))
	}
	return int(binary.BigEndian.Uint64(b)), nil
}

// Revoke makes a log peer revoke all memory that it lends, at once and without asking
// (4.5.2). Files continue with other peers: see [File.Repair].
func Revoke(h host.Host, peer string, timeout time.Duration) error {
	r := request{op: opRevoke}
	if _, err := h.Call(peer, service, r.encode(), timeout); err != nil {
		return fmt.Errorf("ncl: revoke at peer %s: %w", peer, err)
	}
	return nil
}
