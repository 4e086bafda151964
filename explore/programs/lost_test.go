package programs_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/programs"
)

// lost are the smallest programs of what searches once lost, or made up, in the tree before
// the search was made anew or on the way: their names say what. All modes must agree on
// each, and find some outcomes.
var lost = []struct {
	name, program string
	want          []string
}{
	// A run that stops when the hosts that are no daemons have ended.
	{"what daemons do not come to before the end", "strong | a: ask b+c 1; gather 1 | b daemon: serve {} | c daemon: serve {}",
		[]string{"a:1+-", "a:-+1", "a:1+1"}},
	{"a daemon's store before the end", "strong | a: ask b 1; read b x s; wait b 1 | b daemon: accept; store x 1",
		[]string{"a:Read=0", "a:Read=1"}},
	{"a restart left undone", "strong crash(b)<=1 | a: ask b+c 1; gather 1 | b daemon: serve {} / serve {} | c daemon: serve {}",
		[]string{"a:1+-", "a:-+1", "a:1+1", "a:unreachable+1"}},
	{"a life that need not come", "strong | a: read b x s; wait b 1 | b daemon again: store x 1 / connect a", []string{"a:Read=0", "a:Read=1"}},

	{"a Write that RESET wiped may never arrive", "strong linger final | a: write b x 1; reset b | b:",
		[]string{"a: b: a=[0 0 0 0] b=[0 0 0 0]", "a: b: a=[0 0 0 0] b=[1 0 0 0]"}},

	{"an Atomic reads before what is landing, although what it must find lands after that",
		"strong+AtomicFlushes=false | a: write b x 1 s; wait b 1; fetchadd b x 1 s; wait b 1 | b: store x 2", []string{"a:Write FetchAdd=1 b:", "a:Write FetchAdd=2 b:"}},
	{"an unsignaled request that was acknowledged fails nothing, so its owner waits on", "strong | a: write b x 1; recv b; wait b 1 | b: err a",
		[]string{"a:RETRY_EXC_ERR b:", "a:… b: hang"}},
	{"the same, and a timer fires", "strong crash(b)<=1 | a: write b x 1; twait b 5 | b:", []string{"a:RETRY_EXC_ERR b:", "a:timeout b:"}},
	{"the same after a Send that was received", "strong break(a,b)<=1 | a: send b 1; recv b; wait b 1 | b: recv a", []string{"a:RETRY_EXC_ERR b:", "a:… b: hang"}},
	{"the same, and what was posted in SQD has not left", "strong | a: write b x 1; drain b; write b x 2; call b 1; wait b 1 | b: accept; err a; reply 1",
		[]string{"a:1 RETRY_EXC_ERR b:1", "a:1… b:1 hang", "a:unreachable RETRY_EXC_ERR b:1", "a:unreachable… b:1 hang"}},
	{"the same while a service does not answer", "strong | a: | b: partsvc; cas a x 0 1; teach a 1; count 1", []string{"a: b:timeout unreachable"}},
	{"the same while a receive may still come, and a timer fires before it", "strong | a: write b x 1; recv b; twait b 1; twait b 1 | b: send a 1; destroy a",
		[]string{"a:timeout Recv=1 b:"}},
	{"the same, and another host has sent it", "strong onecq | a: write b x 1; recv c; twait b 1; wait c 1 | b: err a | c: send a 1; destroy a",
		[]string{"a:timeout Recv=1 b: c:"}},
	{"an unsignaled request that was acknowledged is not flushed", "strong | a: write b x 1; err b; call b 1; wait b 1 | b: accept; reply 1",
		[]string{"a:1 WR_FLUSH_ERR b:1", "a:1… b:1 hang"}},
	{"nor one of several", "strong | a: write b x 1; write b y 2; err b; wait b 1; wait b 1 | b:",
		[]string{"a:WR_FLUSH_ERR WR_FLUSH_ERR b:", "a:WR_FLUSH_ERR… b: hang", "a:… b: hang"}},
	{"a fence after which nothing is flushed passes as one that flushes", "strong power(*)<=1 | a: say; pstore x 1; pflush x; pfence; say | b:", nil},
	{"a store to the source of a Write against the connection over which it leaves", "strong | a: connect b; writeimm b x 1; wait b 1; load x | b: acceptconn; write a x 1; change 9",
		[]string{"a:RETRY_EXC_ERR 1 b:", "a:RETRY_EXC_ERR 9 b:"}},

	// Of completions that are kept in their order.
	{"what is flushed was not in the CQ before its queue pair went to ERR", "strong onecq | a: recv b; read c x s; peek; err b; wait c 1 | b: | c: store x 5", []string{"a:0 Read=0 b: c:", "a:0 Read=5 b: c:"}},
	{"a receive that failed is behind what had completed", "strong linger | a: write b x 1 s; recv b l; wait b 1; wait b 1 | b: send a 1; reset a; up a", nil},
	{"a receive is flushed behind the failure that took its queue pair to ERR", "strong linger | a: recv b; write b x 1 k; wait b 1; wait b 1 | b:", []string{"a:REM_ACCESS_ERR WR_FLUSH_ERR b:"}},
	{"a receive that does not fit fails behind what had completed", "strong linger | a: recv b l; write b x 1 s; wait b 1; wait b 1 | b: send a 1", []string{"a:Write LOC_PROT_ERR b:"}},
	{"what has landed has been received", "strong | a: writeimm b x 1 | b: recv a; load x; err a; wait a 1", []string{"a: b:0 WR_FLUSH_ERR", "a: b:1 RecvWriteImm#1"}},
	{"what was received is kept if a refusal acknowledged it", "strong linger | a: recv b; wait b 1 | b: send a 1; write a x 1 sk; wait a 1; reset a; up a", []string{"a:Recv=1 b:REM_ACCESS_ERR"}},
	{"kept completions are in order among themselves", "strong onecq linger | a: read b x s; peek; read c x s; peek; wait b 1 | b: store x 1 | c: store x 5", nil},

	{"a Send of a queue pair that was destroyed has come behind a Read that was refused since",
		"strong linger | a: recv b; dereg; accept; wait b 1 | b: read a x s; send a 1 z; wait a 1; destroy a; call a 1",
		[]string{"a:1 Recv=0 b:REM_ACCESS_ERR…", "a:1 WR_FLUSH_ERR b:REM_ACCESS_ERR…"}},

	{"a message left before its source changed, and came when its receive was there", "strong | a: accept; recv b; wait b 1 | b: send a 1 m; store x 7; ask a 1",
		[]string{"a:1 Recv=0 b:"}},
	{"a Write left behind a message without a receive, before its source changed", "strong | a: accept; recv b; wait b 1; load y | b: send a 1; write a y 1 m; store x 7; ask a 1",
		[]string{"a:1 Recv=1 7 b:", "a:1 Recv=1 0 b:"}},

	// Two states for one: the search finds more of them in one order than in the other.
	{"what is posted empty to a queue pair in ERR needs what it would have needed before", "strong linger | a: read b x n; wait b 1 | b: writeimm a x 1 z", []string{"a:REM_ACCESS_ERR b:"}},
	{"a post that need not pause is an observation as one that pauses", "strong | a: go {}; cas b x 0 1; wide b 1 i | b:", nil},
	{"a store that need not pause is an observation as one that pauses", "strong | a: send b 1; dereg | b daemon: write a x 1; change 9; change 9", nil},
	{"a report that need not pause is an observation as one that pauses", "strong | a: dereg | b: write a x 1; change 1; say; change 1; say; change 1", nil},
	{"so is an inline request, whether a response may change what is copied or not", "strong+StoreBuffers=false linger | b daemon: go {lock; unlock}; send a 1 i; deaf; change 9; unlock; send a 1 i; signal | a: reset b; write b x 1", nil},
	{"what was refused is not cut off again by a revocation", "strong revoke(a)<=1 | a: deny b; rereg | b: wide a 1 n; wait a 1", nil},
	{"a request that never leaves needs no key", "iba linger | a: read b x n; wait b 1 | b: writeimm a x 1", []string{"a:REM_ACCESS_ERR b:"}},
	{"nor is it refused when its key goes", "iba linger | a: read b x n; wait b 1; destroy b; dereg | b: writeimm a x 1", []string{"a:REM_ACCESS_ERR b:"}},
	{"not even behind one that is", "iba linger | a: read b x n; wait b 1; reset b; dereg | b: write a x 1 b; writeimm a x 1 d", []string{"a:REM_ACCESS_ERR b:"}},
	{"nor is it asked then what has come before it", "iba linger | a: read b x n; wait b 1; reset b; dereg | b: write a x 1 bp; writeimm a x 1 d", []string{"a:REM_ACCESS_ERR b:"}},
	{"how many keys a host has had, although none is left", "strong revoke(b)<=1 | a: ask b 1 | b daemon: go {rand 2; ?1 rereg}; accept; counter; rereg", []string{"a:"}},
	{"what was refused is refused for good", "strong | a: deny b; reset b; up b | b daemon: rand 2; writeimm a x 1; ?1 writeimm a x 1", nil},

	// Timers.
	{"a cut against a timer", "strong cut(a,b)<=1 | a: tcall b 1 1 | b daemon: chan", []string{"a:timeout", "a:unreachable"}},
	{"a partition against a timer", "strong partition(a,b)<=1 | a: tcall b 1 1 | b daemon: chan", []string{"a:timeout", "a:unreachable"}},
	{"a break against a timer", "strong break(a,b)<=1 | a: write b x 1 s; twait b 1 | b daemon: chan", []string{"a:Write", "a:RETRY_EXC_ERR"}},
	{"the clock is an observation", "strong timers=free | a: go {sleep 1}; now", []string{"a:0.0(),at 0s", "a:0.0(),at 1s"}},
	{"a clock that was looked at shows when a timer fired", "strong timers=free | a: now; sleep 2; now", []string{"a:at 0s at 2s", "a:at 24h0m0s at 24h0m2s"}},
	{"the timer of another host between two looks at a clock", "strong timers=skew(1) | a: now; now | b: sleep 1", []string{"a:at 0s at 24h0m1s b:"}},
	{"equal timers fire in both orders", "strong | a: go {sleep 1; store x 1}; sleep 1; load x", []string{"a:0,0.0()", "a:0.0(),1"}},
	{"timers of two hosts are set in both orders", "strong timers=skew(1) | a: sleep 1; dereg | b: sleep 2; write a x 1 s; wait a 1", []string{"a: b:Write"}},
	{"a timeout strikes any timer of a host", "strong timeout(a)<=1 | a: go {sleep 2; store x 1}; sleep 1; load x", []string{"a:0", "a:1"}},
	{"a crash after an idle timer", "strong crash(*)<=1 linger final | b: tcall c 1 1 | c:", []string{"b:timeout c: b=[0 0 0 0] c="}},

	// Faults where what they strike disables them.
	{"a break against the completion", "strong break(a,b)<=1 | a: write b x 1 s; poll b 1 | b daemon: chan",
		[]string{"a:none", "a:Write", "a:RETRY_EXC_ERR"}},
	{"a request under way at a cut", "strong cut(a,b)<=1 | a: ask b 1 | b: accept", []string{"a: b:1", "a: b:… hang"}},
	{"a Send under way at a cut", "strong cut(a,b)<=1 | a: recv b; wait b 1 | b: send a 1", []string{"a:Recv=1 b:", "a:… b: hang"}},
	{"a fault where hosts wait for ever", "strong suspect(a)<=1 | a: chan", []string{"a:… hang", "nothing"}},
	{"a power failure where hosts wait for ever", "strong power(a)<=1 | a: acceptconn", []string{"a:… hang", "nothing"}},
	{"a crash of interchangeable hosts that wait", "strong crash(b*)<=1 | a: ask b 1; gather 1 | b*2: accept; reply 1", nil},
	{"a crash between an act and the report", "strong power(b)<=1 | a: connect b | b again:  / acceptconn; storewide 1", []string{"a: b:"}},
	{"a suspicion between an answer and the report", "strong suspect(a)<=1 | a: accept; reply 1; store x 1 | b: ask a 1; gather 1", []string{"a: b:1"}},
	{"a crash of a daemon's peer", "strong power(b)<=1 | a daemon: write b x 1 l | b:", nil},
	{"a crash of a daemon that listens no more", "strong crash(b)<=1 | a: load x; call b 1 | b daemon: go {write a x 1; deaf}; accept; chan",
		[]string{"a:1 unreachable"}},
	{"a request between an answer and the listener's end", "strong | a: call b 1; call b 1 | b daemon: go {accept; reply 2; deaf}; accept; reply 3; chan",
		[]string{"a:2 3"}},
	{"a crash after a request is taken, and not before",
		"strong crash(b)<=1 | a: ask b 1; send b 1; load x; gather 1 | b daemon: recv a; wait a 1; write a x 1; accept; chan", []string{"a:1 unreachable"}},
	{"a crash after a call is given up", "strong partition(a,b)<=1 crash(a)<=1 | a: ask b 1; send c 1; gather 1; chan | b: accept | c: recv a; wait a 1",
		[]string{"a: b:… c:Recv=1 hang"}},
	{"a flip of what the caches wrote back", "strong flip(a)<=1 | a: pstore x 1; pload x", []string{"a:1", "a:0"}},
	{"a poison of what the caches wrote back", "strong poison(b)<=1 | b: pstore x 1; pload x", []string{"b:1", "b:media"}},
	{"a revocation between two requests", "strong revoke(a)<=1 | a: write b x 1 s; write b y 1 s; wait b 1; wait b 1 | b:",
		[]string{"a:Write LOC_PROT_ERR b:", "a:LOC_PROT_ERR WR_FLUSH_ERR b:"}},
	{"a revocation of a receive's memory", "strong revoke(a*)<=1 | a: recv b; wait b 1 | b: sendimm a 1", nil},

	// A post against what the other end does.
	{"a post against the other end's ERR", "strong linger final | a: err b | b: write a x 1 i",
		[]string{"a: b: a=[0 0 0 0] b=[0 0 0 0]", "a: b: a=[1 0 0 0] b=[0 0 0 0]"}},
	{"a post against the other end's Destroy", "strong linger final | a: destroy b | b: wide a 1", nil},
	{"a post against the other end's reset", "strong linger final | a: reset b | b: wide a 1", nil},
	{"a task's post against the other end's ERR", "strong linger final | a: go {wide b 1} | b: err a", nil},
	{"a request that is held back while access is granted", "strong linger | a: drain b; call b 1; write b x 1 s; call b 1; undrain b; wait b 1 | b: deny a; accept; reply 1; accept; allow a; reply 1",
		[]string{"a:1 1 Write b:1 1"}},
	{"a post to a host that has ended", "strong | a: load x | b: write a x 1", []string{"a:0 b:", "a:1 b:"}},
	{"a new connection against an old request", "strong | a: | b: write a x 1 n; connect a; wait a 1", nil},

	// Tasks of one host.
	{"a task that is started", "strong | a: load x | b: go {write a x 1 i}; wait a 1", []string{"a:0 b:0.1(),RETRY_EXC_ERR", "a:1 b:RETRY_EXC_ERR"}},
	{"a task that is started against a store", "strong+StoreBuffers=false linger final | a: store x 4 | b: go {write a x 1 i}",
		[]string{"a: b:,0.1() a=[4 0 0 0] b=[0 0 0 0]", "a: b:,0.1() a=[1 0 0 0] b=[0 0 0 0]"}},
	{"a signal before the wait", "strong | a: go {signal}; lock; cond", nil},
	{"a broadcast before the wait", "strong | b: go {broadcast}; lock; cond", nil},
	{"two tasks fill a queue", "strong short | a: | b: go {write a x 1}; wideread a k", []string{"a: b:0.0(),full"}},
	{"two tasks' Atomics in one queue", "strong | a: go {fetchadd b x 1}; fetchadd b x 1 s; wait b 1 | b:", []string{"a:0.0(),FetchAdd=1 b:"}},
	{"two tasks' Writes in one queue", "strong linger final | a: go {wide b 1}; writeimm b x 1 | b:", nil},
	{"a region freed while a task waits to store", "rxe | a: go {store y 1}; free", []string{"a:,0.0()", "a:,0.0(closed)"}},
	{"tasks that end things come between each other", "strong | a: go {free}; dereg; free", []string{"a:closed closed"}},
	{"a refused operation is an observation", "strong revoke(a*)<=1 | a: free", []string{"a:", "a:closed"}},

	{"a registration against a guess", "strong | a: write b x 1 i; rereg | b: load x; ?1 write a x 1 ns; wait a 1",
		[]string{"a: b:1 REM_ACCESS_ERR", "a: b:1 Write"}},

	{"a timeout that a task injects before a timer is set", "strong history | a: sleep 1; say | b: itimeout a; sleep 1; say",
		[]string{"a: b: told by a,a,b,b", "a: b: told by b,b,a,a"}},
	{"the same before a wait", "strong | a: twait b 1; load x | b: itimeout a | c: sleep 1; write a x 1", []string{"a:timeout 0 b: c:", "a:timeout 1 b: c:"}},

	// Calls.
	{"a zombie and its successor", "strong suspect(b)<=1 | a: ask b 1; gather 1 | b: accept; reply 2 / accept; reply 3",
		[]string{"a:2 b:1", "a:3 b:1(1)", "a:unreachable b:1"}},
	{"a call to a zombie and one to its successor", "strong suspect(b)<=1 | a: ask b 1; gather 1 | b: chan / accept; reply 3", nil},
	{"a call to a zombie does not hang", "strong suspect(b)<=1 | a: call b 1 | b daemon: serve {}", []string{"a:1", "a:unreachable"}},
	{"one of two callees ends", "strong | a: accept; reply 1 | b: ask a+c 1; gather 1 | c:", []string{"a:1 b:unreachable+unreachable c:"}},
	{"a gather returns success with failure", "strong | a: ask b+c 1; gather 1 | b daemon: serve {} | c:", []string{"a:1+- c:", "a:1+unreachable c:"}},
	{"a partition against a call", "strong partition(a,b)<=1 | a: accept | b: sleep 1; ask a 1; gather 1", []string{"a:1 b:unreachable", "a:… b:unreachable hang"}},

	{"a restart between a Write and a call", "strong | a: write b x 1 i; call b 1 | b again: load x / accept; reply 2", []string{"a:2 b:1,1(1)", "a:unreachable b:1,1(…) hang"}},
	{"a restart between a load and a call", "strong | a: load x; call b 1 | b again: write a x 1 s; wait a 1 / accept; reply 2",
		[]string{"a:0 2 b:1(1),Write", "a:1 2 b:1(1),Write"}},
	{"a gather of calls to a service", "strong | a: askcount 1; gather 2 | b: count 2",
		[]string{"a:0+0 b:1", "a:0+1 b:1", "a:0+3 b:1", "a:2+0 b:0", "a:2+2 b:0", "a:2+3 b:0"}},
	{"a gather of calls to a service that is cut off", "strong cut(a,services)<=1 | a: askcount 1; gather 2 | b: counter",
		[]string{"a:unreachable+unreachable b:0", "a:unreachable+unreachable b:1", "a:unreachable+1 b:1", "a:0+unreachable b:1"}},
	{"a gather of calls to a service from a host that dies", "strong crash(a)<=1 | a: askcount 1; gather 2 / counter",
		[]string{"a:1(0)", "a:1(1)", "a:0+0"}},
	{"which of two calls to one host is answered", "strong | a: ask b+b 1; gather 1 | b: accept; reply 1", []string{"a:1+- b:1", "a:-+1 b:1"}},
	{"which of two answers was there in time", "strong timers=free | a: timedask b+b 1 1; accept; gather 2; count 1 | b: accept; reply 1; accept; reply 1; ask a 1",
		[]string{"a:1 1+timeout 0 b:1 1", "a:1 timeout+1 0 b:1 1"}},

	// Reports.
	{"a report of another host between two posts", "strong history | a: write b x 1; write b y 1 | b: load x", []string{"a: b:1 told by b,a"}},
	{"a report of another host between a post and the start of a task", "strong history | a: write b x 1; go {} | b: load x", []string{"a:,0.1() b:1 told by b,a,a"}},

	// Completions.
	{"a poll that returns two", "strong | a: write b x 1 s; write b x 2 s; poll b 2 | b daemon: chan", []string{"a:Write", "a:Write Write"}},
	{"a failure that nobody polls", "strong | a: write b x 1 k | b: recv a; wait a 1", []string{"a: b:WR_FLUSH_ERR"}},
	{"the states of two ends", "strong | a: write b x 1 k; state b | b: state a", []string{"a:RTS b:RTS", "a:ERR b:ERR", "a:RTS b:ERR", "a:ERR b:RTS"}},
	{"a queue pair that fails while it is reset", "strong | a: go {awrite b x 1}; reset b; up b | b:", nil},
	{"what a dead host left is no later than what follows", "strong crash(a)<=1 | a: write b x 1 i | b: err a; call c 1 | c: accept; reply 1; write b x 2 s; wait b 1; read b x s; wait b 1", nil},
	{"an Atomic of a dead host", "strong crash(b)<=1 linger final | b: fetchadd a x 4 | a: load x", nil},
	{"a key that is gone against a Read with another", "strong | a: read b x ns; wait b 1 | b: rereg; dereg", []string{"a:Read=0 b:", "a:REM_ACCESS_ERR b:"}},
	{"what comes after a look that finds an Atomic not executed", "strong | a: cas b y 0 1 s; wait b 1; write b x 1 | b: load y; load x",
		[]string{"a:CompareSwap=0 b:0 1"}},
	{"a Send to a daemon before the end", "strong | a: send c 1 s; wait c 1; wideread c s; wait c 1 | c daemon: recv a", []string{"a:Send Read=0,0"}},
	{"an idle timer against a failure", "strong linger | a: write b x 1; teach b 1 | b: write a x 1 k", []string{"a:timeout b:"}},
	{"an end that is reset against the failure of the other", "strong | a: write b x 1; write b x 1 r | b: reset a; up a", nil},
	{"a Send of a connection that breaks", "strong break(a,b)<=1 linger | a: sendimm b 1 | b: recv a; wait a 1", []string{"a: b:Recv#1=1", "a: b:…"}},
	{"a Send of a connection that breaks, and nobody lingers", "strong break(a,b)<=1 | a: sendimm b 1 | b: recv a; wait a 1", []string{"a: b:Recv#1=1", "a: b:… hang"}},
	{"a Send against a partition", "strong partition(a,b)<=1 linger | a: send b 1; sleep 1 | b: recv a; wait a 1", nil},
	{"a message that never came has written nothing", "strong cut(a,b)<=1 linger final | a: writeimm b x 1 | b: recv a; wait a 1", nil},
	{"a message of a dead host that never came", "strong crash(b)<=1 linger final | a: recv b; wait b 1 | b: writeimm a x 1", nil},
	{"a Send of a dead host", "strong crash(*)<=1 linger | a: send b 1 / | b: recv a; wait a 1", []string{"a:,1() b:…"}},
	{"pieces of a Write of a dead host", "ooo crash(b)<=1 linger final | a: | b: wide a 1", nil},
	{"a Write of a queue pair that was destroyed", "strong psn | a: write b x 1; destroy b; connect b | b: acceptconn; store x 5; load x", nil},
	{"a ghost of a Write that the other end dropped", "strong ghost(a,b)<=1 psn | a: write b x 1; destroy b; connect b | b: destroy a; acceptconn; load x; load x",
		[]string{"a: b:0 1"}},
	{"a wide load that is torn", "relaxed+StoreBuffers=false | a: go {loadwide}; storewide 1", []string{"a:,0.0(0,1)", "a:,0.0(1,0)"}},

	{"a wide load that sees the later of two requests only", "strong | a: fetchadd b y 1; write b x 1 | b: loadwide", []string{"a: b:1,0", "a: b:0,1"}},
	{"a wide load between two Atomics of one word", "strong | a: fetchadd b y 1; fetchadd b x 1; fetchadd b y 2 | b: loadwide", []string{"a: b:1,0", "a: b:1,1", "a: b:1,3"}},
	{"a wide Read that sees the later of two Atomics only", "strong linger | a: fetchadd c y 1; fetchadd c x 1 | b: wideread c s; wait c 1 | c:",
		[]string{"a: b:Read=1,0 c:", "a: b:Read=0,1 c:"}},
	{"a step of which one way is private", "strong | a: rand 2; ?0 dereg; state b | b: write a x 1 s; wait a 1", []string{"a:0 RTS b:Write"}},
	{"a crash between a revocation and a report", "strong crash(a)<=1 | a: dereg; rand 2 | b: write a x 1 s; wait a 1", []string{"a: b:REM_ACCESS_ERR"}},
	{"a host that stops between a look and the beginning of a wait", "strong timers=skew(1) | a: ask b 1; counter; taccept 1 | b: accept; sleep 2; count 1; sleep 2; call a 1",
		[]string{"a:0 1 b:1 0 unreachable"}},
	{"a task that stops there while another waits", "strong timers=free | a: ask b 1; go {sleep 2; count 1; sleep 2; call a 1}; counter; taccept 1 | b: accept",
		[]string{"a:0 1 b:1"}},
	{"an Atomic that has read mends what has become unreadable since", "strong poison(b)<=1 | a: fetchadd b x 1 p | b: pload x; read a x k; pload x", []string{"a: b:media 1"}},

	// States, though no outcomes: a step used something that its footprint did not have.
	{"a copy ends the step in which its request would have been posted", "strong | a: read b x k; send b 1 i | b:", nil},
	{"the same against a reset", "strong | a: read b x p; write b x 1 i | b: reset a", nil},
	{"a copy looks at memory where nothing is on its way yet", "strong | a: write b x 1 mi | b: load x | c: write a x 6", nil},
	{"what a timer leaves behind depends on whether its host may still die", "strong crash(*)<=1 timers=free | a: sleep 1 | b:", nil},
	{"whether Destroy pauses depends on the connection", "strong | a: flush b x k | b: load x; destroy a", nil},

	// Interchangeable hosts.
	{"interchangeable hosts that are connected", "strong | a: | b*2: write b x 1 i; load x", []string{"a: b:0,0", "a: b:0,1", "a: b:1,1"}},
}

