package virtual

import (
	"errors"
	"fmt"
	"time"
)

// Model defines the cost of operations. All fields are inputs: none is derived from the
// results that the model should explain.
type Model struct {
	// The network.
	LinkRate float64       // bits a second, of every host's link in each direction
	MTU      int           // bytes of payload in a packet
	Header   int           // other bytes on the wire for a packet, including gaps
	ReadTime time.Duration // a Read of 32 bytes, from before the post to after the poll

	// Cards.
	PCIeRead  time.Duration // a card's read of memory: a request, a payload, the data of a Read
	MaxInline int           // bytes; more must be read by the card
	Post      time.Duration // the CPU's part of posting one request
	PostMore  time.Duration // the same for each further request in the same list
	Poll      time.Duration // taking a completion
	Register  time.Duration // allocating and registering RegisterSize bytes; others in proportion
	QPSetup   time.Duration // creating and connecting a queue pair, at one of its ends

	// CPUs.
	CopyRate float64 // bytes a second, also of clearing memory

	// Further work of the library between the protocol and the verbs.
	WriteCall, ReadCall time.Duration // a call of the application
	Issue               time.Duration // each request, before it is posted
	Settle              time.Duration // each request, when it is complete
	SignalAll           bool          // every request is signaled and its completion polled
	Clears              int           // number of times that a log peer clears a new region before it answers

	// The control plane.
	Message time.Duration // from host to host, one way
	Lookup  time.Duration // finding peers at the controller, in all
	Update  time.Duration // one change at the controller
}

// RegisterSize is the size of the region in Model.Register.
const RegisterSize = 60 << 20

const probeSize = 32 // of the Read of Model.ReadTime

// ErrModel: a model is inconsistent.
var ErrModel = errors.New("virtual: bad model")

// Validate checks m. Its error wraps [ErrModel].
func (m *Model) Validate() error {
	switch {
	case m.LinkRate <= 0 || m.CopyRate <= 0 || m.MTU <= 0:
		return fmt.Errorf("%w: rates and the MTU must be more than 0", ErrModel)
	case m.Header < 0 || m.MaxInline < 0 || m.Clears < 0:
		return fmt.Errorf("%w: negative bytes or clears", ErrModel)
	case m.oneWay() < 0:
		return fmt.Errorf("%w: a Read of %v leaves no time for the network", ErrModel, m.ReadTime)
	}
	return nil
}

// wire returns how long n bytes occupy a link.
func (m *Model) wire(n int) time.Duration {
	packets := max(1, (n+m.MTU-1)/m.MTU)
	return time.Duration(float64(n+packets*m.Header) * 8 / m.LinkRate * 1e9)
}

// oneWay returns the time from card to card, including both cards' work: the measured Read
// minus its known parts.
func (m *Model) oneWay() time.Duration {
	return (m.ReadTime - m.Post - m.wire(0) - m.PCIeRead - m.wire(probeSize) - m.Poll) / 2
}

func (m *Model) copying(n int) time.Duration {
	return time.Duration(float64(n) / m.CopyRate * 1e9)
}

func (m *Model) registering(n int) time.Duration {
	return time.Duration(float64(m.Register) * float64(n) / RegisterSize)
}
