package coord

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// CallTimeout is how long a Client of [NewClient] waits for an answer.
const CallTimeout = time.Second

// client has no state besides its address, so tasks of one host may share it.
type client struct {
	host            host.Host
	server, service string
}

// NewClient returns a Client for host h of the [Store] behind service of host server.
func NewClient(h host.Host, server, service string) Client {
	return &client{host: h, server: server, service: service}
}

// call sends one request and returns the result in its answer.
func (c *client) call(op opcode, key string, num uint64, value []byte) ([]byte, error) {
	if err := checkLimits(op, key, value); err != nil {
		return nil, opError(op, key, num, err)
	}
	resp, err := c.host.Call(c.server, c.service, encodeRequest(op, key, num, value), CallTimeout)
	if err != nil {
		return nil, opError(op, key, num, fmt.Errorf("%w: %w", ErrUnavailable, err))
	}
	result, err := decodeResponse(op, resp)
	if err != nil {
		return nil, opError(op, key, num, err)
	}
	return result, nil
}

func checkLimits(op opcode, key string, value []byte) error {
	check := CheckPrefix
	if ops[op].shape&hasKey != 0 {
		check = CheckKey
	}
	if err := check(key); err != nil {
		return err
	}
	return CheckValue(value)
}

func opError(op opcode, key string, num uint64, err error) error {
	e := &Error{Op: ops[op].name, Key: key, Err: err}
	if ops[op].shape&hasSession != 0 {
		e.Session = Session(num)
	}
	return e
}

func (c *client) Get(key string) ([]byte, uint64, error) {
	result, err := c.call(opGet, key, 0, nil)
	if err != nil {
		return nil, 0, err
	}
	return result[8:], binary.LittleEndian.Uint64(result), nil
}

func (c *client) Create(key string, value []byte, s Session) error {
	_, err := c.call(opCreate, key, uint64(s), value)
	return err
}

func (c *client) Set(key string, value []byte, ifVersion uint64) (uint64, error) {
	result, err := c.call(opSet, key, ifVersion, value)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(result), nil
}

func (c *client) Delete(key string, ifVersion uint64) error {
	_, err := c.call(opDelete, key, ifVersion, nil)
	return err
}

func (c *client) List(prefix string) ([]string, error) {
	result, err := c.call(opList, prefix, 0, nil)
	if err != nil {
		return nil, err
	}
	keys, err := decodeKeys(result)
	if err != nil {
		return nil, opError(opList, prefix, 0, err)
	}
	return keys, nil
}

func (c *client) NewSession() (Session, error) {
	result, err := c.call(opNewSession, "", 0, nil)
	if err != nil {
		return NoSession, err
	}
	return Session(binary.LittleEndian.Uint64(result)), nil
}

func (c *client) CheckSession(s Session) error {
	_, err := c.call(opCheckSession, "", uint64(s), nil)
	return err
}

func (c *client) CloseSession(s Session) error {
	_, err := c.call(opCloseSession, "", uint64(s), nil)
	return err
}
