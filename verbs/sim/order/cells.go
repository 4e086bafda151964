package order

// blockBytes is the block within which the profile Blocks128 keeps order.
const blockBytes = 128

// Block is the number of the block at an address.
func Block(addr uint64) uint64 { return addr / blockBytes }

// Cells say how memory and messages are cut into pieces, each of which lands at one moment.
type Cells struct {
	// Bytes is the size of a cell of memory, a power of two. Cells are aligned.
	Bytes int
	// Pieces, if it is not 0, is into how many pieces a message is cut at most, wherever
	// it lands.
	Pieces int
}

// Begin is where the cell at an offset begins.
func (c Cells) Begin(off int) int { return off &^ (c.Bytes - 1) }

// End is where the cell at an offset ends.
func (c Cells) End(off int) int { return off&^(c.Bytes-1) + c.Bytes }

// One reports whether [off, off+n) is in one cell.
func (c Cells) One(off, n int) bool { return c.End(off) == c.End(off+n-1) }

// Cut is how long the next piece is of a message of length bytes, of which done bytes are cut
// off already and the next lands at off. A message may end before the piece does.
func (c Cells) Cut(off, done, length int) int {
	if c.Pieces > 0 {
		piece := max(((length+c.Pieces-1)/c.Pieces+7)&^7, 8)
		return piece - done%piece
	}
	return c.End(off) - off
}

// Moment is where the bytes from off on end that one look finds at one moment: at the end of
// the cell, or if messages tear into pieces only, not before end.
func (c Cells) Moment(off, end int) int {
	if c.Pieces > 0 {
		return end
	}
	return min(c.End(off), end)
}
