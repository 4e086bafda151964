// Package erasure splits a block into parts, some of which may be lost: Cauchy
// Reed-Solomon codes, as Sift uses them for the blocks of its memory (Kazhamiaka et al.,
// "Sift: Resource-Efficient Consensus with RDMA", CoNEXT 2019, 5.1).
//
// A [Code] has data parts, which together are the block, and parity parts. Any set of
// parts with as many members as there are data parts determines all others:
//
//	c, err := erasure.New(2, 1)     // Sift with F=1: one of three parts may be lost
//	err = c.Encode(parts, block)    // the parts of a block
//	parts[0] = parts[0][:0]         // one is lost
//	err = c.Rebuild(parts)          // and is there again
//	err = c.Join(block, parts)
//
// A code corrects what is known to be missing. It does not detect that a part is damaged, or
// belongs to an earlier version of the block: [Code.Rebuild] then returns wrong bytes without an
// error. The caller must know which parts belong together. [Code.Verify] detects
// this if all parts are present and no more of them are damaged than there are parity parts.
//
// The arithmetic is github.com/klauspost/reedsolomon. This package chooses the
// matrix, and uses one goroutine and no allocation to encode a block.
package erasure
