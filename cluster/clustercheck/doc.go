// Package clustercheck has the scenarios of package cluster: processes that are stopped
// and resume after their session has expired, instances that start while another one
// still runs, machines that want the same name, and a controller that restarts empty.
//
// Sessions expire when the scenario decides, regardless of heartbeats: a process can
// rely on nothing else. Only cluster/anew and cluster/sessions use the real
// coordinator, whose sessions expire by a clock. The scenarios use the regime idle,
// since heartbeats never stop: in some a timer fires early, in others a process may or
// may not wait for its next heartbeat. cluster/any-moment uses free, with one
// heartbeat.
//
// [Forgotten] shows a property that the package does not have.
package clustercheck
