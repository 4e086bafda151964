package ncl

import "fmt"

// Stamp orders the contents of regions by age. It is the word at offset 0 of every
// region: the epoch in the high 24 bits, the sequence number in the low 40, so that the
// larger word is the more recent.
//
// The paper (4.4) writes the bare sequence number, which is not enough. A peer that was
// unreachable during a recovery keeps its data, which may include writes that were
// never acknowledged; the writes after the recovery use the same sequence numbers on
// the other peers. In the next recovery the bare numbers may be equal, or the stale peer
// may even have the larger one, and acknowledged writes are lost. Here every recovery
// advances the epoch before it copies anything, so a region that was left behind has the
// smaller stamp. See finding 1 in docs/findings.md.
type Stamp uint64

const (
	seqBits = 40

	// MaxEpoch is the largest epoch, and so bounds the recoveries of a file.
	MaxEpoch = 1<<24 - 1
	// MaxSeq is the largest sequence number.
	MaxSeq = 1<<seqBits - 1
)

// MakeStamp joins an epoch and a sequence number that are within the limits.
func MakeStamp(epoch uint32, seq uint64) Stamp {
	return Stamp(uint64(epoch)<<seqBits | seq&MaxSeq)
}

// Epoch returns the epoch of the write.
func (s Stamp) Epoch() uint32 { return uint32(s >> seqBits) }

// Seq returns the write's sequence number; the first write of a file has 1.
func (s Stamp) Seq() uint64 { return uint64(s) & MaxSeq }

func (s Stamp) String() string { return fmt.Sprintf("%d.%d", s.Epoch(), s.Seq()) }
