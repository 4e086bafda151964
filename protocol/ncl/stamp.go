package ncl

import "fmt"

// Stamp says how recent the content of a region is. It is the word at offset 0
// of every region: the epoch in the high 24 bits, the sequence number in the low
// 40, so that the larger word is the more recent.
//
// The paper (4.4) writes the bare sequence number. That is not enough. A peer
// that was out of reach during a recovery keeps what it has, which may be writes
// that were never acknowledged; the writes that follow the recovery take the
// same sequence numbers on the other peers. In the next recovery the bare
// numbers tie, or the stale peer even wins, and acknowledged writes are lost.
// The epoch, which every recovery advances before it copies anything, makes a
// region that was left behind lose. See finding 1 in docs/findings.md.
type Stamp uint64

const (
	seqBits = 40

	// MaxEpoch is the largest epoch: so often can a file be recovered.
	MaxEpoch = 1<<24 - 1
	// MaxSeq is the largest sequence number.
	MaxSeq = 1<<seqBits - 1
)

// MakeStamp joins an epoch and a sequence number that are within the limits.
func MakeStamp(epoch uint32, seq uint64) Stamp {
	return Stamp(uint64(epoch)<<seqBits | seq&MaxSeq)
}

// Epoch is the epoch in which the write was made.
func (s Stamp) Epoch() uint32 { return uint32(s >> seqBits) }

// Seq is the write's sequence number; the first write of a file has 1.
func (s Stamp) Seq() uint64 { return uint64(s) & MaxSeq }

func (s Stamp) String() string { return fmt.Sprintf("%d.%d", s.Epoch(), s.Seq()) }
