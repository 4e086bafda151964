package soak

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/process"
	"github.com/verbatim-rdma/verbatim/internal/codec/reclog"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// The findings of a soak; test for them with errors.Is.
var (
	// ErrLost: a recovery lost acknowledged data, or returned data that was never written.
	ErrLost = errors.New("a recovery broke the promise")
	// ErrStuck: a process exited or stalled although no more than f peers were dead.
	ErrStuck = process.ErrStuck
	// ErrLeaked: a peer lends memory although there is no file.
	ErrLeaked = errors.New("a peer's memory leaked")
)

// Config configures a soak. Zero fields have their defaults.
type Config struct {
	// Program is the verbatim-run to run; it must be able to open the cards.
	Program string
	// Devices are the cards: the first is the writer's, and the peers take the others
	// in turn, or the first too if it is the only one.
	Devices []string
	// F is the number of the 2F+1 peers of a file that may fail. Default 1.
	F int
	// Spares is the number of peers beyond 2F+1, to replace others.
	Spares int
	// Etcd are the endpoints of an etcd cluster to use as the controller, in the form of
	// the flag --etcd. Empty: the soak starts a coordinator.
	Etcd string
	// Rounds is the number of kills of a writer.
	Rounds int
	// Seed determines all random choices.
	Seed uint64
	// Size is the size of a file in bytes. Default 64 KiB.
	Size int
	// Acks is the largest number of acknowledgements to wait for before a kill. Default 20.
	Acks int
	// Record is the largest size of a record in bytes. Default 256.
	Record int
	// SessionTTL is how long a session outlives its process. Each writer waits for the
	// session of the previous writer to expire. Default 2 s, the minimum of etcd.
	SessionTTL time.Duration
	// AckTimeout is the flag --ack-timeout of the processes; 0: their default.
	AckTimeout time.Duration
	// Patience is how long a process may take for one step. Default a minute.
	Patience time.Duration
	// Env is added to the environment of the processes.
	Env []string
	// Dir is an existing directory for the logs of the processes.
	Dir string
	// Progress, if not nil, receives a line for each round.
	Progress io.Writer
}

const minRecord = 8 // a record begins with its life and its number

// Validate checks c.
func (c *Config) Validate() error {
	full := c.complete()
	switch {
	case c.Program == "" || len(c.Devices) == 0:
		return errors.New("soak: no program or no devices")
	case full.F < 1 || full.F > ncl.MaxF:
		return fmt.Errorf("soak: f is %d; it must be 1 to %d", full.F, ncl.MaxF)
	case full.Spares < 0 || full.Spares > 100:
		return fmt.Errorf("soak: %d spare peers; want 0 to 100", full.Spares)
	case c.Rounds < 1:
		return fmt.Errorf("soak: %d rounds; want at least one", c.Rounds)
	case full.Acks < 1 || full.Acks > 1<<20:
		return fmt.Errorf("soak: %d acknowledgements before a kill; want 1 to %d", full.Acks, 1<<20)
	case full.Record < minRecord || full.Record > 1<<20:
		return fmt.Errorf("soak: records of at most %d bytes; want %d to %d", full.Record, minRecord, 1<<20)
	case full.Size < full.need() || full.Size > ncl.MaxSize:
		return fmt.Errorf("soak: files of %d bytes; with these records, want %d to %d", full.Size, full.need(), ncl.MaxSize)
	case full.Patience < time.Second:
		return fmt.Errorf("soak: a patience of %v; want at least a second", full.Patience)
	case full.SessionTTL <= 0 || full.SessionTTL > full.Patience/2:
		return fmt.Errorf("soak: sessions of %v: a writer waits until one expires, so they must be positive and at most half of the patience, %v: pass a shorter --session-ttl or a longer --patience", full.SessionTTL, full.Patience)
	}
	return nil
}

// need returns the number of bytes that the records of one writer may take. It gets more
// records than the soak waits for, so it is busy when it is killed.
func (c *Config) need() int { return (c.feed() + later) * (reclog.Header + c.Record) }

func (c *Config) feed() int { return 4*c.Acks + 10 }

// later is the number of records that a writer gets after the death of a peer: more than fit
// into the send queue to a peer, so that the writer detects the death.
const later = 40

func (c *Config) complete() Config {
	full := *c
	orDefault(&full.F, 1)
	orDefault(&full.Size, 64<<10)
	orDefault(&full.Acks, 20)
	orDefault(&full.Record, 256)
	orDefault(&full.SessionTTL, 2*time.Second)
	orDefault(&full.Patience, time.Minute)
	return full
}

func orDefault[T int | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

// Counts are the counts of a soak.
type Counts struct {
	Rounds       int `json:"rounds"`
	Files        int `json:"files"`
	Acknowledged int `json:"acknowledged"` // records
	// Kills of writers; of these, kills before their recovery had finished, and kills
	// when all their records were acknowledged.
	WriterKills   int `json:"writer_kills"`
	RecoveryKills int `json:"recovery_kills"`
	IdleKills     int `json:"idle_kills"`
	// Kills of peers; of these, kills at the same moment as the kill of the writer.
	PeerKills     int `json:"peer_kills"`
	TogetherKills int `json:"together_kills"`
	// Peers that were replaced while the writer continued, and kills of another peer
	// after that.
	Replacements int `json:"replacements"`
	AgainKills   int `json:"again_kills"`
	// Recoveries that finished and were compared; of these, recoveries with one record
	// more than was acknowledged, with a part of such a record, and without a peer of the
	// file, which was dead or empty.
	Recoveries  int `json:"recoveries"`
	Beyond      int `json:"beyond"`
	WithoutPeer int `json:"without_peer"`
	// Records that all recoveries returned, in total.
	Returned int `json:"returned"`
}
