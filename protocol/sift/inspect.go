package sift

import (
	"encoding/binary"

	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
)

// Image is the content of a memory node, for checks and for people.
type Image struct {
	Node   string
	Term   uint16 // in which it was last brought up to date
	Void   bool   // its memory was being overwritten
	Log    wal.Log
	Direct []byte
	Memory []byte
}

// Inspect returns the content of the memory nodes that have not failed, at least a majority.
func (c *Coordinator) Inspect() ([]Image, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names, heads, err := c.readAll(0, c.cfg.directAt())
	if err != nil {
		return nil, err
	}
	where, rest, err := c.readAll(c.cfg.directAt(), c.cfg.Direct+c.cfg.Size)
	if err != nil {
		return nil, err
	}
	var out []Image
	for i, name := range names {
		state := binary.LittleEndian.Uint64(heads[i])
		x := Image{Node: name, Term: uint16(state), Void: state&void != 0}
		x.Log, _ = c.shape.Parse(heads[i][stateSize:])
		for j := range where {
			if where[j] == name {
				x.Direct, x.Memory = rest[j][:c.cfg.Direct], rest[j][c.cfg.Direct:]
			}
		}
		out = append(out, x)
	}
	return out, nil
}
