package oshost

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Errors; test for them with errors.Is. Errors of calls also wrap host.ErrUnreachable.
var (
	// ErrConfig: a setting exceeds its limits.
	ErrConfig = errors.New("oshost: bad configuration")
	// ErrVersion: the other host has another version of the protocol.
	ErrVersion = errors.New("oshost: the peer has another version")
	// ErrProtocol: the responder is not a host of this kind, or violated the protocol.
	ErrProtocol = errors.New("oshost: the peer breaks the protocol")
	// ErrTooLarge: a message is longer than Config.MaxMessage.
	ErrTooLarge = errors.New("oshost: message too large")
	// ErrBusy: the queue of the peer's service is full.
	ErrBusy = errors.New("oshost: the peer is busy")
)

// Defaults of Config.
const (
	DefaultMaxMessage = 1 << 20
	DefaultQueue      = 128
	DefaultMaxConns   = 256
	DefaultSlowest    = 10 * time.Second
)

// Config describes a host. Zero fields take the defaults.
type Config struct {
	// Name is the name by which others call the host: 1 to 100 letters, digits and -._
	// characters.
	Name string
	// Device is the card, or one of package verbs/soft; nil if nothing needs one.
	Device verbs.Device
	// Listen is the address for calls from others, such as ":7001". Empty: the host
	// accepts no calls.
	Listen string
	// Peers are the addresses of other hosts by name. AddPeer adds more.
	Peers map[string]string
	// Resolve finds the address of a host that is not among Peers. It is called for each
	// new connection, since the host may have moved. Its error gives the reason why there
	// is no address. Nil: only Peers are known.
	Resolve func(name string) (addr string, err error)
	// TLS enables TLS for all messages, with certificates on both sides: it needs
	// Certificates, RootCAs and ClientCAs. A certificate must be for the host's name.
	TLS *tls.Config
	// PMEMDir is the folder for persistent regions. Empty: there are none.
	PMEMDir string
	// HugePages puts regions on huge pages.
	HugePages bool
	// MaxMessage is the largest request or answer in bytes. Default 1 MiB.
	MaxMessage int
	// Queue is the largest number of waiting requests to a service. Default 128.
	Queue int
	// MaxConns is the largest number of incoming connections. Default 256.
	MaxConns int
	// Slowest is how long a peer may take to send one request, to receive one answer,
	// and to accept a connection. Default 10 s.
	Slowest time.Duration
	// Logf receives the lines of Host.Logf. Nil: they are dropped unformatted.
	Logf func(format string, args ...any)
}

// Validate checks c. Its error wraps [ErrConfig] and names the field.
func (c *Config) Validate() error {
	if !validName(c.Name) {
		return fmt.Errorf("%w: Name %q: 1 to %d letters, digits and -._ characters", ErrConfig, c.Name, maxName)
	}
	for _, f := range []struct {
		name    string
		v, most int
	}{{"MaxMessage", c.MaxMessage, math.MaxInt32}, {"Queue", c.Queue, 1 << 20}, {"MaxConns", c.MaxConns, 1 << 20},
		{"Slowest", int(c.Slowest), int(time.Hour)}} {
		if f.v < 0 || f.v > f.most {
			return fmt.Errorf("%w: %s is %d; it must be 0 (default) to %d", ErrConfig, f.name, f.v, f.most)
		}
	}
	for name, addr := range c.Peers { //lint:ordered any error suffices
		if err := checkPeer(name, addr); err != nil {
			return err
		}
	}
	if c.TLS != nil && (len(c.TLS.Certificates) == 0 && c.TLS.GetCertificate == nil || c.TLS.RootCAs == nil || c.TLS.ClientCAs == nil) {
		return fmt.Errorf("%w: TLS needs Certificates, RootCAs and ClientCAs: both sides show certificates", ErrConfig)
	}
	return nil
}

func checkPeer(name, addr string) error {
	if !validName(name) || addr == "" {
		return fmt.Errorf("%w: peer %q at %q: want a name and host:port", ErrConfig, name, addr)
	}
	return nil
}

// complete returns c with its defaults filled in.
func (c Config) complete() Config {
	orDefault(&c.MaxMessage, DefaultMaxMessage)
	orDefault(&c.Queue, DefaultQueue)
	orDefault(&c.MaxConns, DefaultMaxConns)
	orDefault(&c.Slowest, DefaultSlowest)
	return c
}

func orDefault[T int | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}
