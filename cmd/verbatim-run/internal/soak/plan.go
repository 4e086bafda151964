package soak

import (
	"encoding/binary"
	"math/rand/v2"
)

// plan is the plan of a round.
type plan struct {
	inRecovery bool    // kill the writer while it starts and recovers
	acks       int     // otherwise wait for this many acknowledgements
	pause      float64 // and then for this part of the time of a recovery, or of three writes
	peer       int     // first kill the peer of the file with this index; -1: none
	more       int     // and wait for this many acknowledgements from the others
	together   bool    // kill the writer with the peer, without waiting
	replaced   bool    // otherwise wait until another peer has taken its place
	again      bool    // and then kill one more
	// backAtOnce: a killed peer has restarted, empty, when the next recovery begins.
	backAtOnce bool
	lastOfFile bool // read the file and delete it afterwards

	victim string // the name of the peer that was killed
}

// draw draws a round. first means that the writer creates the file.
func draw(r *rand.Rand, c *Config, first bool) plan {
	p := plan{acks: r.IntN(c.Acks + 1), peer: -1, backAtOnce: r.IntN(2) == 0, pause: r.Float64()}
	// All numbers are drawn whether they are used or not, so the numbers of the next round do not depend on that.
	kill, victim, more, together := r.IntN(2) == 0, r.IntN(1<<20), r.IntN(c.Acks+1), r.IntN(3) == 0
	inRecovery, last := r.IntN(6) == 0, r.IntN(8)
	p.replaced, p.again = r.IntN(3) > 0, r.IntN(2) == 0
	p.lastOfFile = last == 0
	switch {
	case inRecovery && !first:
		p.inRecovery = true
	case kill:
		p.peer, p.together, p.more = victim, together, more
	}
	return p
}

// record returns the i-th record of a writer, from 1: all records differ, so a record in
// the place of another is detected.
func record(c *Config, life, i int) []byte {
	r := rand.New(rand.NewPCG(c.Seed, uint64(life)<<32|uint64(i)))
	b := make([]byte, minRecord+r.IntN(c.Record-minRecord+1))
	for at := range b {
		b[at] = byte(r.Uint32())
	}
	binary.BigEndian.PutUint32(b, uint32(life))
	binary.BigEndian.PutUint32(b[4:], uint32(i))
	return b
}