// What was lost once is found.
func TestLost(t *testing.T) {
	if testing.Short() {
		t.Skip("searches have nothing for the race detector; go test ./... runs them")
	}
	t.Parallel()
	for _, x := range lost {
		p, err := programs.Parse(x.program)
		if err != nil {
			t.Fatal(err)
		}
		c, err := programs.Compare(p, programs.Limits{Runs: 5_000, States: 20_000})
		if err != nil {
			t.Fatal(err)
		}
		if c.Truth == programs.TooLarge {
			t.Errorf("%s: %s is too large", x.name, p)
		}
		for _, d := range c.Diffs {
			t.Errorf("%s: %s: %s", x.name, p, d)
		}
		for _, o := range x.want {
			if !slices.Contains(c.Outcomes, o) {
				t.Errorf("%s: %s: there is no outcome %q among %q", x.name, p, o, c.Outcomes)
			}
		}
	}
}

// On a card that tears words a Read finds each byte at a moment of its own, and so the second of two stores without the
// first. The eager machine takes too long for it.
func TestACardReadsByteByByte(t *testing.T) {
	p, err := programs.Parse("strong+CellBytes=1 | a: read b x s; wait b 1 | b: write a x 3 d; store x 4 d")
	if err != nil {
		t.Fatal(err)
	}
	r, err := explore.Check(p.Scenario(), explore.Options{})
	if err != nil || r.Verdict != explore.Verified {
		t.Fatalf("%+v: %v", r, err)
	}
	for _, want := range []string{"a:Read=0 b:", "a:Read=1024 b:", "a:Read=262144 b:", "a:Read=263168 b:"} {
		if !slices.Contains(r.Outcomes, want) {
			t.Errorf("there is no outcome %q among %q", want, r.Outcomes)
		}
	}
}

