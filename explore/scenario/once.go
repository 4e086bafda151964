package scenario

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// ErrLost is wrapped by the error of a call that [Once] makes fail.
var ErrLost = errors.New("lost, as the scenario wants it")

// Once makes at most one of the calls that it counts fail, as the run chooses.
type Once struct {
	// By is the host whose Rand chooses.
	By host.Host
	// Answers: a call may also be carried out and its answer lost.
	Answers bool
	// Spare is how many first calls do not fail.
	Spare int
	// Failed: a call has failed, so no other does.
	Failed bool
}

// Pick counts a call. Once it returns one of n ways to fail, from 1, and otherwise 0.
func (o *Once) Pick(n int) int {
	o.Spare--
	if o.Spare >= 0 || o.Failed {
		return 0
	}
	way := o.By.Rand(n + 1)
	o.Failed = way > 0
	return way
}

// Do carries out a call, unless it is the one to fail. Then its error wraps [ErrLost]
// and [coord.ErrUnavailable].
func (o *Once) Do(call func() error) error {
	ways := 1
	if o.Answers {
		ways = 2
	}
	switch o.Pick(ways) {
	case 0:
		return call()
	case 2:
		_ = call()
	}
	return fmt.Errorf("%w: %w", coord.ErrUnavailable, ErrLost)
}

// Losing returns a client of the controller in which o makes a call fail.
func (o *Once) Losing(c coord.Client) coord.Client {
	return Around(c, func(_ string, call func() error) error { return o.Do(call) })
}

// Around returns a client whose calls go through f, which may carry them out or not, and act
// before or after. op is the operation as in [coord.Error]: get, create, set, delete,
// list, new session, check session or close session.
func Around(c coord.Client, f func(op string, call func() error) error) coord.Client {
	return &around{c, f}
}

type around struct {
	c coord.Client
	f func(op string, call func() error) error
}

func (a *around) Get(key string) (value []byte, version uint64, err error) {
	err = a.f("get", func() (err error) { value, version, err = a.c.Get(key); return })
	return
}

func (a *around) Create(key string, value []byte, s coord.Session) error {
	return a.f("create", func() error { return a.c.Create(key, value, s) })
}

func (a *around) Set(key string, value []byte, ifVersion uint64) (version uint64, err error) {
	err = a.f("set", func() (err error) { version, err = a.c.Set(key, value, ifVersion); return })
	return
}

func (a *around) Delete(key string, ifVersion uint64) error {
	return a.f("delete", func() error { return a.c.Delete(key, ifVersion) })
}

func (a *around) List(prefix string) (keys []string, err error) {
	err = a.f("list", func() (err error) { keys, err = a.c.List(prefix); return })
	return
}

func (a *around) NewSession() (s coord.Session, err error) {
	err = a.f("new session", func() (err error) { s, err = a.c.NewSession(); return })
	return
}

func (a *around) CheckSession(s coord.Session) error {
	return a.f("check session", func() error { return a.c.CheckSession(s) })
}

func (a *around) CloseSession(s coord.Session) error {
	return a.f("close session", func() error { return a.c.CloseSession(s) })
}
