package verbs

import "fmt"

// What may be posted. All devices accept the same requests, so the rules are here, and a device
// adds only what is particular to it.

const (
	anyFlags  = Signaled | Fence | Inline | Solicited
	flushes   = FlushGlobal | FlushPersistent
	wordBytes = 8
)

// Flags returns the flags that a request of kind o may have.
func (o Opcode) Flags() SendFlags {
	if o == OpRead || o == OpFlush || o.IsAtomic() {
		return anyFlags &^ Inline // there is no payload to copy
	}
	return anyFlags
}

// OnWord reports whether o operates on one word of remote memory: eight bytes, aligned.
func (o Opcode) OnWord() bool { return o.IsAtomic() || o == OpAtomicWrite }

// Aligned reports whether o may operate on remote memory at addr.
func (o Opcode) Aligned(addr uint64) bool { return !o.OnWord() || addr%wordBytes == 0 }

// Fits reports whether the local memory of a request of kind o may have n bytes.
func (o Opcode) Fits(n int) bool { return !o.OnWord() || n == wordBytes }

// Needs returns the access that the responder must grant to a request of kind o. For a Flush this is
// FlushTo.
func (o Opcode) Needs(flushTo Access) Access {
	switch o {
	case OpWrite, OpWriteImm, OpAtomicWrite:
		return RemoteWrite
	case OpRead:
		return RemoteRead
	case OpCompareSwap, OpFetchAdd:
		return RemoteAtomic
	case OpFlush:
		return flushTo
	}
	return 0
}

// Grants reports whether a registration or a queue pair with access a permits what needs need.
func (a Access) Grants(need Access) bool { return a&need == need }

// Covers reports whether a registration of size bytes at base covers n bytes at addr. Either address
// may have any value: a request can name any.
func Covers(base uint64, size int, addr uint64, n int) bool {
	return addr >= base && addr-base <= uint64(size) && n <= size-int(addr-base)
}

// FlushesTo reports whether a Flush may have a as its FlushTo.
func (a Access) FlushesTo() bool { return a&flushes != 0 && a&^flushes == 0 }

// Supports reports whether the device carries out requests of kind o.
func (a *DeviceAttr) Supports(o Opcode) bool {
	return (o != OpFlush || a.HasFlush) && (o != OpAtomicWrite || a.HasAtomicWrite)
}

// CheckPostSend returns nil if queue pair num accepts send requests in state s. The error
// wraps [ErrState].
func (s QPState) CheckPostSend(num uint32) error {
	if s.CanPostSend() {
		return nil
	}
	return s.refuses(num)
}

// CheckPostRecv is CheckPostSend for receive requests.
func (s QPState) CheckPostRecv(num uint32) error {
	if s.CanPostRecv() {
		return nil
	}
	return s.refuses(num)
}

func (s QPState) refuses(num uint32) error {
	return fmt.Errorf("%w: QP %d is in %v", ErrState, num, s)
}

// CheckSend returns nil if queue pair num accepts wr. a are the attributes of its device, c is its
// configuration as [QPConfig.Resolve] returned it, and full means that its send queue has no free slot.
// CheckSend ignores the remote address and the keys: if they are invalid, the request fails later.
func (c *QPConfig) CheckSend(num uint32, a *DeviceAttr, wr *SendWR, full bool) error {
	switch {
	case wr.Flags&^anyFlags != 0:
		return fmt.Errorf("%w: flags %#x", ErrInvalid, uint8(wr.Flags))
	case !wr.Op.Valid():
		return fmt.Errorf("%w: opcode %d", ErrInvalid, wr.Op)
	case !a.Supports(wr.Op):
		return fmt.Errorf("%w: %v", ErrUnsupported, wr.Op)
	case wr.Op == OpFlush && (len(wr.SGL) > 0 || !wr.FlushTo.FlushesTo()):
		return fmt.Errorf("%w: a Flush has no SGL, and FlushTo is FlushGlobal, FlushPersistent or both", ErrInvalid)
	case full:
		return fmt.Errorf("%w: QP %d", ErrQueueFull, num)
	case len(wr.SGL) > c.MaxSGE:
		return c.tooLong(wr.SGL)
	case wr.Flags&^wr.Op.Flags() != 0:
		return fmt.Errorf("%w: %v takes no inline data", ErrInvalid, wr.Op)
	case wr.Flags&Inline != 0 && wr.Length() > c.MaxInline:
		return fmt.Errorf("%w: %d bytes inline, the QP takes %d", ErrInvalid, wr.Length(), c.MaxInline)
	}
	return nil
}

// CheckRecv is CheckSend for a receive request.
func (c *QPConfig) CheckRecv(num uint32, wr *RecvWR, full bool) error {
	switch {
	case full:
		return fmt.Errorf("%w: receives of QP %d", ErrQueueFull, num)
	case len(wr.SGL) > c.MaxSGE:
		return c.tooLong(wr.SGL)
	}
	return nil
}

func (c *QPConfig) tooLong(sgl []SGE) error {
	return fmt.Errorf("%w: %d SGEs, the QP takes %d", ErrInvalid, len(sgl), c.MaxSGE)
}
