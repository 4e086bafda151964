// Package clustercheck is what to check of package cluster: processes that are stopped and go
// on after their session, instances that begin while another one still runs, machines that want
// one name, and a controller that comes back empty.
//
// Sessions end when the scenario says so, whatever the heartbeats are: that is all that a process
// can count on. Only cluster/anew and cluster/sessions have the real coordinator, whose sessions
// end by a clock. All scenarios are under the regime idle, since heartbeats go on for ever; the
// budget lets some timers fire early, so that a heartbeat comes at any moment.
package clustercheck
