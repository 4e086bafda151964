// Package splitfscheck checks package splitfs: an application with a directory and a
// store that may crash at any call, programs of operations on files, and a model of all
// names and contents. Completed operations must have taken effect. An interrupted one
// may have taken effect wholly, not at all, or in part as package splitfs promises.
//
// [Scenarios] lists the scenarios. Most have their own store, in which a crash keeps any
// of the pieces of a Record; two use NCL on peers.
//
// The classes of violations:
//
//	lost        the effect of a completed operation is missing
//	half-done   an interrupted operation left a partial effect that is not allowed
//	wrong       without a crash a file differs from the model
//	leaked      a part of a deleted file is left
//	reused-name an object has the name of an earlier one
//	unsynced    an operation completed, but names are not durable
//	unavailable an operation failed without a reason
//	nonsense    an invalid request was accepted, or refused with the wrong error
//	misuse      a call of the store or the directory that is not allowed
package splitfscheck
