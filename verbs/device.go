package verbs

import "time"

// Forever is a timeout without limit.
const Forever time.Duration = -1

// Access is the set of operations that a memory region or a queue pair permits
// (ibv_access_flags).
type Access uint8

// The access flags. Local reads are always permitted.
const (
	LocalWrite Access = 1 << iota
	RemoteWrite
	RemoteRead
	RemoteAtomic
	FlushGlobal
	FlushPersistent
)

// Memory is memory that can be registered, such as a region of package host. Addresses
// belong to the backend: on hardware they are virtual addresses.
type Memory interface {
	Addr() uint64
	Len() int
}

// DeviceAttr holds the limits and capabilities of a device (ibv_device_attr).
type DeviceAttr struct {
	Name           string
	MaxInline      int  // bytes
	MaxSGE         int  // entries of a scatter/gather list
	MaxQPWR        int  // work requests per queue
	MaxRdAtomic    int  // outstanding Reads and Atomics per QP
	AtomicHCA      bool // atomics are atomic among the QPs of this device
	AtomicGlob     bool // and with respect to its CPUs
	HasFlush       bool
	HasAtomicWrite bool
}

// Device is an opened card (ibv_context).
type Device interface {
	Attr() DeviceAttr
	AllocPD() (PD, error)
	// CreateCompChannel makes a channel on which CQs report.
	CreateCompChannel() (CompChannel, error)
	// CreateCQ makes a completion queue of at least depth entries. ch may be nil.
	CreateCQ(depth int, ch CompChannel) (CQ, error)
	Close() error
}

// PD is a protection domain.
type PD interface {
	// RegisterMR registers mem. RemoteWrite and RemoteAtomic need LocalWrite.
	RegisterMR(mem Memory, access Access) (MR, error)
	CreateQP(cfg QPConfig) (PreparedQP, error)
	Dealloc() error
}

// MR is a registered memory region.
type MR interface {
	Addr() uint64
	Len() int
	LKey() uint32
	RKey() uint32
	// Dereg deregisters the region. Whether requests that the card accepted earlier can
	// still change the memory afterwards is a knob of the profile.
	Dereg() error
}

// CQ is a completion queue.
type CQ interface {
	// Poll moves up to len(wc) completions into wc and returns how many.
	Poll(wc []WC) (int, error)
	// Wait polls until there is at least one completion. After timeout it
	// returns [ErrTimeout]; [Forever] waits without limit.
	Wait(wc []WC, timeout time.Duration) (int, error)
	Destroy() error
}

// CompChannel waits for several CQs (ibv_comp_channel).
type CompChannel interface {
	// Wait returns a CQ of the channel that has completions.
	Wait(timeout time.Duration) (CQ, error)
	// Gather waits until each of cqs has a completion, and polls one from each: wc[i]
	// comes from cqs[i]. The CQs must be distinct and belong to the channel. On
	// [ErrTimeout] nothing was polled. The order of arrival is not reported.
	Gather(cqs []CQ, wc []WC, timeout time.Duration) error
	Destroy() error
}

// QPConfig describes a reliable-connection queue pair (ibv_qp_init_attr and
// the attributes of its transitions). Zero fields take the documented default.
type QPConfig struct {
	SendCQ, RecvCQ CQ
	Access         Access // what the peer may do through this QP
	MaxSendWR      int    // default 64
	MaxRecvWR      int    // default 64
	MaxSGE         int    // default 4
	MaxInline      int    // bytes; default none, because each entry of the send queue reserves room for them
	MaxRdAtomic    int    // default the device's
	RetryCount     int    // 0 to 7, default 7
	RNRRetry       int    // 0 to 7, 7 is forever; default 7
	SignalAll      bool   // every send request is signaled
	// PSN is the first packet sequence number, 24 bits; 0 lets the device choose a
	// fresh one. A connection that reuses an earlier connection's number may accept a
	// delayed packet of that connection.
	PSN uint32
}

// PreparedQP is a queue pair in state INIT: it has an endpoint and accepts receives,
// but cannot send.
type PreparedQP interface {
	Num() uint32
	Endpoint() Endpoint
	PostRecv(wrs []RecvWR) error
	// Connect moves the QP through RTR to RTS, connected to remote.
	Connect(remote Endpoint) (QP, error)
	Destroy() error
}

// QP is a connected queue pair.
type QP interface {
	Num() uint32
	State() QPState
	// PostSend posts wrs in order. On error a [*PostError] names the first
	// request that was refused; those before it are posted.
	PostSend(wrs []SendWR) error
	PostRecv(wrs []RecvWR) error
	// Modify changes state or attributes as [Transitions] allows.
	Modify(attr QPAttr) error
	Destroy() error
}
