// Package splitfscheck is what to check of package splitfs: an application with a
// directory and a store of which it may crash at any call, programs of operations on
// files, and a model of all names and contents. What has returned stays; what was under
// way has happened or not, or in part as package splitfs promises it.
//
// [Scenarios] lists the scenarios. In most of them the store is one of the scenario's own,
// in which a Record tears into any of its pieces; in two it is NCL on peers.
//
// The classes of violations:
//
//	lost        what had returned is not there
//	half-done   what was under way is neither as before nor as after
//	wrong       without a crash a file is not what the operations made it
//	leaked      something is left over of what is gone
//	reused-name an object has the name of an earlier one
//	unsynced    an operation returned, and names are not durable
//	unavailable an operation failed for nothing
//	nonsense    what should be refused was taken, or refused by another error
//	misuse      a call of the store or the directory that is not allowed
package splitfscheck
