package farm

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// ServerConfig configures a [Server].
type ServerConfig struct {
	Listen string // HOST:PORT; port 0: any free one
	Store  string // the folder for waiting jobs and results
	// File is a configuration of nats-server, for TLS, users and clusters. Listen and Store, if set, take precedence.
	File string
}

// Server is a server of NATS in this process.
type Server struct{ s *server.Server }

// startTime is how long a server may take to start.
const startTime = 10 * time.Second

// Serve starts a server.
func Serve(cfg ServerConfig) (*Server, error) {
	opts := &server.Options{}
	if cfg.File != "" {
		var err error
		if opts, err = server.ProcessConfigFile(cfg.File); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrConfig, cfg.File, err)
		}
	}
	if cfg.Listen != "" {
		host, port, err := split(cfg.Listen)
		if err != nil {
			return nil, err
		}
		if opts.Host, opts.Port = host, port; port == 0 {
			opts.Port = server.RANDOM_PORT
		}
	}
	if cfg.Store != "" {
		opts.StoreDir = cfg.Store
	}
	opts.JetStream, opts.NoSigs, opts.NoLog = true, true, true
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	go s.Start()
	if !s.ReadyForConnections(startTime) || !s.JetStreamEnabled() {
		s.Shutdown()
		return nil, errors.Join(ErrConfig, fmt.Errorf("the server on %s does not start: is the address in use, or the folder %s in use or not writable", cfg.Listen, opts.StoreDir))
	}
	return &Server{s}, nil
}

// URL returns the address for clients.
func (s *Server) URL() string { return s.s.ClientURL() }

// Close stops the server. Waiting jobs and results stay in its folder.
func (s *Server) Close() {
	s.s.Shutdown()
	s.s.WaitForShutdown()
}

// split returns the parts of HOST:PORT.
func split(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("%w: address %q: it must be HOST:PORT", ErrConfig, address)
	}
	return host, port, nil
}
