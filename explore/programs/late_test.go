package programs_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/programs"
)

// differences are programs of which late resolution lost outcomes, or to which it added
// some. The name says what.
var differences = []struct{ name, program string }{
	{"a Write posted before its rival was cut off may land before it", "strong | a: write b x 1 i | c: write b x 2 i; call b 1; read b x s; wait b 1; peek | b: call a 1; err a; accept; reply 1; accept"},
	{"a Read posted before a Write was cut off may sample before it", "strong | a: write b x 1 i | c: read b x s; call b 1; wait b 1; peek; call b 1 | b: call a 1; err a; accept; reply 1; accept; load x; reply 1"},
	{"after modify to ERR a dead requester's Write stays behind later ones", "strong | a: write b x 1 i | c: call b 1; write b x 2 i; read b x s; wait b 1; peek | b: call a 1; err a; accept; reply 1; accept"},
	{"after destroy a dead requester's Write stays behind later ones", "strong | a: write b x 1 i | c: call b 1; write b x 2 i; read b x s; wait b 1; peek | b: call a 1; destroy a; accept; reply 1; accept"},
	{"after dereg a dead requester's Write stays behind later stores", "strong | a: write b x 1 i | b: call a 1; dereg; store x 2; fence; load x"},
	{"of two dead requesters the second one's Write is later", "strong | a: write b x 1 i | c: call b 1; write b x 2 i; write b y 2 i | b: call a 1; err a; accept; reply 1; call c 1; err c; load y; load x"},
	{"who only looks changes nothing", "strong | a: write b x 1 i | c: call b 1; write b x 2 i; read b x s; wait b 1; peek | b: call a 1; err a; load x; accept; reply 1; accept"},
	{"what came of a refused request may land later without drain", "relaxed+WholePackets=false | a: wide b 1 is; wait b 1; call b 1 | b: dereg; load x; load x; accept"},
	{"what is behind a dropped request of a dead requester is dropped", "strong | a: write b x 1 i; write b y 1 ip | b: call a 1; dereg; pload y; load x; pload y"},
	{"a process crash leaves whole packets", "strong crash(b)<=1 | a: wide b 1 ip | b again: recv a; wait a 1 / pload x; pload y"},
	{"an Immediate whose data arrived is not flushed", "strong | a: writeimm b x 1 i; wide b 2 ip; write b x 3 ip | b: recv a; call a 1; dereg; pload x; err a; wait a 1; load x; pload y"},
	{"what came after a Write that did not has not come", "strong | a: write b x 1 i; send b 1 i | b: recv a; call a 1; err a; load x; wait a 1"},
	{"what was on its way to freed memory may have come", "strong | a: write b x 1 i; send b 1 i | b: recv a; call a 1; dereg; free; wait a 1"},
	{"what follows what was on its way to freed memory may have come", "strong | a: write b x 1 i; write b y 1 ip | b: call a 1; err a; dereg; free; pload y"},
	{"what follows what was on its way to the memory of a dead machine may have come", "strong crash(b)<=1 | a: write b x 1 i; write b y 1 ip | b again: call a 1; err a; chan / pload y"},
	{"what follows an Atomic does not take it between the halves of another",
		"strong linger final | a: fetchadd b x 1 s; wait b 1 | c: write b x 4; fetchadd b x 2 s; write b x 5; wait b 1 | b:"},
	{"an Atomic that reads before a Write ends before a CPU adds", "strong+AtomicGlob=true | a: fetchadd b x 1 | c: write b x 5 | b: add x 2; load x"},
	{"a Read that samples early finds what was acknowledged",
		"strong+StoreBuffers=false | a: write b x 1 s; wait b 1; call c 1 | c: accept; read b x s; wait b 1 | b: store x 5"},
	{"a Read that samples early does not find what follows it", "strong+StoreBuffers=false | a: read b x s; write b x 1 f; wait b 1 | b: store x 5"},
	{"of two Writes that a crash cut off either may be the last",
		"strong crash(b)<=1 | a: write b x 1 ip | c: write b x 2 ip; write b y 2 ip | b again: call a 1; call c 1; chan / pload y; pload x"},
	{"what changes nothing hides nothing", "strong | a: write b x 1; write b x 0 | b: load x"},
	{"what was cut off was fetched before", "strong+WholePackets=false | a: wide b 1; accept; change 9; reply 1 | b: dereg; call a 1; load x"},
	{"half of a packet does not come", "strong | a: wide b 1 i | b: call a 1; err a; load y; load x"},
	{"an Atomic among Writes of another queue pair", "strong | a: fetchadd b x 1 | c: write b x 5 i; call b 1 | b: call a 1; err a; accept; load x; load x"},
	{"a key that is gone and another one", "strong | a: read b x s; wait b 1; read b x sn; wait b 1 | b: rereg; dereg; rereg"},
	{"a queue pair goes to ERR before its completion is polled", "strong | a: write b x 1 k | b: recv a; wait a 1"},
	{"State is ERR before a completion is polled", "strong | a: write b x 1 k; state b; call b 1 | b: accept; state a; reply 1"},
	{"requests to a queue pair that failed are dropped", "strong | a: write b x 1 k | b: write a x 1 s; wait a 1"},
	{"a break after the completion was there", "strong break(a,b)<=1 | a: write b x 1 s; poll b 1 | b: load x"},
	{"polling in vain twice", "strong | a: write b x 1 s; poll b 1; poll b 1 | b: load x"},
	{"two looks, between which an Atomic lets a Write follow", "strong | a: cas b y 0 1 s; wait b 1; write b x 1 | b: load y; load x"},
	{"a receive takes what comes before its host ends", "strong | a: send c 1 s; wait c 1; wideread c s; wait c 1 | c daemon: recv a"},
	{"a timer does not wait for a failure that nobody looks at", "strong linger | a: write b x 1; teach b 1 | b: write a x 1 k"},
	{"a refusal does not strike after a reset", "strong | a: write b x 1; write b x 1 r | b: reset a; up a"},
	{"what a destroyed queue pair sent goes on arriving", "strong | a: write b x 1; destroy b; connect b | b: acceptconn; load x; load x"},
	{"whoever waits for a Send of a host that crashed may wait for ever", "strong crash(a)<=1 | a: send b 1 / | b: recv a; wait a 1"},
	{"whoever waits for a Send on a broken connection may wait for ever", "strong break(a,b)<=1 linger | a: sendimm b 1 | b: recv a; wait a 1"},
	{"whoever waits for a Send that was not acknowledged times out", "strong | a: send b 1; err b | b: recv a; twait a 1"},
	{"a receive has the data of a Send whose queue pair is destroyed", "strong | a: sendimm b 1; destroy b | b: recv a; wait a 1"},
	{"a store that has drained meets media errors", "strong flip(a)<=1 | a: pstore x 1; pload x"},
	{"a request comes after access is denied and before its host ends", "strong | a: read b x k; wait b 1 | b daemon: deny a"},
	{"a guessed key is good as soon as memory is registered", "strong | a: write b x 1 n; write b x 2 s; wait b 1 | b: rereg; load x"},
	{"what comes after a Send has run out of retries is dropped", "strong rnr | a: sendimm b 1; wait b 1; add y 1 | b: recv a; fetchadd a y 1"},
	{"a Write with immediate to a queue pair that gave up is dropped", "strong rnr | a: writeimm b x 1; wait b 1; load x | b: writeimm a x 1"},
	{"a Write to a queue pair that failed before its link healed is dropped", "strong partition(a,b)<=1 linger final | a: writeimm b x 1; teach b 1 | b: awrite a x 1"},
	{"a queue pair fails once", "strong rnr | a: recv b; dereg | b: read a x s; send a 1; wait a 1"},
	{"what came of a failed Write is whole packets", "strong break(a,b)<=1 linger final | a: wideread b; wide b 1; wait b 1 | b:"},
	{"what a dead connection brings no more completes no receive", "strong revoke(a)<=1 partition(a,b)<=1 | a: recv b; wait b 1 | b: send a 1"},
	{"a queue pair that refused a request fails, though its requester dies", "strong power(b)<=1 | a: state b | b: wideread a k; wait a 1"},
	{"a machine may die when what it asked for is refused", "strong power(b)<=1 | a: dereg; state b | b: read a x; wait a 1"},
	{"polling frees the slots of receives", "strong short | a: recv b; recv b | b: sendimm a 1"},
	{"a queue pair that failed refuses no Send, and the other way round", "strong | a: send b 1 | b: recv a l; write a x 1; wait a 2"},
	{"a packet that deregistration cuts off does not tear", "relaxed linger final | a: wide b 1 | b: dereg"},
	{"an Atomic meets media errors", "strong flip(b)<=1 | a: fetchadd b y 1 p | b: pload y"},
	{"bits flip in what has just landed", "strong flip(b)<=1 | a: write b y 3 p | b: pload y"},
	{"bits flip between the halves of an Atomic", "strong flip(b)<=1 | a: write b y 6 p; fetchadd b y 1 ps; wait b 1 | b: pload y"},
	{"memory becomes unreadable after what would have mended it", "strong poison(b)<=1 | a: write b y 6 p; read b y ps; wait b 1 | b: pload y"},
	{"what came in one packet has arrived together", "strong linger final | a: lcas x 0 1; err b | b: wide a 1"},
	{"what completed before a receive failed is in the CQ before it", "strong | a: send b 1 s; recv b l; wait b 2 | b: send a 1; recv a"},
	{"a Send that its receive refuses may be lost as any other", "strong | a: sendimm b 1 | b: call a 1; recv a l; wait a 1"},
	{"the same on a broken connection", "strong break(a,b)<=1 | a: send b 1; wait b 1 | b: recv a l; wait a 1"},
	{"modify looks at the state", "strong partition(a,b)<=1 linger | a: writeimm b x 1; twait b 1; undrain b | b:"},
	{"an Atomic of a failed queue pair may have read before a store", "strong break(a*,b)<=1 linger final | a: fetchadd b x 1; wait b 1 | b: store x 5"},
	{"a crash after a store from which the card may fetch", "strong crash(b)<=1 | a: load x | b: awrite a x 1; change 9 /"},
	{"what had not come when access was denied does not come later", "strong | a: deny b; recv b; wait b 1 | b: writeimm a x 1"},
	{"what overtook a refused Write is in memory", "ooo linger final | a: write b x 1; write b y 1 | b: deny a"},
	{"what overtook a refused Write lands after the refusal", "ooo linger final | a: write b x 1 s; write b y 1; write b x 2; wait b 1 | b: load x; dereg; load y"},
	{"what found no receive overtakes nothing", "srd revoke(b)<=1 linger final | a: write b x 1; writeimm b x 3 | b:"},
	{"a Write is executed although a Read before it is refused", "strong linger final | a: write b x 1; read b x s; write b y 1; wait b 1 | b: deny a"},
	{"the same without drain", "relaxed linger final | a: write b x 1; read b x s; write b y 1; wait b 1 | b: deny a"},
	{"but not if it is fenced", "relaxed linger final | a: read b x s; write b y 1 f; wait b 1 | b: dereg"},
	{"a Send is received although a Read before it is refused", "strong linger final | a: read b x s; send b 1; wait b 1 | b: recv a; deny a; wait a 1"},
	{"an Immediate has arrived whole, and a Write that it overtook has not", "srd crash(a*)<=1 linger final | a: write b x 1; writeimm b x 7 | b: recv a; wait a 1"},
	{"what found no receive before a new connection does not come", "strong linger final | a: writeimm b x 1; reset b; up b | b:"},
	{"the access of a queue pair is checked before the key", "strong | a: deny b; dereg | b: write a x 1; wait a 1"},
	{"the access is checked before the key, out of order as well", "ooo linger final | a: write b x 1; write b y 1; wait b 1 | b: deny a; dereg; load y"},
	{"a Read samples before a host goes on, whose memory goes then", "strong | a: read b y s; dereg; wait b 1 | b: store y 5; fence; read a x s; wait a 1"},
	{"a name changes hands between the post of a Read and a call", "strong | a: read b x s; call b 1; each b | b again:  /  / accept"},
	{"a queue pair in ERR executes nothing that it would have refused", "strong linger final rnr | a: sleep 1; write b x 1 | b: deny a; send a 1"},
	{"nothing comes past what would be refused, though nobody is told", "strong cut(a,b)<=1 linger final | a: | b: read a x r; write a x 1"},
	{"what was posted on a cut link leaves nothing", "ooo cut(a,b)<=1 linger final | a: connect b; wide b 1 | b: err a"},
	{"an Atomic that is executed just now has no response yet", "relaxed | a: fetchadd b x 1 s; write b x 1 e; fetchadd b x 1 s | b:"},
	{"what a Read never sampled is nothing", "strong | a: wideread b s; wideread b; wait b 1 | b: lcas x 0 1; lcas y 0 1"},
	{"what was answered before a RESET is in memory", "strong | a: read b y s; reset b; peek | b: store y 5; fence"},
	{"in a block of 128 bytes nothing overtakes", "srd linger final | a: wide b 1 | b: err a"},
	{"what overtook may itself be overtaken by nothing", "srd linger final | a: write b z 1; wide b 2 | b: deny a"},
	{"what overtook a refused Write may be lost as well", "ooo linger final | a: write b z 1 s; wide b 1; wait b 1 | b: dereg"},
	{"what has not arrived does not land because a Read is executed", "strong linger final | a: read b x; wide b 1 | b: dereg"},
	{"an Atomic does not find a Write that is refused", "relaxed linger final | a: cas b x 0 1 s; write b x 2; wait b 2 | b: dereg"},
	{"a Read does not find a Write that is refused", "relaxed linger final | a: read b x s; write b x 2; wait b 1; wait b 1 | b: dereg; load x"},
	{"an Atomic that was taken is executed before it can be refused", "strong linger final | a: read b x; cas b y 0 1 s; write b x 1; wait b 2 | b: deny a"},
	{"an Atomic is executed although a Read before it is refused", "strong linger final | a: read b x; cas b x 0 1; wait b 2 | b: deny a"},
	{"an Atomic Write is executed although a Read before it is refused", "strong linger final | a: read b x s; awrite b x 1; wait b 1 | b: dereg"},
	{"what is received has come", "strong linger final | a: cas b x 0 1; send b 1 | b: recv a; dereg; wait a 1"},
	{"a Flush that was taken is executed before it can be refused", "strong linger final | a: flush b x s; write b y 1; wait b 1 | b: dereg"},
	{"what lands while power fails may be lost", "strong power(b)<=1 | a: awrite b y 1 sp; read b x s; wait b 2 | b again: / pload y"},
	{"without drain an Atomic is executed although a Read before it is refused", "relaxed linger final | a: read b x; cas b x 0 1; wait b 2 | b: deny a"},
	{"a packet that a card has taken does not tear when a Read before it is refused", "relaxed linger final | a: read b x; wide b 1; wait b 1 | b: dereg"},
	{"data arrives and its receive is flushed, since a Read before it is refused", "strong linger final | a: read b x; writeimm b y 1 | b: recv a; deny a; wait a 1"},
	{"the same when the responder goes to ERR", "strong linger final | a: read b x; writeimm b y 1 | b: recv a; err a; wait a 1"},
	{"the data of a Send arrives, and its receive is flushed", "strong linger final | a: read b x; send b 1; write b y 1 | b: recv a; dereg; wait a 1"},
	{"no receive completes behind an Atomic that is not executed", "relaxed linger final | a: cas b x 0 1; writeimm b y 1 | b: recv a; deny a; wait a 1"},
	{"what is behind a Write that has come is not refused with it", "strong | a: dereg; recv b; wait b 1 | b: write a x 1; sendimm a 1"},
	{"a queue pair that goes to ERR has refused before, or not", "strong linger final | a: cas b x 0 1; fetchadd b x 1; wait b 1 | b: dereg; err a"},
	{"the same before a RESET", "strong linger final | a: cas b x 0 1; write b x 4; wait b 1 | b: dereg; reset a"},
	{"access is granted again, but the key is gone", "relaxed linger final | a: accept; write b x 1 s; reply 1; wait b 1 | b: deny a; call a 1; dereg; allow a"},
	{"access is withdrawn twice", "strong linger final | a: accept; fetchadd b x 1 s; reply 1; wait b 1 | b: deny a; call a 1; deny a; allow a"},
	{"a response is in memory before its completion is polled", "strong | a: write b y 1; read b y s; peek | b:"},
	{"a response comes between two looks", "strong | a: read b y s; peek; peek; wait b 1 | b: store y 1; fence; call a 1"},
	{"the response of an Atomic is in memory before its completion", "strong | a: cas b y 0 1 s; peek; wait b 1; peek | b: store y 5; load y"},
	{"a response comes before a store to where it goes", "strong | a: read b y s; scribble 7; peek; wait b 1; peek | b: store y 1"},
	{"a Write sends on what a Read brought before its completion", "strong | a: read b y s; write c x 1 e; wait b 1 | b: store y 5 | c: load x; load x"},
	{"a store that is not buffered comes between the cells that a Read samples", "strong+StoreBuffers=false | a: wideread b s; poll b 1 | b: storewide 1"},
	{"a Read samples before one locked instruction and after the next", "strong | a: wideread b s; poll b 1 | b: lcas x 0 1; lcas y 0 1"},
	{"a request finds no receive before it is refused", "strong linger rnr | a: writeimm b x 1 | b: deny a; recv a; wait a 1"},
	{"a later store does not come before an Atomic that was cut off", "strong linger final | a: dereg; fetchadd b x 1 | b: flush a x; wait a 1; storewide 1"},
	{"what stands behind an Atomic that did not come has not come", "relaxed linger final | a: cas b x 0 1; write b y 1; err b | b:"},
	{"what stands before an Atomic that came has come", "relaxed linger final | a: write b y 1; cas b x 0 1; err b | b:"},
	{"what stands behind what waits for a Read that was not executed waits too", "strong | a: err b | b: read a x s; read a x; write a x 1 f; wide a 1; wait a 1"},
	{"time does not wait for a Send of a machine that is gone", "strong | a: send b 1 | b: recv a; twait a 1; wait a 1"},
	{"who refuses has not failed before", "strong cut(a,b)<=1 | a: send b 1 | b: recv a l; wideread a; wait a 2"},
	{"an end with nothing to report is another than a report of nothing", "strong crash(b)<=1 | a: tcall b 1 1 | b: say; go {}"},
	{"another task takes what a channel has reported", "strong | a: | b: writeimm a x 1; go {read a x; wait a 1}; tchan 1"},
	{"what would be refused may be lost", "strong break(a,b)<=1 linger | a: recv b; wait b 1 | b: writeimm a x 1 k"},
	{"a name changes hands between a post and a call", "strong | a: write b x 1; connect b | b again: load x / acceptconn"},
	{"an inline request is copied after a response has come", "strong | a: read b y s; write b x 3 ei | b: store y 5; load x"},
	{"a response comes between a post and the copy of an inline request", "strong | a: send b 1; read b y s; write b x 3 ei | b: recv a; wait a 1; store y 5; fence; load x"},
	{"what has completed is there when one waits for several", "strong | a: read b y s; read b x s; peek; wait b 2 | b: store x 6"},
	{"what was cut off while its access was denied is refused when it is granted", "iba revoke(a)<=1 | a: deny b; allow b | b daemon: cas a x 0 1 sf; each a"},
	{"a response comes before a request behind it fails", "strong | a: read b y; write b x 1 k; peek; wait b 1; peek | b: store y 5; fence"},
	{"the same before a store to where it goes", "strong | a: read b y; write b x 1 k; scribble 7; wait b 1; peek | b: store y 5; fence"},
	{"the same before a queue pair goes to ERR", "strong | a: read b y; write b x 1 k; peek; err b; wait b 1; peek | b: store y 5"},
	{"what a look finds of a Write is what lands", "strong | a: read b y s; scribble 7; write c x 1 e | b: | c: load x; load x"},
	{"a card fetches the sources of its Writes in order", "strong | a: read b y; scribble 3; write c x 1 e; write c y 1 e; scribble 9 | b: | c: load y; load x"},
	{"the same where a response comes", "strong | a: read b y s; scribble 3; write c x 1 e; write c y 1 e | b: | c: load y; load x"},
	{"the same where Writes land in any order", "relaxed | a: read b y; scribble 3; write c x 1 e; write c y 1 e; scribble 9 | b: | c: load y; load x"},
}

// Late resolution finds what the eager machine finds, and nothing else.
func TestLateResolutionLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("searches have nothing for the race detector; go test ./... runs them")
	}
	for _, x := range differences {
		t.Run(x.name, func(t *testing.T) {
			p, err := programs.Parse(x.program)
			if err != nil {
				t.Fatal(err)
			}
			c, err := programs.Compare(p, programs.Limits{Runs: 20_000, States: 100_000})
			if err != nil || c.Truth == programs.TooLarge || !slices.Contains(c.Modes, "late") {
				t.Fatalf("%s: compared with %v in %v: %v", p, c.Truth, c.Modes, err)
			}
			for _, d := range c.Diffs {
				t.Errorf("%s\n%s", p, d)
			}
		})
	}
}
