package queryfresh

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/verbatim-rdma/verbatim/host"
)

// A block is a header, little-endian, and data, padded to a multiple of 8 bytes (sm-log-defs.h, log_block):
//
//	0   checksum of the rest of the header and of the data, 4 bytes
//	4   length of the data in bytes, 4 bytes
//	8   LSN: the offset of the block in the log
const headerSize = 16

func blockSize(n int) int { return headerSize + (n+7)&^7 }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// putBlock encodes a block with an LSN in b, which has the size of the block.
func putBlock(b []byte, lsn int, data []byte) {
	clear(b)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(data)))
	binary.LittleEndian.PutUint64(b[8:], uint64(lsn))
	copy(b[headerSize:], data)
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:headerSize+len(data)], castagnoli))
}

// scan calls f for each block in order, up to the first invalid one, and returns the offset of that block. Unreadable
// memory also ends a log.
func scan(r host.Region, f func(data []byte) error) (end int, err error) {
	var h [headerSize]byte
	for r.Len()-end >= headerSize {
		if host.TryLoad(r, end, h[:]) != nil {
			break
		}
		n := int64(binary.LittleEndian.Uint32(h[4:]))
		if n > int64(r.Len()-end-headerSize) || binary.LittleEndian.Uint64(h[8:]) != uint64(end) {
			break
		}
		data := make([]byte, n)
		if host.TryLoad(r, end+headerSize, data) != nil {
			break
		}
		if crc32.Update(crc32.Checksum(h[4:], castagnoli), castagnoli, data) != binary.LittleEndian.Uint32(h[:]) {
			break
		}
		if err := f(data); err != nil {
			return end, err
		}
		end += blockSize(int(n))
	}
	return end, nil
}

// truncate clears the region from end on, so that no old block reappears after a new one (truncate_after).
func truncate(r host.Region, end int) error {
	const piece = 4 << 10
	var clean, p [piece]byte
	for ; end < r.Len(); end += piece {
		n := min(piece, r.Len()-end)
		err := host.TryLoad(r, end, p[:n])
		if err != nil && !errors.Is(err, host.ErrMedia) {
			return err
		}
		if err == nil && p == clean {
			continue
		}
		r.Store(end, clean[:n])
		r.Flush(end, n)
	}
	r.Fence()
	return nil
}
