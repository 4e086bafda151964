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

// What a soak finds, to be tested with errors.Is.
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
	// F is how many peers of a file may fail, of 2F+1. Default 1.
	F int
	// Spares is how many peers there are beyond 2F+1, to replace others.
	Spares int
	// Etcd are the endpoints of an etcd cluster to take for the controller, as the flag
	// --etcd has them. Empty: a coordinator of our own.
	Etcd string
	// Rounds is how many kills of a writer to do.
	Rounds int
	// Seed determines everything that is random.
	Seed uint64
	// Size is the size of a file in bytes. Default 64 KiB.
	Size int
	// Acks is the most acknowledgements to wait for before a kill. Default 20.
	Acks int
	// Record is the most bytes of a record. Default 256.
	Record int
	// SessionTTL is how long a session outlives its process, which each writer waits for
	// after the death of the one before. Default 2 s, the least that etcd takes.
	SessionTTL time.Duration
	// AckTimeout is the flag --ack-timeout of the processes. Default theirs.
	AckTimeout time.Duration
	// Patience is how long a process may take for one step. Default a minute.
	Patience time.Duration
	// Env is added to the environment of the processes.
	Env []string
	// Dir takes the logs of the processes; it must be there.
	Dir string
	// Progress takes a line for each round; may be nil.
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

// need returns how many bytes the records of one writer may take. The records that follow
// those to wait for keep it busy when it is killed.
func (c *Config) need() int { return (c.feed() + later) * (reclog.Header + c.Record) }

func (c *Config) feed() int { return 4*c.Acks + 10 }

// later is how many records a writer gets after the death of a peer: more than fit into
// the send queue to a peer, so that the writer notices.
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
	// Kills of writers; of these, before their recovery was done, and when all that
	// they had been given was acknowledged.
	WriterKills   int `json:"writer_kills"`
	RecoveryKills int `json:"recovery_kills"`
	IdleKills     int `json:"idle_kills"`
	// Kills of peers; of these, at the same moment as the writer's.
	PeerKills     int `json:"peer_kills"`
	TogetherKills int `json:"together_kills"`
	// Peers that were replaced while the writer went on, and kills of another one then.
	Replacements int `json:"replacements"`
	AgainKills   int `json:"again_kills"`
	// Recoveries that were done, and compared; of these, with a record more than was
	// acknowledged, with a part of one, and while a peer of the file was gone or empty.
	Recoveries  int `json:"recoveries"`
	Beyond      int `json:"beyond"`
	WithoutPeer int `json:"without_peer"`
	// Records that they returned, over all recoveries.
	Returned int `json:"returned"`
}
