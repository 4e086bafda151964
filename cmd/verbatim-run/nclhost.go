package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
)

// hostFlags identify a process, and configure its communication with the others.
type hostFlags struct {
	name, listen  string
	conns         int // largest number of incoming connections; 0: the default
	cert, key, ca string
	pmem          string                                     // directory of persistent regions; "": none
	resolve       func(name string) (addr string, err error) // finds hosts that no flag names
	repeat        time.Duration                              // how often to log the same line; 0: always
}

func (f *hostFlags) define(fl *pflag.FlagSet) {
	fl.StringVar(&f.cert, "tls-cert", "", "use TLS with this certificate (PEM `file`), which must be for the host's name")
	fl.StringVar(&f.key, "tls-key", "", "private key of --tls-cert (PEM `file`)")
	fl.StringVar(&f.ca, "tls-ca", "", "the CA of the other processes' certificates (PEM `file`)")
}

// open makes the host, on a card if device is not nil.
func (f *hostFlags) open(device *cardFlags, peers map[string]string, stderr io.Writer) (*oshost.Host, error) {
	cfg := oshost.Config{Name: f.name, Listen: f.listen, MaxConns: f.conns, Peers: peers, Resolve: f.resolve, PMEMDir: f.pmem,
		Logf: f.logf(stderr)}
	var err error
	if cfg.TLS, err = f.tls(); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if f.pmem != "" {
		if info, err := os.Stat(f.pmem); err != nil {
			return nil, fmt.Errorf("--pmem: %w", err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("--pmem: %s is no directory", f.pmem)
		}
	}
	if device != nil {
		if cfg.Device, err = device.open(f.listen, cfg.Logf); err != nil {
			return nil, err
		}
	}
	return oshost.New(cfg)
}

// logf writes lines, but repeats a line only after some time.
func (f *hostFlags) logf(stderr io.Writer) func(format string, args ...any) {
	var mu sync.Mutex
	written := map[string]time.Time{}
	return func(format string, args ...any) {
		line := fmt.Sprintf("%s: %s\n", f.name, fmt.Sprintf(format, args...))
		mu.Lock()
		defer mu.Unlock()
		if at := written[line]; f.repeat > 0 && !at.IsZero() && time.Since(at) < f.repeat {
			return
		}
		if len(written) == maxLines {
			clear(written)
		}
		if f.repeat > 0 {
			written[line] = time.Now()
		}
		fmt.Fprint(stderr, line)
	}
}

// maxLines is the number of lines that are remembered.
const maxLines = 256

// tls returns nil without the flags.
func (f *hostFlags) tls() (*tls.Config, error) {
	if f.cert == "" && f.key == "" && f.ca == "" {
		return nil, nil
	}
	if f.cert == "" || f.key == "" || f.ca == "" {
		return nil, errors.New("--tls-cert, --tls-key and --tls-ca belong together: pass all three or none")
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", f.cert, f.key, err)
	}
	pem, err := os.ReadFile(f.ca)
	if err != nil {
		return nil, fmt.Errorf("--tls-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--tls-ca %s: no PEM certificate in the file", f.ca)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, ClientCAs: pool}, nil
}

// patient is a host whose calls have its own timeout: a coord.Client has a fixed one.
type patient struct {
	host.Host
	timeout time.Duration
}

func (p patient) Call(to, service string, req []byte, _ time.Duration) ([]byte, error) {
	return p.Host.Call(to, service, req, p.timeout)
}

// size is a number of bytes as a flag.
type size = cli.Size
