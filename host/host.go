package host

import (
	"errors"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Errors that every implementation wraps.
var (
	// ErrTimeout: the deadline passed first.
	ErrTimeout = errors.New("host: timed out")
	// ErrUnreachable: the other host is down, cut off or unknown. The request
	// may or may not have been carried out.
	ErrUnreachable = errors.New("host: unreachable")
	// ErrNoService: the other host answers and has no such service.
	ErrNoService = errors.New("host: no such service")
	// ErrClosed: the listener or region was closed.
	ErrClosed = errors.New("host: closed")
	// ErrNoMemory: the region cannot be had.
	ErrNoMemory = errors.New("host: out of memory")
	// ErrBounds: an access outside a region.
	ErrBounds = errors.New("host: outside the region")
	// ErrMedia: persistent memory that cannot be read. See [TryLoad].
	ErrMedia = errors.New("host: media error")
)

// Host is the machine that protocol code runs on.
type Host interface {
	// Name is the name that other hosts call it by.
	Name() string
	// Device is the machine's card.
	Device() verbs.Device

	// Go starts a task. The host ends when its first task returns.
	Go(name string, f func())
	// Now is the time since the host started, by its own clock: monotonic, and not
	// comparable between hosts. It may be over when the caller acts on it. See the
	// package comment for what a check assumes about clocks.
	Now() time.Duration
	// Sleep returns when d has passed on the host's clock, or later.
	Sleep(d time.Duration)
	// Rand returns a number in [0, n).
	Rand(n int) int
	NewMutex() Mutex
	NewCond(m Mutex) Cond

	// Alloc returns zeroed DRAM of size bytes, which a crash of the process loses.
	Alloc(size int) (Region, error)
	// OpenPMEM returns the persistent region called name, creating it zeroed.
	OpenPMEM(name string, size int) (Region, error)

	// Listen makes this host answer calls to service.
	Listen(service string) (Listener, error)
	// Call sends one request and waits for its answer, for as long as timeout says by
	// the host's clock and then gives up with ErrTimeout; if it is negative, for ever.
	// The request may have been carried out, or be carried out later.
	Call(to, service string, req []byte, timeout time.Duration) ([]byte, error)
	// Gather sends all requests at once. The timeout runs from here, for all of them.
	Gather(calls []Call, timeout time.Duration) Gather

	// Logf adds a line to the host's log. Formatting costs nothing when
	// nobody listens.
	Logf(format string, args ...any)
}

// Region is memory of a host that its card can reach.
type Region interface {
	verbs.Memory
	// Load copies len(p) bytes at off into p; Store copies p to off. An
	// access outside the region is a programming error and panics with an
	// error that wraps [ErrBounds]. A load of persistent memory that cannot be
	// read panics with one that wraps [ErrMedia]: see [TryLoad].
	Load(off int, p []byte)
	Store(off int, p []byte)
	// Load64 and Store64 access an aligned little-endian word at once.
	Load64(off int) uint64
	Store64(off int, v uint64)
	// CompareAndSwap64 and Add64 are locked instructions of the CPU.
	CompareAndSwap64(off int, old, new uint64) bool
	Add64(off int, delta uint64) uint64
	// Flush writes the cache lines of [off, off+n) back; they are persistent
	// after the Fence that follows. On DRAM both only order.
	Flush(off, n int)
	Fence()
	// Free gives the memory back. Its registrations must be gone.
	Free() error
}

// TryLoad is r.Load for memory that may be damaged: it returns an error that wraps
// [ErrMedia] where Load panics. Write the memory anew to mend it.
func TryLoad(r Region, off int, p []byte) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case error:
			if !errors.Is(x, ErrMedia) {
				panic(x)
			}
			err = x
		default:
			panic(x)
		}
	}()
	r.Load(off, p)
	return nil
}

// Mutex excludes the tasks of one host from each other.
type Mutex interface {
	Lock()
	Unlock()
}

// Cond is a condition variable over a Mutex.
type Cond interface {
	// Wait releases the mutex, waits for a signal and takes the mutex again.
	Wait()
	Signal()
	Broadcast()
}

// Listener receives the requests to one service.
type Listener interface {
	// Accept waits for the next request, at most for the timeout: see Host.Call.
	Accept(timeout time.Duration) (Request, error)
	Close() error
}

// Request is a request that waits for its answer.
type Request interface {
	From() string
	Body() []byte
	// Reply answers; a second answer is ignored.
	Reply(body []byte)
	// Reject answers with an error that the caller sees as [*RemoteError].
	Reject(reason string)
}

// Call is one request of a [Host.Gather].
type Call struct {
	To, Service string
	Body        []byte
}

// Answer is the answer to one call. It is pending while both fields are nil.
type Answer struct {
	Body []byte
	Err  error
}

// Pending reports whether the answer is still awaited.
func (a *Answer) Pending() bool { return a.Body == nil && a.Err == nil }

// Gather is a set of calls under way.
type Gather interface {
	// Wait blocks until need calls have succeeded, or until all calls have
	// ended. It returns all that is known by then, which may be more successes
	// than were needed, and failures, in the order of the calls; the slice is
	// the Gather's own. Answers that arrive later show in a later Wait.
	Wait(need int) []Answer
}

// RemoteError is a rejection by the service.
type RemoteError struct {
	Host, Service, Reason string
}

func (e *RemoteError) Error() string {
	return e.Host + "/" + e.Service + " rejected the request: " + e.Reason
}
