package order

// blockBytes is the block within which the profile Blocks128 keeps order.
const blockBytes = 128

// Block returns the number of the block at an address.
func Block(addr uint64) uint64 { return addr / blockBytes }

// Cells define how memory and messages are cut into pieces, each of which lands at one moment.
type Cells struct {
	// Bytes is the size of a cell of memory, a power of two. Cells are aligned.
	Bytes int
	// Pieces, if it is not 0, is the largest number of pieces into which a message is cut,
	// wherever it lands. A message that spans no more cells than that is cut at all of them.
	Pieces int
}

// Begin returns the start of the cell at an offset.
func (c Cells) Begin(off int) int { return off &^ (c.Bytes - 1) }

// End returns the end of the cell at an offset.
func (c Cells) End(off int) int { return off&^(c.Bytes-1) + c.Bytes }

// wordBytes is how many aligned bytes a CPU loads at one moment, however a card places them.
const wordBytes = 8

// Look returns the end of the bytes from off that a load up to end reads at one moment:
// the end of the word, if it loads all of the word, or of the cell.
func (c Cells) Look(off, end int) int {
	next := c.End(off)
	if off%wordBytes == 0 && off+wordBytes <= end {
		next = max(next, off+wordBytes)
	}
	return min(next, end)
}

// Sample returns the end of the bytes from off that a card, reading up to end, reads at
// one moment: the end of the cell.
func (c Cells) Sample(off, end int) int { return min(c.End(off), end) }

// One reports whether a load reads [off, off+n) at one moment.
func (c Cells) One(off, n int) bool { return c.Look(off, off+n) == off+n }

// Around returns the smallest range around [off, off+n) whose bounds split neither a cell nor a word.
func (c Cells) Around(off, n int) (lo, hi int) {
	size := max(c.Bytes, wordBytes)
	return off &^ (size - 1), (off + n + size - 1) &^ (size - 1)
}

// Cut returns the length of the next piece of a message of length bytes. The first done bytes are
// cut off already, and the next piece lands at off. The message may end before the piece does.
func (c Cells) Cut(off, done, length int) int {
	if !c.Bounds(off-done, length) {
		return c.End(off) - off
	}
	first := c.Begin(off - done)
	cells := (c.count(off-done, length) + c.Pieces - 1) / c.Pieces
	return cells*c.Bytes - (off-first)%(cells*c.Bytes)
}

// Bounds reports whether a message of length bytes at off spans more cells than it may have pieces.
func (c Cells) Bounds(off, length int) bool { return c.Pieces > 0 && c.count(off, length) > c.Pieces }

// count returns the number of cells of [off, off+n).
func (c Cells) count(off, n int) int { return (c.End(off+n-1) - c.Begin(off)) / c.Bytes }

// Moment is like Look, but returns end if messages tear only into Pieces.
func (c Cells) Moment(off, end int) int {
	if c.Pieces > 0 {
		return end
	}
	return c.Look(off, end)
}
