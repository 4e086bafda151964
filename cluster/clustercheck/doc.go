// Package clustercheck is what to check of package cluster: processes that are stopped and go
// on after their session, instances that begin while another one still runs, machines that want
// one name, and a controller that comes back empty.
//
// Sessions end when the scenario says so, whatever the heartbeats are: that is all that a process
// can count on. Only cluster/anew and cluster/sessions have the real coordinator, whose sessions
// end by a clock. The scenarios are under the regime idle, since heartbeats go on for ever: some let
// a timer fire early, in others a process waits for its next heartbeat or not. cluster/any-moment is
// under free, with one heartbeat.
//
// [Forgotten] shows what does not hold.
package clustercheck
