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
	Memory []byte // with codes, the chunks that the node has
}

// Inspect returns the content of the memory nodes that have not failed, at least a majority.
func (c *Coordinator) Inspect() ([]Image, error) {
	c.enter()
	defer c.leave()
	names, regions, err := c.readAll(0, c.cfg.regionSize())
	if err != nil {
		return nil, err
	}
	var out []Image
	for i, b := range regions {
		state := binary.LittleEndian.Uint64(b)
		x := Image{Node: names[i], Term: uint16(state), Void: state&void != 0,
			Direct: b[c.cfg.directAt():c.cfg.memoryAt()], Memory: b[c.cfg.memoryAt():]}
		x.Log, _ = c.shape.Parse(b[stateSize:c.cfg.directAt()])
		out = append(out, x)
	}
	return out, nil
}
