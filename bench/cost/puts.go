package cost

import (
	"fmt"
	"time"
)

// Sizes are the sizes of the parts of a put, in bytes.
type Sizes struct {
	Item  int `json:"item"`  // an entry of the key-value store's log
	Entry int `json:"entry"` // an entry of the write-ahead log, with a block
	Block int `json:"block"`
}

// PaperSizes are the sizes of the paper's implementation: keys of 32 bytes, values of up to 992
// bytes, and the overhead of the authors' published code.
func PaperSizes() Sizes { return Sizes{Item: 1020, Entry: 1036, Block: 1024} }

// Put is the cost of a put on the network.
type Put struct {
	System string `json:"system"`
	F      int    `json:"f"`
	// Requests are the messages that carry data: Writes of a coordinator, and Sends of a
	// leader and of its followers.
	Requests int `json:"requests"`
	Bytes    int `json:"bytes"` // of payload that leaves the coordinator or leader
	// Most is the number of puts per second that a link of 10 Gb/s carries, without headers.
	Most   int    `json:"most"`
	Source string `json:"source"` // how the numbers were found
}

const link = 10e9 / 8 // bytes a second

// Period is the interval at which a follower checks the heartbeats (6.5).
const Period = 7 * time.Millisecond

// Watched returns how many Reads of 8 bytes a backup posts in a second to watch groups: one to
// each memory node of each group in every [Period] (5.2, which calls this negligible).
func Watched(groups, f int) float64 { return float64(groups) * float64(2*f+1) / Period.Seconds() }

// Puts returns the costs of a put by arithmetic, for each system and F.
//
// In Sift a put is three Writes to each of 2F+1 memory nodes: its log entry, the entry of the
// write-ahead log, and the block (3.3.2, 4.2). With codes the last Write has a chunk, and the
// logs are unchanged (5.1). Raft-R sends an entry to each of 2F followers, and each answers
// (6.3.1); answers after the majority count too.
func Puts(f int, s Sizes) []Put {
	nodes, chunk := 2*f+1, (s.Block+f)/(f+1)
	out := []Put{
		{System: "Raft-R", Requests: 4 * f, Bytes: 2 * f * s.Item, Source: fmt.Sprintf("2·%d entries of %d, as many answers", f, s.Item)},
		{System: "Sift", Requests: 3 * nodes, Bytes: nodes * (s.Item + s.Entry + s.Block), Source: fmt.Sprintf("%d·(%d + %d + %d)", nodes, s.Item, s.Entry, s.Block)},
		{System: "Sift EC", Requests: 3 * nodes, Bytes: nodes * (s.Item + s.Entry + chunk), Source: fmt.Sprintf("%d·(%d + %d + %d)", nodes, s.Item, s.Entry, chunk)},
	}
	for i := range out {
		out[i].F, out[i].Most = f, int(link/float64(out[i].Bytes))
	}
	return out
}
