// Package splitfscheck is what to check of package splitfs: an application with a
// directory and a store of which it may crash at any call, programs of operations on
// files, and a model of all names and contents. What has returned stays; what was under
// way has happened or not, or in part as package splitfs promises it.
//
// [Scenarios] lists the scenarios. In most of them the store is one of the scenario's own,
// in which a Record tears into any of its pieces; in two it is NCL on peers.
package splitfscheck
