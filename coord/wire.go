package coord

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// A request is the operation (1 byte), followed by the fields of this operation, in
// this order: key (length in 1 byte, bytes), number (8 bytes: a session or a version),
// value (the rest). All widths are fixed, so every request has exactly one encoding.
//
// A response is a code (1 byte), followed by the result if that is codeOK.

type opcode uint8

const (
	opGet opcode = iota + 1
	opCreate
	opSet
	opDelete
	opList
	opNewSession
	opCheckSession
	opCloseSession
)

// Fields and effects of an operation.
const (
	hasKey = 1 << iota
	hasPrefix
	hasSession
	hasVersion
	hasValue
	mutates

	hasNum = hasSession | hasVersion
)

var ops = [...]struct {
	name  string
	shape uint8
}{
	opGet:          {"get", hasKey},
	opCreate:       {"create", hasKey | hasSession | hasValue | mutates},
	opSet:          {"set", hasKey | hasVersion | hasValue | mutates},
	opDelete:       {"delete", hasKey | hasVersion | mutates},
	opList:         {"list", hasPrefix},
	opNewSession:   {"new session", mutates},
	opCheckSession: {"check session", hasSession},
	opCloseSession: {"close session", hasSession | mutates},
}

type code uint8

const (
	codeOK code = iota
	codeNotFound
	codeExists
	codeVersion
	codeExpired
	codeInvalid
)

var codeErrors = [...]error{
	codeNotFound: ErrNotFound, codeExists: ErrExists, codeVersion: ErrVersion,
	codeExpired: ErrSessionExpired, codeInvalid: ErrInvalid,
}

// request is a decoded request; key and value alias its bytes.
type request struct {
	op    opcode
	key   []byte
	num   uint64
	value []byte
}

func encodeRequest(op opcode, key string, num uint64, value []byte) []byte {
	shape := ops[op].shape
	b := make([]byte, 1, 1+1+len(key)+8+len(value))
	b[0] = byte(op)
	if shape&(hasKey|hasPrefix) != 0 {
		b = append(b, byte(len(key)))
		b = append(b, key...)
	}
	if shape&hasNum != 0 {
		b = binary.LittleEndian.AppendUint64(b, num)
	}
	return append(b, value...)
}

// decodeRequest reports false unless encodeRequest produces b for arguments within the
// limits.
func decodeRequest(b []byte) (r request, ok bool) {
	if len(b) == 0 || b[0] == 0 || int(b[0]) >= len(ops) {
		return r, false
	}
	r.op = opcode(b[0])
	shape := ops[r.op].shape
	b = b[1:]
	if shape&(hasKey|hasPrefix) != 0 {
		if r.key, b, ok = cutKey(b); !ok || len(r.key) == 0 && shape&hasKey != 0 {
			return r, false
		}
	}
	if shape&hasNum != 0 {
		if len(b) < 8 {
			return r, false
		}
		r.num, b = binary.LittleEndian.Uint64(b), b[8:]
	}
	if shape&hasValue != 0 {
		r.value, b = b, nil
	}
	return r, len(b) == 0 && len(r.value) <= MaxValue
}

// cutKey splits a key with its length off the front of b.
func cutKey(b []byte) (key, rest []byte, ok bool) {
	if len(b) == 0 || len(b)-1 < int(b[0]) {
		return nil, b, false
	}
	n := 1 + int(b[0])
	return b[1:n], b[n:], true
}

// decodeResponse splits the result off resp. The error is the sentinel in the answer,
// or ErrUnavailable if the answer is malformed.
func decodeResponse(op opcode, resp []byte) (result []byte, err error) {
	if len(resp) == 0 || int(resp[0]) >= len(codeErrors) {
		return nil, errMalformed
	}
	if c := code(resp[0]); c != codeOK {
		return nil, codeErrors[c]
	}
	result = resp[1:]
	switch op {
	case opGet:
		if len(result) < 8 {
			return nil, errMalformed
		}
	case opSet, opNewSession:
		if len(result) != 8 {
			return nil, errMalformed
		}
	case opList: // decodeKeys checks it
	default:
		if len(result) != 0 {
			return nil, errMalformed
		}
	}
	return result, nil
}

// errMalformed counts as unavailable: the service may have done anything.
var errMalformed = fmt.Errorf("%w: malformed answer", ErrUnavailable)

// decodeKeys decodes the result of a list.
func decodeKeys(b []byte) ([]string, error) {
	n := 0
	for rest, ok := b, true; len(rest) > 0; n++ {
		if _, rest, ok = cutKey(rest); !ok {
			return nil, errMalformed
		}
	}
	keys := make([]string, 0, n)
	for len(b) > 0 {
		var key []byte
		key, b, _ = cutKey(b)
		keys = append(keys, string(key))
	}
	return keys, nil
}

// ReadOnly reports whether req leaves every state of a [Store] unchanged. Two such
// requests commute.
func ReadOnly(req []byte) bool {
	r, ok := decodeRequest(req)
	return !ok || ops[r.op].shape&mutates == 0
}

// Describe summarizes a request and its answer in one line, for the reader of a trace.
// A nil resp is omitted.
func Describe(req, resp []byte) string {
	r, ok := decodeRequest(req)
	if !ok {
		return "malformed coordination request"
	}
	s, shape := ops[r.op].name, ops[r.op].shape
	if shape&(hasKey|hasPrefix) != 0 {
		s += " " + strconv.Quote(string(r.key))
	}
	if shape&hasVersion != 0 && r.num != AnyVersion {
		s += fmt.Sprintf(" at version %d", r.num)
	}
	if shape&hasSession != 0 && r.num != 0 {
		s += fmt.Sprintf(" in session %d", r.num)
	}
	if shape&hasValue != 0 {
		s += fmt.Sprintf(", %d bytes", len(r.value))
	}
	if resp == nil {
		return s
	}
	result, err := decodeResponse(r.op, resp)
	switch {
	case err != nil:
		return s + ": " + err.Error()
	case r.op == opGet:
		return s + fmt.Sprintf(": version %d, %d bytes", binary.LittleEndian.Uint64(result), len(result)-8)
	case r.op == opSet:
		return s + fmt.Sprintf(": version %d", binary.LittleEndian.Uint64(result))
	case r.op == opNewSession:
		return s + fmt.Sprintf(": session %d", binary.LittleEndian.Uint64(result))
	}
	return s + ": ok"
}
