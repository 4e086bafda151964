package verbs

import (
	"fmt"
	"strings"
)

// QPState is the state of a queue pair (ibv_qp_state).
type QPState uint8

// The states of a queue pair.
const (
	StateReset QPState = iota
	StateInit
	StateRTR
	StateRTS
	StateSQD
	StateSQE
	StateErr
)

var stateNames = [...]string{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"}

func (s QPState) String() string { return nameOf(stateNames[:], int(s), "QPState") }

// Attr is a set of queue pair attributes (ibv_qp_attr_mask).
type Attr uint16

// The attributes of a reliable connection.
const (
	AttrPort Attr = 1 << iota
	AttrPKey
	AttrAccess
	AttrPath // address vector: GID or LID
	AttrMTU
	AttrDestQPN
	AttrRQPSN
	AttrMaxDestRdAtomic
	AttrMinRNRTimer
	AttrTimeout
	AttrRetryCount
	AttrRNRRetry
	AttrSQPSN
	AttrMaxRdAtomic
	AttrAltPath
)

var attrNames = [...]string{
	"PORT", "PKEY_INDEX", "ACCESS_FLAGS", "AV", "PATH_MTU", "DEST_QPN", "RQ_PSN", "MAX_DEST_RD_ATOMIC",
	"MIN_RNR_TIMER", "TIMEOUT", "RETRY_CNT", "RNR_RETRY", "SQ_PSN", "MAX_QP_RD_ATOMIC", "ALT_PATH",
}

func (a Attr) String() string {
	var names []string
	for i, n := range attrNames {
		if a&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, "|")
}

// QPAttr is the argument of [QP.Modify]: the attributes in Mask change, and also the
// state if SetState is set.
type QPAttr struct {
	SetState bool
	State    QPState
	Mask     Attr
	Access   Access // with AttrAccess
}

// Transition is one row of the state machine of a reliable connection.
type Transition struct {
	From, To           QPState
	Required, Optional Attr
}

// Transitions is the whole state machine of a reliable connection. The required
// attributes are those of ibv_modify_qp(3) and IBA volume 1, table 91. The manual page
// does not list optional ones; these are what qp_state_table in Linux
// (drivers/infiniband/core/verbs.c) accepts for a reliable connection. From SQE to RTS
// there are none: only unreliable queue pairs enter SQE by themselves, and only for
// them are the access flags optional. Every state may also go to RESET, and every state
// but RESET to ERR, without attributes; [CheckTransition] allows both.
var Transitions = []Transition{
	{StateReset, StateInit, AttrPKey | AttrPort | AttrAccess, 0},
	{StateInit, StateInit, 0, AttrPKey | AttrPort | AttrAccess},
	{StateInit, StateRTR, AttrPath | AttrMTU | AttrDestQPN | AttrRQPSN | AttrMaxDestRdAtomic | AttrMinRNRTimer,
		AttrPKey | AttrAccess | AttrAltPath},
	{StateRTR, StateRTS, AttrTimeout | AttrRetryCount | AttrRNRRetry | AttrSQPSN | AttrMaxRdAtomic,
		AttrAccess | AttrAltPath | AttrMinRNRTimer},
	{StateRTS, StateRTS, 0, AttrAccess | AttrAltPath | AttrMinRNRTimer},
	{StateRTS, StateSQD, 0, 0},
	{StateSQD, StateRTS, 0, AttrAccess | AttrAltPath | AttrMinRNRTimer},
	{StateSQD, StateSQD, 0, AttrPort | AttrPKey | AttrAccess | AttrPath | AttrMaxRdAtomic | AttrMaxDestRdAtomic |
		AttrMinRNRTimer | AttrTimeout | AttrRetryCount | AttrRNRRetry | AttrAltPath},
	{StateSQE, StateRTS, 0, 0},
}

// CheckTransition returns nil if a queue pair may go from state from to state to with
// the attributes in mask. Otherwise the error, which wraps [ErrState], names the
// missing attributes, the superfluous ones, or the states that can be reached.
func CheckTransition(from, to QPState, mask Attr) error {
	if to == StateReset || to == StateErr && from != StateReset {
		if mask != 0 {
			return fmt.Errorf("%w: %v to %v takes no attributes, got %v", ErrState, from, to, mask)
		}
		return nil
	}
	for _, t := range Transitions {
		if t.From != from || t.To != to {
			continue
		}
		if missing := t.Required &^ mask; missing != 0 {
			return fmt.Errorf("%w: %v to %v needs %v", ErrState, from, to, missing)
		}
		if extra := mask &^ (t.Required | t.Optional); extra != 0 {
			return fmt.Errorf("%w: %v to %v does not take %v", ErrState, from, to, extra)
		}
		return nil
	}
	return fmt.Errorf("%w: %v to %v is not a transition; from %v one reaches %s", ErrState, from, to, from, reachable(from))
}

func reachable(from QPState) string {
	var names []string
	for _, t := range Transitions {
		if t.From == from && t.To != from {
			names = append(names, t.To.String())
		}
	}
	if names = append(names, "RESET"); from != StateReset {
		names = append(names, "ERR")
	}
	return strings.Join(names, ", ")
}

// CanPostRecv reports whether a QP in state s accepts receive requests.
func (s QPState) CanPostRecv() bool { return s != StateReset }

// CanPostSend reports whether a QP in state s accepts send requests. In ERR and SQE
// they are accepted and flushed.
func (s QPState) CanPostSend() bool { return s >= StateRTS }
