package resp

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"time"
)

// Store is the interface that the front end serves: a store of package kv of Sift.
type Store interface {
	Put(key, value []byte) error
	Get(key, buf []byte) (value []byte, found bool, err error)
	Delete(key []byte) error
}

// Config configures a front end.
type Config struct {
	// Store returns the store, or nil while this node does not lead.
	Store func() Store
	// Role returns the role of the node, for INFO.
	Role func() string
}

const (
	maxConns = 4096
	// slowest is how long a client may take to receive replies.
	slowest = 30 * time.Second
)

// Serve serves clients that connect to l, until l is closed. It returns the error of l.
func Serve(l net.Listener, cfg Config) error {
	slots := make(chan struct{}, maxConns)
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		select {
		case slots <- struct{}{}:
			go func() {
				defer func() { <-slots }()
				cfg.meet(c)
			}()
		default:
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = c.Write([]byte("-ERR max number of clients reached\r\n")) // the client may be gone
			_ = c.Close()
		}
	}
}

// session is the connection of a client.
type session struct {
	*writer
	cfg  *Config
	quit bool
}

// meet serves a client until it disconnects.
func (c *Config) meet(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReaderSize(conn, maxLine)
	s := &session{writer: &writer{Writer: bufio.NewWriter(conn)}, cfg: c}
	for !s.quit {
		args, err := readCommand(r)
		switch {
		case errors.Is(err, errProtocol):
			s.failed("ERR", fmt.Sprint("Protocol error: ", err))
			s.quit = true
		case err != nil:
			return
		case len(args) > 0:
			s.do(args)
		}
		if r.Buffered() == 0 || s.quit { // otherwise the client has sent more at once
			if conn.SetWriteDeadline(time.Now().Add(slowest)) != nil || s.Flush() != nil {
				return
			}
		}
	}
}
