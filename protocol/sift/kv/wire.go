package kv

import (
	"encoding/binary"
	"fmt"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/kit/rpc"
)

// service is the name under which CPU nodes answer clients.
const service = "sift/kv"

// verb is the kind of a client's request.
type verb uint8

const (
	getVerb verb = iota + 1
	putVerb
	deleteVerb
)

// request is a request of a client. Key and value alias the message.
type request struct {
	verb       verb
	key, value []byte
}

// encode returns the message: the verb, the key with its length, and the value.
func (r *request) encode() []byte {
	b := append(make([]byte, 0, 5+len(r.key)+len(r.value)), byte(r.verb))
	b = binary.BigEndian.AppendUint32(b, uint32(len(r.key)))
	return append(append(b, r.key...), r.value...)
}

// decodeRequest reads what encode wrote. The error wraps [ErrMalformed]. The limits of a store are
// not checked.
func decodeRequest(b []byte) (request, error) {
	r := wire.NewReader(b)
	q := request{verb: verb(r.Uint8())}
	q.key = r.Take(int(r.Uint32()))
	q.value = r.Take(r.Left())
	r.Fail(q.verb >= getVerb && q.verb <= deleteVerb && (q.verb == putVerb || len(q.value) == 0))
	if r.End() != nil {
		return request{}, fmt.Errorf("%w: a request of %d bytes", ErrMalformed, len(b))
	}
	return q, nil
}

// status is the outcome of a request.
type status uint8

const (
	done       status = iota + 1
	absent            // the key is not there
	notLeading        // not carried out
	unknown           // perhaps carried out
	full
	tooLong
	malformed
)

// failures are the errors that a status stands for, nil if it is none.
var failures = [...]error{notLeading: ErrNotLeading, unknown: ErrUnknown, full: ErrFull, tooLong: ErrTooLong, malformed: ErrMalformed}

// answer is an answer to a client.
type answer struct {
	status status
	value  []byte // of a get
}

func (a *answer) encode() []byte { return append([]byte{byte(a.status)}, a.value...) }

// decodeAnswer reads what encode wrote. The error wraps [ErrMalformed].
func decodeAnswer(b []byte) (answer, error) {
	r := wire.NewReader(b)
	a := answer{status: status(r.Uint8())}
	a.value = r.Take(r.Left())
	r.Fail(a.status >= done && a.status <= malformed && (a.status == done || len(a.value) == 0))
	if r.End() != nil {
		return answer{}, fmt.Errorf("%w: an answer of %d bytes", ErrMalformed, len(b))
	}
	return a, nil
}

// calls configures the connections of clients. Each has one call under way.
func (c *Config) calls() rpc.Config { return rpc.Config{MaxMessage: 5 + c.Key + c.Value, Credits: 1} }
