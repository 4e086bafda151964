package verbs

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Endpoint is what a peer needs to know about a queue pair to connect to it.
type Endpoint struct {
	GID [16]byte // the port's address
	LID uint16   // on InfiniBand without a GRH
	QPN uint32
	PSN uint32 // 24 bits: the first packet sequence number it sends
	MTU uint16 // bytes
}

// EndpointSize is the length in bytes of an encoded endpoint.
const EndpointSize = 16 + 2 + 4 + 4 + 2

// AppendBinary appends the encoding of e, [EndpointSize] bytes, to b.
func (e Endpoint) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, e.GID[:]...)
	b = binary.BigEndian.AppendUint16(b, e.LID)
	b = binary.BigEndian.AppendUint32(b, e.QPN)
	b = binary.BigEndian.AppendUint32(b, e.PSN)
	return binary.BigEndian.AppendUint16(b, e.MTU), nil
}

// UnmarshalBinary reads what AppendBinary wrote. The error wraps [ErrInvalid].
func (e *Endpoint) UnmarshalBinary(b []byte) error {
	if len(b) != EndpointSize {
		return fmt.Errorf("%w: an endpoint has %d bytes, got %d", ErrInvalid, EndpointSize, len(b))
	}
	copy(e.GID[:], b)
	e.LID = binary.BigEndian.Uint16(b[16:])
	e.QPN = binary.BigEndian.Uint32(b[18:])
	e.PSN = binary.BigEndian.Uint32(b[22:])
	e.MTU = binary.BigEndian.Uint16(b[26:])
	return e.checkPSN()
}

func (e *Endpoint) checkPSN() error {
	if e.PSN >= 1<<24 {
		return fmt.Errorf("%w: packet sequence number %d has more than 24 bits", ErrInvalid, e.PSN)
	}
	return nil
}

// MinMTU and MaxMTU are the smallest and the largest path MTU in bytes. Each is a power of two.
const (
	MinMTU = 256
	MaxMTU = 4096
)

// Check returns nil if a queue pair may connect to e, as far as numbers and sizes go: only the
// device knows whether the address exists. minMTU is [MinMTU], or less for a device that splits messages
// into smaller packets than cards do. The error wraps [ErrInvalid].
func (e *Endpoint) Check(minMTU int) error {
	switch mtu := int(e.MTU); {
	case e.QPN == 0 || e.QPN >= 1<<24:
		return fmt.Errorf("%w: QP number %d is not from 1 to %d", ErrInvalid, e.QPN, 1<<24-1)
	case mtu < minMTU || mtu > MaxMTU || bits.OnesCount16(e.MTU) != 1:
		return fmt.Errorf("%w: MTU %d is not a power of two from %d to %d", ErrInvalid, mtu, minMTU, MaxMTU)
	}
	return e.checkPSN()
}
