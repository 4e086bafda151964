package verbs

import "fmt"

// Opcode is the operation of a send work request (ibv_wr_opcode).
type Opcode uint8

// The operations of a reliable connection. Flush and AtomicWrite come from IBTA 1.5; a
// device without them refuses the post with [ErrUnsupported].
const (
	OpWrite Opcode = iota + 1
	OpWriteImm
	OpRead
	OpSend
	OpSendImm
	OpCompareSwap
	OpFetchAdd
	OpFlush
	OpAtomicWrite
)

var opcodeNames = [...]string{
	OpWrite: "Write", OpWriteImm: "WriteImm", OpRead: "Read", OpSend: "Send", OpSendImm: "SendImm",
	OpCompareSwap: "CompareSwap", OpFetchAdd: "FetchAdd", OpFlush: "Flush", OpAtomicWrite: "AtomicWrite",
}

func (o Opcode) String() string { return nameOf(opcodeNames[:], int(o), "Opcode") }

// Valid reports whether o is one of the operations above.
func (o Opcode) Valid() bool { return o >= OpWrite && o <= OpAtomicWrite }

// IsAtomic reports whether o is a read-modify-write of eight remote bytes.
func (o Opcode) IsAtomic() bool { return o == OpCompareSwap || o == OpFetchAdd }

// Responds reports whether the responder answers o with data rather than a mere
// acknowledgement, so that o counts among the outstanding Reads and Atomics.
func (o Opcode) Responds() bool { return o == OpRead || o >= OpCompareSwap && o <= OpAtomicWrite }

// ConsumesRecv reports whether o consumes a receive work request at the responder.
func (o Opcode) ConsumesRecv() bool { return o == OpWriteImm || o == OpSend || o == OpSendImm }

// SendFlags modify a send work request (ibv_send_flags).
type SendFlags uint8

const (
	// Signaled requests a completion on success. An error always produces one.
	Signaled SendFlags = 1 << iota
	// Fence delays the request until earlier Reads and Atomics are complete.
	Fence
	// Inline copies the payload when the request is posted.
	Inline
	// Solicited raises a solicited event at the responder.
	Solicited
)

// SGE is a piece of local memory (ibv_sge): Length bytes from Addr, which must
// lie in the memory region that LKey names.
type SGE struct {
	Addr   uint64
	Length uint32
	LKey   uint32
}

// SendWR is a send work request (ibv_send_wr).
//
// RemoteAddr and RKey name the remote memory of Write, Read and the atomics. An atomic
// operates on eight bytes at an eight-byte aligned RemoteAddr and returns the old value
// into the SGL, which must hold exactly eight bytes. CompareSwap sets the word to Swap
// if it equals Compare; FetchAdd adds Add to it. AtomicWrite writes the eight bytes of
// its SGL atomically.
//
// Flush has no SGL: its range is FlushLen bytes from RemoteAddr, or the whole memory
// region if FlushMR is set. FlushTo is [FlushGlobal], which makes earlier data visible
// to all, [FlushPersistent], which makes it persistent, or both; the memory region and
// the queue pair must both grant it.
type SendWR struct {
	ID         uint64
	Op         Opcode
	Flags      SendFlags
	Imm        uint32
	RKey       uint32
	RemoteAddr uint64
	SGL        []SGE
	Compare    uint64
	Swap       uint64
	Add        uint64
	FlushTo    Access
	FlushLen   uint32
	FlushMR    bool
}

// Length returns the number of bytes of wr's scatter/gather list.
func (wr *SendWR) Length() int { return sglLength(wr.SGL) }

// RecvWR is a receive work request (ibv_recv_wr).
type RecvWR struct {
	ID  uint64
	SGL []SGE
}

// Length returns the number of bytes of wr's scatter/gather list.
func (wr *RecvWR) Length() int { return sglLength(wr.SGL) }

func sglLength(sgl []SGE) int {
	n := 0
	for i := range sgl {
		n += int(sgl[i].Length)
	}
	return n
}

// WCOpcode is the kind of request that completed (ibv_wc_opcode).
type WCOpcode uint8

// The kinds of completions.
const (
	WCSend WCOpcode = iota + 1
	WCWrite
	WCRead
	WCCompareSwap
	WCFetchAdd
	WCRecv
	WCRecvWriteImm
	WCFlush
	WCAtomicWrite
)

var wcOpcodeNames = [...]string{
	WCSend: "Send", WCWrite: "Write", WCRead: "Read", WCCompareSwap: "CompareSwap", WCFetchAdd: "FetchAdd",
	WCRecv: "Recv", WCRecvWriteImm: "RecvWriteImm", WCFlush: "Flush", WCAtomicWrite: "AtomicWrite",
}

func (o WCOpcode) String() string { return nameOf(wcOpcodeNames[:], int(o), "WCOpcode") }

// Completion returns the kind of completion that a request of kind o produces.
func (o Opcode) Completion() WCOpcode {
	switch o {
	case OpWrite, OpWriteImm:
		return WCWrite
	case OpRead:
		return WCRead
	case OpSend, OpSendImm:
		return WCSend
	case OpCompareSwap:
		return WCCompareSwap
	case OpFetchAdd:
		return WCFetchAdd
	case OpFlush:
		return WCFlush
	case OpAtomicWrite:
		return WCAtomicWrite
	}
	return 0
}

// WC is a work completion (ibv_wc). Op, ByteLen and Imm are meaningful only if
// Status is [StatusSuccess]; ID, QPNum and VendorErr always are.
type WC struct {
	ID        uint64
	Status    Status
	Op        WCOpcode
	HasImm    bool
	VendorErr uint32
	ByteLen   uint32
	Imm       uint32
	QPNum     uint32
}

// Err returns nil if the request succeeded, and otherwise a [*CompletionError].
func (wc *WC) Err() error {
	if wc.Status == StatusSuccess {
		return nil
	}
	return &CompletionError{ID: wc.ID, Status: wc.Status, QPNum: wc.QPNum}
}

func nameOf(names []string, i int, kind string) string {
	if i >= 0 && i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}
