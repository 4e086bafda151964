package kvsoak

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/process"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// Errors; test for them with errors.Is.
var (
	// ErrConfig is wrapped by every error of Config.
	ErrConfig = errors.New("kvsoak: bad configuration")
	// ErrStuck is [process.ErrStuck].
	ErrStuck = process.ErrStuck
	// ErrUndecided: the search for an order of the operations hit its limit.
	ErrUndecided = errors.New("kvsoak: undecided")
)

// Store is the configuration of the tested store.
var Store = kv.Config{Key: 16, Value: 24, Index: 4096, Blocks: 1024, Log: 16, Cache: 256}

// Config describes a soak.
type Config struct {
	Program string   // verbatim-run
	Env     []string // in addition to the environment of this process
	Dir     string   // for the logs of processes
	Device  string   // the flag --device of the processes
	// Host opens the host of the clients, which finds others by resolve.
	Host     func(resolve func(name string) (string, error)) (host.Host, error)
	Clients  int
	Rounds   int
	Seed     uint64
	Cuts     bool          // links can be cut: the device is a software device
	Patience time.Duration // after this time a process counts as stuck
	// Progress, if set, is called after each round with a line of text.
	Progress func(line string)
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	if c.Program == "" || c.Dir == "" || c.Host == nil || c.Clients < 1 || c.Clients > 16 || c.Rounds < 1 || c.Patience <= 0 {
		return fmt.Errorf("%w: %d clients (1 to 16), %d rounds, a patience of %v; a program, a directory and a host are required", ErrConfig, c.Clients, c.Rounds, c.Patience)
	}
	return nil
}

// Report is the result of a soak.
type Report struct {
	Rounds    int    `json:"rounds"`
	Acked     int    `json:"acknowledged"` // puts and deletes
	Gets      int    `json:"gets"`
	Unknown   int    `json:"unknown"`    // operations that may have been carried out
	CPUs      int    `json:"cpu_kills"`  // killed CPU nodes
	Memory    int    `json:"mem_kills"`  // killed memory nodes
	Stops     int    `json:"stops"`      // processes that were stopped for a while
	Cuts      int    `json:"cuts"`       // links
	Terms     int    `json:"terms"`      // the last term
	Compared  int    `json:"compared"`   // acknowledged puts that were compared at the end
	Violation string `json:"violation"`  // empty: none
	Checked   int    `json:"linearized"` // operations in histories that have an order
}

// ViolationError: the store has lost an acknowledged value, or its answers are not linearizable.
type ViolationError struct{ Text string }

func (e *ViolationError) Error() string { return e.Text }