// A limit of the simulator, in both modes: a request finds no key that was registered after
// it was posted (docs/semantics.md).
func TestKeysAreLookedUpWhenRequestsArePosted(t *testing.T) {
	p, err := programs.Parse("strong | a: write b x 1 ns; call b 1; wait b 1 | b: accept; rereg; reply 2; chan")
	if err != nil {
		t.Fatal(err)
	}
	c, err := programs.Compare(p, programs.Limits{Runs: 5_000, States: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a:2 REM_ACCESS_ERR b:1… hang"}; len(c.Diffs) > 0 || !slices.Equal(c.Outcomes, want) {
		t.Errorf("%q, want %q; %v", c.Outcomes, want, c.Diffs)
	}
}

// never are outcomes that no mode may reach, since all would by the same mistake.
var never = []struct {
	name, program string
	outcomes      []string
}{
	{"what is stored at the source of a request that was cut off", "strong | a: write b x 1; err b; change 9 | b: load x; load x",
		[]string{"a: b:0 9", "a: b:1 9", "a: b:9 9"}},
	{"a ghost on the connection that sent it", "strong ghost(a,b)<=1 psn linger | a: write b x 1; err b | b: load x; store x 2; load x",
		[]string{"a: b:1 1"}},
	{"a ghost of what was acknowledged", "strong ghost(a,b)<=1 psn | a: write b x 1 s; wait b 1; destroy b; connect b | b: acceptconn; load x; store x 5; load x",
		[]string{"a:Write b:1 1"}},
	{"a Write behind one that waits for a Read that was not executed", "strong | a: err b | b: read a x s; read a x; write a x 1 f; wide a 1; wait a 1",
		[]string{"a: b:Read=1"}},
	{"a fenced Write came although its Read was refused", "strong poison(b)<=1 linger final | a: read b x p; write b y 1 f; state b | b: pload x; state a",
		[]string{"a:ERR b:media ERR a=[0 0 0 0] b=[0 1 0 0]"}},
	{"what comes after access is granted again is refused", "strong | a: accept; send b 1; write b x 1 s; reply 1; wait b 1; call b 1 | b: call a 1; deny a; allow a; recv a; accept; reply 1",
		[]string{"a:1 REM_INV_REQ_ERR 1 b:1 1", "a:1 REM_INV_REQ_ERR unreachable b:1 1"}},
	{"a wrong key is let in with the access", "strong final linger | a: accept; send b 1; write b x 1 ks; reply 1; wait b 1 | b: call a 1; deny a; allow a; recv a",
		[]string{"a:1 Write b:1 a=[0 0 0 0] b=[0 0 0 0]", "a:1 REM_INV_REQ_ERR b:1 a=[0 0 0 0] b=[0 0 0 0]"}},
	{"a key that is gone is let in with the access", "strong final linger | a: accept; send b 1; read b x s; reply 1; wait b 1 | b: call a 1; dereg; deny a; allow a; recv a",
		[]string{"a:1 Read=0 b:1 a=[0 0 0 0] b=[0 0 0 0]", "a:1 REM_INV_REQ_ERR b:1 a=[0 0 0 0] b=[0 0 0 0]"}},
	{"a key that is gone is checked before the access", "strong final linger | a: accept; send b 1; read b x; reply 1; wait b 1 | b: call a 1; dereg; deny a; recv a",
		[]string{"a:1 REM_ACCESS_ERR b:1 a=[0 0 0 0] b=[0 0 0 0]"}},
	{"a Write of an ended queue pair comes although it is denied", "strong final linger | a: write b x 1; err b | b: deny a; load x; load x",
		[]string{"a: b:0 1 a=[0 0 0 0] b=[1 0 0 0]"}},
	{"access is granted by a queue pair that has refused a request", "strong linger final | a: accept; write b x 1 s; reply 1; wait b 1 | b: deny a; call a 1; allow a",
		[]string{"a:1 REM_INV_REQ_ERR b:1 a=[0 0 0 0] b=[0 0 0 0]"}},
	{"nobody answers a Read whose key goes before it is executed", "strong linger | a: read b x s; send b 1; wait b 1 | b: recv a; wait a 1; dereg",
		[]string{"a:… b:Recv=1"}},
	{"power fails, and what was stored on bad memory in a cache has mended it", "strong poison(b)<=1 power(b)<=1 | b: pload y; pstore y 1; pfence / pload y",
		[]string{"b:1(0),media"}},
	{"a zombie opens the memory of the machine that has replaced it", "strong suspect(b)<=2 | b: / pload x / pload x / pload x", []string{"violation: panic"}},
	{"a machine has the media errors of the one that it replaces", "strong | a: ipoison b; isuspect b | b: / pload x", []string{"a: b:,1(media)", "a: b:1(media)"}},
	{"a queue pair that was never connected refuses a key", "strong | a: connect b | b: acceptconn; read a x k; wait a 1",
		[]string{"a:unreachable b:REM_ACCESS_ERR"}},
	{"a message comes behind a Read that was denied, after a reset of its requester", "strong | a: accept; read b x; send b 1 z; reset b | b: recv a; deny a; ask a 1; wait a 1",
		[]string{"a:1 b:Recv=0"}},
	{"and a Write behind it", "strong | a: accept; read b x; write b y 1; reset b | b: denyr a; ask a 1; load y", []string{"a:1 b:1"}},
}

// What cannot be is not found.
func TestNever(t *testing.T) {
	if testing.Short() {
		t.Skip("one program after the other, each with one worker: nothing for the race detector; go test ./... runs them")
	}
	for _, x := range never {
		p, err := programs.Parse(x.program)
		if err != nil {
			t.Fatal(err)
		}
		c, err := programs.Compare(p, programs.Limits{Runs: 20_000, States: 20_000})
		if err != nil || c.Truth == programs.TooLarge || len(c.Diffs) > 0 {
			t.Fatalf("%s: %s: %+v %v", x.name, p, c, err)
		}
		for _, o := range x.outcomes {
			if slices.Contains(c.Outcomes, o) {
				t.Errorf("%s: %s: the outcome %q", x.name, p, o)
			}
		}
	}
}
