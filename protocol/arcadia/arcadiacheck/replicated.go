package arcadiacheck

import (
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// replicated lists the scenarios of replicated logs.
var replicated = []spec{
	{
		name: "replicated", doc: "two records are forced to both copies; the backup loses power, and the application restarts",
		faults: "crash(app)<=1", bounds: "N=2, W=2, 2 lives, 2 records", meets: []string{sawEvicted},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 1, quorum: 2, before: (*run).blackout, beyond: true, answers: true}, script: (*run).two},
	},
	{
		name: "replicated-power", doc: "the same, and the application's host loses power as well",
		faults: "power(app)<=1", bounds: "N=2, W=2, 2 lives, 1 record, in each order of the local flush", meets: []string{sawEvicted, sawLost},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 1, quorum: 2, before: (*run).blackout, beyond: true, late: true, orders: 3}, script: (*run).one},
	},
	{
		name: "quorum", doc: "a record is forced to two of three copies; before the application restarts, both backups lose power and may stay down",
		faults: "crash(app)<=1", bounds: "N=3, W=2, 2 lives, 1 record", meets: []string{sawEvicted, sawUnavailable},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 2, quorum: 2, before: (*run).blackout, beyond: true, late: true}, script: (*run).one},
	},
	{
		name: "remote-only", doc: "the application has no persistent memory; a record is forced to both backups, which then lose power",
		faults: "crash(app)<=1", bounds: "N=2, W=2, 2 lives, 1 record", meets: []string{sawEvicted, sawLost},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 2, quorum: 2, remote: true, before: (*run).blackout, beyond: true, late: true}, script: (*run).one},
	},
	{
		name: "backup", doc: "one of two copies may fail at any moment; records are still forced and recovered",
		faults: "crash(backup1)<=1", bounds: "N=2, W=1, 2 lives, 2 records", meets: []string{sawLate},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 1, quorum: 1, before: (*run).quiet, beyond: true, answers: true}, script: (*run).two},
	},
	{
		name: "timeout", doc: "a backup that answers too late has failed; the next recovery, which reads all copies, repairs it",
		faults: "timeout(app)<=1", bounds: "N=2, W=1, 2 lives, 2 records", meets: []string{sawLate},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 1, quorum: 1, before: (*run).quiet, beyond: true}, script: (*run).two},
	},
	{
		name: "partition", doc: "the link to the backup is cut, and may heal",
		faults: "partition(app,backup1)<=1", bounds: "N=2, W=1, 2 lives, 2 records", meets: []string{sawLate, sawUnavailable},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 1, quorum: 1, before: (*run).quiet, beyond: true}, script: (*run).two},
	},
	{
		name: "recovery", doc: "one record is forced, another is only in the application's copy; the recovery may be interrupted anywhere, and after the next one that copy is lost",
		faults: "crash(app)<=1", bounds: "N=2, W=2, 3 lives", meets: []string{sawEvicted},
		load: workload{room: 4, lives: 3, copies: &copies{backups: 1, quorum: 2, before: (*run).quiet, crashes: 1}, script: func(r *run) {
			if r.life == 0 && r.forced() {
				r.put()
			}
		}},
	},
	{
		name: "write-quorum", doc: "a record reaches one of three copies, and its force fails; a recovery that reaches only the others may drop it",
		faults: "none", bounds: "N=3, W=2, remote only, 2 lives, one and two links cut; 1 record", meets: []string{sawNoQuorum, sawLost},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 3, quorum: 2, remote: true, before: (*run).partly, cuts: []int{2, 1}, past: cutOff, beyond: true}, script: func(r *run) {
			r.cut("backup3")
			r.one()
		}},
	},
	{
		name: "alone", doc: "the backup is out of reach; a record is forced to the application's copy alone, whose host then loses power",
		faults: "power(app)<=1", bounds: "N=2, W=1, 2 lives, 1 record, in each order of the local flush", meets: []string{sawLate, sawLost},
		load: workload{room: 2, lives: 2, copies: &copies{backups: 1, quorum: 1, before: (*run).partly, cuts: []int{0, 0}, late: true, orders: 3}, script: func(r *run) {
			r.cut("backup1")
			r.one()
		}},
	},
	{
		name: "read-quorum", doc: "a record is forced to one of two copies; a recovery that reaches only the other one fails",
		faults: "none", bounds: "N=2, W=1, remote only, 2 lives, 1 record", meets: []string{sawLate, sawUnavailable},
		load: workload{room: 2, lives: 2, copies: &copies{backups: 2, quorum: 1, remote: true, before: (*run).partly, cuts: []int{0, 1}, beyond: true}, script: func(r *run) {
			r.cut("backup2")
			r.one()
		}},
	},
	{
		name: "persisted", doc: "a record that was not forced is recovered from a backup's caches; then the backup loses power, and the log is recovered again",
		faults: "crash(app)<=1", bounds: "N=1, W=1, remote only, 3 lives, 1 record", meets: []string{sawEvicted, sawLost},
		load: workload{room: 2, lives: 3, copies: &copies{backups: 1, quorum: 1, remote: true, beyond: true, answers: true, late: true, only: true, before: func(r *run) {
			if r.life == 2 {
				r.blackout()
			}
		}}, script: func(r *run) {
			if r.life == 0 {
				r.one()
			}
		}},
	},
	{
		name: "diverge", doc: "the example of 4.2: one of three copies has a record that was not forced, and the epoch of an interrupted recovery; the next primary reaches the other copies and forces another record, and the last recovery reaches that copy again",
		faults: "none", bounds: "N=3, W=2, remote only, 2 lives, each with one link cut; 1 record", meets: []string{sawLost},
		load: workload{room: 2, lives: 2, copies: &copies{backups: 3, quorum: 2, remote: true, before: (*run).partly, past: cutOff, cuts: []int{3, 1}}, script: (*run).one},
	},
	reaching("repair", 1, moved, "one of three copies is behind and has a record that was not forced; a recovery that reaches it is interrupted anywhere, and the next one reaches it again"),
	reaching("repair-and-loss", 2, anew, "one copy of three is behind, and the log has since restarted at the beginning of the ring; a recovery that reaches this copy is cut off anywhere, another copy is lost, and the log survives"),
	reaching("repair-diverged", 1, diverged, "one copy of three has a record that was not forced, and the epoch of an interrupted recovery; a recovery that reaches this copy is cut off anywhere, another copy is lost, and the log survives"),
	reaching("cleanup-diverged", 2, tidied, "a record was cleaned up, but not in one copy of three; recoveries reach this copy and one of the others"),
	reaching("cleanup-begun", 2, begun, "the first record was cleaned up, but not in one copy of three; recoveries reach this copy and one of the others"),
	reaching("cleanup-replaced", 2, replaced, "one copy of three has a record that was not forced, and was cleaned up; another record was forced in its place; recoveries reach that copy and one of the others"),
	{
		name: "repair-own", doc: "the copy of the application's host is behind and has a record that was not forced, and the epoch of an interrupted recovery; a recovery is cut off anywhere, another copy is lost, and the log survives",
		faults: "crash(app)<=1", bounds: "N=3, W=2, 2 lives, each with one link cut; records in the past: 1",
		load: workload{room: 2, lives: 2, copies: &copies{backups: 2, quorum: 2, before: (*run).partly, past: diverged, cuts: []int{2, 1}}, script: func(*run) {}},
	},
	{
		name: "repair-damaged", doc: "two records of one copy of three are damaged, and another copy has missed the second one; a recovery is cut off anywhere, and then the undamaged copy with both records is lost: the log has both, or the recovery fails",
		faults: "crash(app)<=1", bounds: "N=3, W=2, 2 lives, the second with one link cut; records in the past: 3", meets: []string{sawDamaged},
		load: workload{room: 2, lives: 2, copies: &copies{backups: 2, quorum: 2, before: (*run).partly, past: damaged, cuts: []int{0, 2}, beyond: true}, script: func(*run) {}},
	},
	{
		name: "caches", doc: "a record that was not forced is in the caches of the application's host; a recovery returns it, power fails there, and the log still has it",
		faults: "power(app)<=1", bounds: "N=2, W=1, 2 lives; records in the past: 1", meets: []string{sawEvicted, sawLost},
		load: workload{room: 2, lives: 2, copies: &copies{backups: 1, quorum: 1, before: (*run).partly, past: cached, cuts: []int{0, 0}}, script: func(*run) {}},
	},
	{
		name: "creation", profile: "strong+WholePackets=false", doc: "the creation of a log, not the first attempt, is cut off anywhere, and the host of its only copy loses power; the log can be created again",
		faults: "crash(app)<=1", bounds: "N=1, W=1, remote only, 2 lives", meets: []string{sawUnavailable},
		load: workload{room: 2, lives: 2, copies: &copies{backups: 1, quorum: 1, remote: true, before: (*run).blackout, beyond: true, past: promised}, script: func(*run) {}},
	},
	{
		name: "fence", doc: "an earlier primary forces its record while another one recovers the log",
		faults: "none", bounds: "N=1, W=1, remote only, 2 lives, 1 record", meets: []string{sawFenced, sawOverlap},
		load: workload{room: 2, lives: 2, copies: &copies{backups: 1, quorum: 1, remote: true, zombies: true, beyond: true}, script: func(r *run) {
			x := r.put()
			if r.Check(r.Inject(faults.Suspect, "app")) && x != nil {
				r.force(x)
			}
		}},
	},
	{
		name: "cleanup-replicated", doc: "records are cleaned up, the newer one first",
		faults: "crash(app)<=1", bounds: "N=1, W=1, remote only, 2 lives, 2 records", meets: []string{sawMiddle, sawBack},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 1, quorum: 1, remote: true, before: (*run).blackout, beyond: true, late: true}, script: func(r *run) {
			a, b := r.put(), r.put()
			if b == nil || !r.force(b) {
				return
			}
			r.Meet(sawMiddle)
			if r.cleanup(b) {
				r.cleanup(a)
			}
		}},
	},
	{
		name: "wrapped-replicated", doc: "a log that lies across the end of its ring is recovered from its copy, and is still full",
		faults: "none", bounds: "N=1, W=1, remote only, 4 records, ring of 3, 3 lives", meets: []string{sawFull},
		load: workload{room: 3, lives: 3, copies: &copies{backups: 1, quorum: 1, remote: true, before: (*run).quiet}, script: func(r *run) {
			if r.life > 0 {
				if x, err := r.reserve(); full(err) {
					r.Meet(sawFull)
				} else if r.Check(err) && r.fill(x, true) {
					r.force(x)
				}
				return
			}
			a, _, c := r.put(), r.put(), r.put()
			if c != nil && r.force(c) && r.cleanup(a) {
				r.forced()
			}
		}},
	},
	{
		name: "frequency-remote", doc: "one task forces its records with frequency 2, and completes more records than may be lost",
		faults: "crash(app)<=1", bounds: "N=1, W=1, remote only, 1 task, 3 records, F=2", meets: []string{sawLost, sawTwo},
		load: workload{room: 8, lives: 2, window: 2, copies: &copies{backups: 1, quorum: 1, remote: true, before: (*run).blackout, beyond: true},
			script: func(r *run) { r.byPolicy(1, 3, arcadia.Frequency(2)) }},
	},
	{
		name: "media-replicated", doc: "a bit of one copy flips, or a part of it becomes unreadable; forced records are recovered from the other copy",
		faults: "flip(backup1)<=1, poison(backup1)<=1", bounds: "N=2, W=2, 2 lives, 1 record",
		load: workload{room: 2, lives: 2, copies: &copies{backups: 1, quorum: 2, before: (*run).quiet, crashes: 1}, script: (*run).one},
	},
	{
		name: "stray-replicated", doc: "software stores a wrong word anywhere in the copy of the primary's host; forced records are recovered from the other copy",
		faults: "none", bounds: "N=2, W=2, 2 lives, 2 records, 1 stray store of four words",
		load: workload{room: 2, lives: 2, copies: &copies{backups: 1, quorum: 2, before: (*run).quiet}, script: func(r *run) {
			if x := r.put(); x != nil && r.force(x) && r.forced() {
				region, _ := x.Place()
				scribble(r.h, region)
			}
		}},
	},
}

