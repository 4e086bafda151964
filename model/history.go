package model

import (
	"errors"
	"fmt"
	"math"

	"github.com/anishathalye/porcupine"
)

// Errors of a [History] used out of turn.
var (
	// ErrNoSuchOp: this history did not issue the OpID.
	ErrNoSuchOp = errors.New("model: no such operation")
	// ErrOpEnded: the operation has already returned or been declared unknown.
	ErrOpEnded = errors.New("model: operation has already ended")
	// ErrStepOrder: the step is smaller than that of an event recorded before.
	ErrStepOrder = errors.New("model: step numbers go backwards")
)

// OpID identifies one operation of a [History].
type OpID int

// NoReply is the output of an operation that never returned. It may take effect at any
// moment after its invocation, or never; every [Spec] accepts it in every state.
type NoReply struct{}

func (NoReply) String() string { return "no reply" }

// Span is the Metadata of the operations that a [History] converts to: the caller's
// step numbers. Return is [Never] for an operation without a reply.
type Span struct{ Call, Return int64 }

// Never is the time at which an operation without a reply returns: after
// everything else.
const Never = math.MaxInt64

func (s Span) String() string {
	if s.Return == Never {
		return fmt.Sprintf("[%d, …]", s.Call)
	}
	return fmt.Sprintf("[%d, %d]", s.Call, s.Return)
}

// record is one operation: its events as steps, and as positions in the order in which
// the history recorded them.
type record struct {
	client        int
	input, output any
	span          Span
	callAt, retAt int64
	ended         bool
}

// History records the operations of the clients of one run. The zero value is an empty
// history. It belongs to one goroutine.
//
// Record events in the order in which they happened; step numbers may repeat but not
// decrease. Two events of the same step are ordered as recorded: a client that gets a
// reply and sends its next request within one simulator step has done one before the
// other, and treating them as overlapping would hide bugs.
//
// A client may have several operations outstanding (a pipelined connection).
type History struct {
	ops  []record
	open []OpID // unfinished, oldest first
	last int64  // step of the newest event
	now  int64  // number of events so far: the time that porcupine sees
}

// Invoke records that the client issued an operation.
func (h *History) Invoke(client int, input any, step int64) (OpID, error) {
	if input == nil {
		return -1, fmt.Errorf("%w: client %d invoked nil", ErrBadOperation, client)
	}
	if err := h.advance(step); err != nil {
		return -1, err
	}
	id := OpID(len(h.ops))
	h.ops = append(h.ops, record{
		client: client, input: input, output: NoReply{},
		span: Span{Call: step, Return: Never}, callAt: h.now, retAt: Never,
	})
	h.open = append(h.open, id)
	return id, nil
}

// Return records that the operation's answer reached its client.
func (h *History) Return(id OpID, output any, step int64) error {
	if _, pending := output.(NoReply); pending || output == nil {
		return fmt.Errorf("%w: operation %d returned %v; use Unknown for an operation without a reply", ErrBadOperation, id, output)
	}
	if err := h.end(id, step); err != nil {
		return err
	}
	op := &h.ops[id]
	op.output, op.span.Return, op.retAt = output, step, h.now
	return nil
}

// Unknown records that the client gave up on the operation at this step. The service
// may still carry it out later.
func (h *History) Unknown(id OpID, step int64) error { return h.end(id, step) }

// Crash records that a client died: its outstanding operations become unknown.
func (h *History) Crash(client int, step int64) error {
	if err := h.advance(step); err != nil {
		return err
	}
	kept := h.open[:0]
	for _, id := range h.open {
		if h.ops[id].client != client {
			kept = append(kept, id)
			continue
		}
		h.ops[id].ended = true
	}
	h.open = kept
	return nil
}

// Len returns the number of operations recorded.
func (h *History) Len() int { return len(h.ops) }

// Open returns the number of unfinished operations.
func (h *History) Open() int { return len(h.open) }

// Reset empties the history but keeps its memory for the next run.
func (h *History) Reset() {
	clear(h.ops)
	h.ops, h.open, h.last, h.now = h.ops[:0], h.open[:0], 0, 0
}

// Operations converts to porcupine's form. Operations without a reply return at [Never]
// with output [NoReply]. The times are event positions, which refine the step numbers;
// Metadata holds the steps as a [Span].
func (h *History) Operations() []porcupine.Operation {
	ops := make([]porcupine.Operation, len(h.ops))
	for i := range h.ops {
		r := &h.ops[i]
		ops[i] = porcupine.Operation{
			ClientId: r.client, Input: r.input, Output: r.output,
			Call: r.callAt, Return: r.retAt, Metadata: r.span,
		}
	}
	return ops
}

// end closes an operation, which must be open.
func (h *History) end(id OpID, step int64) error {
	if id < 0 || int(id) >= len(h.ops) {
		return fmt.Errorf("%w: %d of %d", ErrNoSuchOp, id, len(h.ops))
	}
	if h.ops[id].ended {
		return fmt.Errorf("%w: operation %d, %v", ErrOpEnded, id, h.ops[id].input)
	}
	if err := h.advance(step); err != nil {
		return err
	}
	h.ops[id].ended = true
	for i, o := range h.open {
		if o == id {
			h.open = append(h.open[:i], h.open[i+1:]...)
			break
		}
	}
	return nil
}

// advance advances the time to an event at this step.
func (h *History) advance(step int64) error {
	if h.now > 0 && step < h.last {
		return fmt.Errorf("%w: %d after %d", ErrStepOrder, step, h.last)
	}
	h.last = step
	h.now++
	return nil
}
