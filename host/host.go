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
	// ErrUnreachable: the other host is down, partitioned or unknown. The request may
	// or may not have been carried out.
	ErrUnreachable = errors.New("host: unreachable")
	// ErrNotSent: no connection to the other host was made, so the request was not sent.
	// An error that wraps it also wraps ErrUnreachable or ErrTimeout. The simulator does not
	// return it: there, a caller does not learn whether an unreachable host got the request.
	ErrNotSent = errors.New("host: not sent")
	// ErrNoService: the other host is up and has no such service.
	ErrNoService = errors.New("host: no such service")
	// ErrClosed: the listener or region was closed.
	ErrClosed = errors.New("host: closed")
	// ErrNoMemory: allocation failed.
	ErrNoMemory = errors.New("host: out of memory")
	// ErrBounds: an access outside a region.
	ErrBounds = errors.New("host: outside the region")
	// ErrMedia: persistent memory is unreadable. See [TryLoad].
	ErrMedia = errors.New("host: media error")
)

// Undelivered reports whether an error of a call means that no service has received the request: the
// caller may send it again, or to another host.
func Undelivered(err error) bool { return errors.Is(err, ErrNoService) || errors.Is(err, ErrNotSent) }

// Host is the machine that protocol code runs on.
type Host interface {
	// Name is the name by which other hosts address it.
	Name() string
	// Device is the machine's card.
	Device() verbs.Device

	// Go starts a task. The host terminates when its first task returns. Go panics if f is nil.
	Go(name string, f func())
	// Now is the time since the host started, by its own clock: monotonic, and not
	// comparable between hosts. It may have passed by the time the caller acts on it.
	// See the package comment for what a check assumes about clocks.
	Now() time.Duration
	// Sleep returns when d has passed on the host's clock, or later.
	Sleep(d time.Duration)
	// Rand returns a number in [0, n). It panics unless n is positive.
	Rand(n int) int
	// Visit goes through the hosts called names in an order that the protocol leaves open: see
	// [InAnyOrder].
	Visit(names []string) Visit
	NewMutex() Mutex
	NewCond(m Mutex) Cond

	// Alloc returns size bytes of zeroed DRAM, which are lost when the process crashes.
	Alloc(size int) (Region, error)
	// OpenPMEM returns the persistent region called name, creating it zeroed.
	OpenPMEM(name string, size int) (Region, error)

	// Listen makes this host answer calls to service.
	Listen(service string) (Listener, error)
	// Call sends one request and waits for its answer. It gives up with ErrTimeout
	// after timeout by the host's clock; a negative timeout is no limit. After an error
	// the request may have been carried out, or be carried out later.
	Call(to, service string, req []byte, timeout time.Duration) ([]byte, error)
	// Gather sends all requests at once. One timeout covers them all and starts now.
	Gather(calls []Call, timeout time.Duration) Gather

	// Logf adds a line to the host's log. Nothing is formatted if the log is off.
	Logf(format string, args ...any)
}

// Region is memory of a host that its card can reach.
type Region interface {
	verbs.Memory
	// Load copies len(p) bytes at off into p; Store copies p to off. An access outside
	// the region is a programming error: it panics with an error that wraps
	// [ErrBounds]. A load of unreadable persistent memory panics with an error that
	// wraps [ErrMedia]: see [TryLoad].
	Load(off int, p []byte)
	Store(off int, p []byte)
	// Load64 and Store64 access an aligned little-endian word atomically.
	Load64(off int) uint64
	Store64(off int, v uint64)
	// CompareAndSwap64 and Add64 are locked instructions of the CPU.
	CompareAndSwap64(off int, old, new uint64) bool
	Add64(off int, delta uint64) uint64
	// Flush writes back the cache lines of [off, off+n); they are persistent after the
	// next Fence. On DRAM both only order.
	Flush(off, n int)
	Fence()
	// Free releases the memory. Deregister it first.
	Free() error
}

// TryLoad is r.Load for memory that may be damaged: where Load panics it returns an
// error that wraps [ErrMedia]. Rewriting the memory repairs it.
func TryLoad(r Region, off int, p []byte) (err error) {
	defer damaged(&err)
	r.Load(off, p)
	return nil
}

// TryLoad64 is r.Load64 for memory that may be damaged, as [TryLoad].
func TryLoad64(r Region, off int) (v uint64, err error) {
	defer damaged(&err)
	return r.Load64(off), nil
}

// damaged makes an error of the panic of a load that met damaged memory.
func damaged(err *error) {
	switch x := recover().(type) {
	case nil:
	case error:
		if !errors.Is(x, ErrMedia) {
			panic(x)
		}
		*err = x
	default:
		panic(x)
	}
}

// Mutex provides mutual exclusion among the tasks of one host.
type Mutex interface {
	Lock()
	Unlock()
}

// Cond is a condition variable over a Mutex.
type Cond interface {
	// Wait releases the mutex, waits for a signal and acquires the mutex again.
	Wait()
	Signal()
	Broadcast()
}

// Listener receives the requests to one service.
type Listener interface {
	// Accept waits for the next request, at most for timeout, as Host.Call does.
	Accept(timeout time.Duration) (Request, error)
	Close() error
}

// Request is a request that awaits its answer.
type Request interface {
	From() string
	Body() []byte
	// Reply answers the request; a second answer is ignored.
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
	// Wait blocks until need calls have succeeded or every call has finished. It
	// returns all answers known by then, in the order of the calls, which may include
	// failures and more successes than needed. The slice belongs to the Gather. A later
	// Wait returns answers that arrive later.
	Wait(need int) []Answer
}

// RemoteError is returned when the service rejects a request.
type RemoteError struct {
	Host, Service, Reason string
}

func (e *RemoteError) Error() string {
	return e.Host + "/" + e.Service + " rejected the request: " + e.Reason
}