// reaching returns a scenario of three copies with a past. Each life recovers the log from the last copy, which has missed
// a part of the past, and from one other copy.
func reaching(name string, records int, past past, doc string) spec {
	return spec{
		name: name, doc: doc, faults: "crash(app)<=1",
		bounds: fmt.Sprintf("N=3, W=2, remote only, 2 lives, each with one link cut; records in the past: %d", records),
		load:   workload{room: 2, lives: 2, copies: &copies{backups: 3, quorum: 2, remote: true, before: (*run).partly, past: past, cuts: []int{2, 1}}, script: func(*run) {}},
	}
}

// one forces one record, two forces two.
func (r *run) one() { r.forced() }
func (r *run) two() {
	if r.forced() {
		r.forced()
	}
}

// forced appends a record, forces it, and reports success.
func (r *run) forced() bool {
	x := r.put()
	return x != nil && r.force(x)
}

// blackout causes a power failure of every backup. The application's host loses power through the fault budget, so
// its code does not notice.
func (r *run) blackout() {
	if r.life == 0 {
		return
	}
	for _, name := range r.load.copies.names() {
		r.Check(r.Inject(faults.Power, name))
		r.quiet() // one backup after the other: the order does not matter
	}
}

// quiet waits until nothing else can happen, so that events left from an earlier life do not interfere with this one.
func (r *run) quiet() { r.h.Sleep(time.Second) }

// cut cuts the links to some backups.
func (r *run) cut(names ...string) {
	r.cuts = true
	for _, name := range names {
		r.Check(r.Inject(faults.Cut, "app", name))
	}
}
