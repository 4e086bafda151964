package verbs

import (
	"errors"
	"fmt"
)

// Status is the status of a work completion. The values are those of ibv_wc_status, so
// a number in a vendor's log means the same here.
type Status uint8

// The status codes of libibverbs.
const (
	StatusSuccess Status = iota
	StatusLocLenErr
	StatusLocQPOpErr
	StatusLocEECOpErr
	StatusLocProtErr
	StatusWRFlushErr
	StatusMWBindErr
	StatusBadRespErr
	StatusLocAccessErr
	StatusRemInvReqErr
	StatusRemAccessErr
	StatusRemOpErr
	StatusRetryExcErr
	StatusRNRRetryExcErr
	StatusLocRDDViolErr
	StatusRemInvRDReqErr
	StatusRemAbortErr
	StatusInvEECNErr
	StatusInvEECStateErr
	StatusFatalErr
	StatusRespTimeoutErr
	StatusGeneralErr
)

var statusNames = [...]string{
	"SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR", "MW_BIND_ERR",
	"BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR", "RETRY_EXC_ERR",
	"RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR", "REM_ABORT_ERR", "INV_EECN_ERR",
	"INV_EEC_STATE_ERR", "FATAL_ERR", "RESP_TIMEOUT_ERR", "GENERAL_ERR",
}

func (s Status) String() string { return nameOf(statusNames[:], int(s), "Status") }

// Errors that every backend wraps; test for them with errors.Is.
var (
	// ErrTimeout: the timeout of a wait expired.
	ErrTimeout = errors.New("verbs: timed out")
	// ErrClosed: the object was destroyed, deregistered or closed.
	ErrClosed = errors.New("verbs: closed")
	// ErrInvalid: an argument is not acceptable (EINVAL).
	ErrInvalid = errors.New("verbs: invalid argument")
	// ErrQueueFull: the work queue has no free slot (ENOMEM). Slots of
	// unsignaled requests become free when a later completion is polled.
	ErrQueueFull = errors.New("verbs: work queue full")
	// ErrUnsupported: the device cannot do this.
	ErrUnsupported = errors.New("verbs: not supported by the device")
	// ErrState: the queue pair's state does not allow this.
	ErrState = errors.New("verbs: wrong queue pair state")
	// ErrCompletion: a work request completed in error.
	ErrCompletion = errors.New("verbs: work request failed")
	// ErrBusy: the object is still in use (EBUSY).
	ErrBusy = errors.New("verbs: in use")
)

// CompletionError is a work completion in error. It wraps [ErrCompletion].
type CompletionError struct {
	ID     uint64
	Status Status
	QPNum  uint32
}

func (e *CompletionError) Error() string {
	return fmt.Sprintf("verbs: work request %d on QP %d completed with %v", e.ID, e.QPNum, e.Status)
}

func (e *CompletionError) Unwrap() error { return ErrCompletion }

// PostError names the work request of a batch that was refused. Those before it were
// posted; it and those after it were not (bad_wr of ibv_post_send).
type PostError struct {
	Index int
	Err   error
}

func (e *PostError) Error() string {
	return fmt.Sprintf("verbs: work request %d of the batch refused: %v", e.Index, e.Err)
}

func (e *PostError) Unwrap() error { return e.Err }
