package sim

import (
	"reflect"
	"slices"
	"testing"
)

// apart are the types that need not be in a fingerprint, with the reason.
var apart = map[reflect.Type]string{
	reflect.TypeFor[Config]():    "never changes in a run; what its functions remember is the scenario's to report",
	reflect.TypeFor[Node]():      "as Config",
	reflect.TypeFor[Service]():   "as Config; its state is in the print by Hash",
	reflect.TypeFor[candidate](): "follows from Config",
	reflect.TypeFor[Access]():    "of the last step",
	reflect.TypeFor[Event]():     "follows from the state",
	reflect.TypeFor[Stats]():     "counted for reports",
	reflect.TypeFor[Tracer]():    "kept for reports",
	reflect.TypeFor[fpScratch](): "scratch",
	reflect.TypeFor[watch]():     "of the first runs, which have no states",
	reflect.TypeFor[pools]():     "what is in use is elsewhere",
	reflect.TypeFor[coro]():      "a task's local state follows from what it has observed: task.obs",
}

const (
	identity = "says which one it is: part of what is added up"
	inStep   = "only within a step"
	links    = "leads to what is printed on its own"
	derived  = "follows from what is printed: "
	observed = "what the program said follows from what its task has observed, or from what is known under a mutex"
	printed  = "in the print"
	moments  = "moments only compare: relations and overtaken print how"
)

// covered maps every field of the world to its place in the fingerprint, or to the reason why it has none.
var covered = map[reflect.Type]map[string]string{
	reflect.TypeFor[World](): {
		"cfg": "see Config", "machine": "follows from Config", "nodes": links, "places": derived + "Config", "sym": derived + "Config", "coros": "see coro", "spare": "see coro",
		"tasks": links, "qps": links, "cuts": links, "left": printed, "cur": inStep, "pol": "not of the world", "named": "not of the world",
		"knowing": "not of the world", "replaying": inStep, "now": printed, "skew": printed,
		"steps": "how the state was reached", "ticks": moments, "fail": "ends the run", "last": "orders the events, all of which are tried",
		"foot": inStep, "shown": inStep, "private": inStep, "events": derived + "all", "aside": inStep, "sends": inStep, "leaving": inStep, "arena": "scratch",
		"fates": inStep, "hist": printed, "stats": "see Stats", "tracer": "see Tracer", "fpbuf": "see fpScratch", "blind": "set by an audit", "watch": "see watch",
		"dead": "after the run", "seams": inStep, "toldAt": inStep, "stopAt": inStep, "preparing": inStep, "over": printed, "abandoned": "ends the run", "barring": inStep, "finding": inStep, "asked": inStep,
		"marks": inStep, "landing": inStep, "placing": inStep, "ghosts": links, "cands": "see candidate", "pools": "see pools",
	},
	reflect.TypeFor[node](): {
		"w": links, "idx": identity, "sym": derived + "Config", "spec": "see Config", "cur": derived + "up and life: it is of the last life, unless a zombie is",
		"all": links, "life": printed, "up": printed, "done": printed, "wantsLife": printed, "crashed": printed,
		"bank": links, "reports": printed,
	},
	reflect.TypeFor[Host](): {
		"w": links, "node": identity, "life": identity, "alive": "the dead are not printed", "ntasks": printed,
		"live": derived + "the tasks", "card": links, "regs": "printed: how many, and those that are not freed", "lis": derived + "made",
		"gaths": "printed: how many, and those with calls under way", "mail": links, "muts": links, "made": printed, "bank": links,
		"clock": printed, "looked": derived + "timers, which have an entry then", "timers": printed, "acted": printed,
		"tells": derived + "what its tasks have observed", "mrs": printed,
	},
	reflect.TypeFor[card](): {
		"h": links, "mrs": links, "qps": links, "cqs": links, "pds": derived + "Host.made", "chs": derived + "Host.made",
	},
	reflect.TypeFor[mr](): {"pd": printed, "r": printed, "key": printed, "access": printed, "gone": "those that are gone are not printed"},
	reflect.TypeFor[pd](): {"c": links, "ord": identity, "open": derived + "registrations and queue pairs", "gone": derived + "Host.made"},
	reflect.TypeFor[region](): {
		"h": "printed, of persistent memory: whether the life that opened it last goes on", "ord": identity, "data": "in hash", "base": derived + "ord", "hash": printed, "pend": links, "srcs": derived + "elem.src",
		"mrs": printed, "lent": printed, "freed": "those that are freed are not printed", "receives": printed, "awaits": "a guard: without it no request names the region", "whole": inStep, "pm": links,
	},
	reflect.TypeFor[wideLook](): {"r": "whether it has begun is printed", "off": observed, "n": observed, "was": links, "seen": links, "looks": inStep},
	reflect.TypeFor[held]():     {"span": printed, "data": printed},
	reflect.TypeFor[elem](): {
		"q": identity, "wr": printed, "part": derived + "its place in the list", "sub": derived + "its place in the list", "kind": printed,
		"reg": printed, "off": printed, "n": printed, "data": printed, "start": "printed where whole packets land", "src": printed, "srcOff": printed,
		"fenced": printed, "acked": printed, "at": moments, "ackAt": moments, "barred": moments, "stopAt": "printed: whether it is set; and relations", "came": printed, "frozen": printed, "frozeAt": moments,
		"persist": printed, "harm": printed, "could": printed, "past": "printed while an Atomic before it is pending", "stage": "pending between steps; what has landed or was dropped is printed with its request, if at all",
		"asked": inStep, "mark": inStep, "got": printed,
	},
	reflect.TypeFor[qp](): {
		"w": links, "pd": derived + "Host.made", "h": identity, "num": identity, "cfg": derived + "Host.made", "erredAt": moments, "sendCQ": derived + "Host.made",
		"recvCQ": derived + "Host.made", "state": printed, "access": printed, "remote": printed, "peer": "printed: whether it has one; which follows from remote",
		"gone": "printed, without what nobody can ask for any more", "linked": identity, "nth": identity, "sq": links,
		"base": "the ring's", "head": "all is counted from it", "done": links, "posted": printed, "last": derived + "the requests", "freed": printed, "limit": printed, "cutAt": printed, "unacked": printed,
		"held": printed, "first": "printed with the elements that are from before", "since": "printed as the connection of an element (qp.connection)", "stale": printed, "broken": printed, "refusedBy": printed, "misfitted": printed, "forsaken": printed, "completing": inStep, "catching": inStep,
		"elems": links, "rq": printed, "met": "printed; while nothing was flushed it follows from matched, recvNext and what the peer has posted", "matched": "printed as the request that comes next (nextMatch)", "unmet": printed, "recvNext": printed,
		"buffer": identity, "untold": derived + "what the tasks have observed",
	},
	reflect.TypeFor[cq](): {
		"h": links, "ord": identity, "ch": derived + "Host.made", "qps": derived + "Host.made", "rqps": derived + "Host.made",
		"queue": printed, "front": "printed with the queue pair", "gone": derived + "Host.made",
	},
	reflect.TypeFor[front]():   {"q": links, "recv": printed},
	reflect.TypeFor[channel](): {"h": links, "ord": identity, "cqs": derived + "Host.made", "gone": derived + "Host.made"},
	reflect.TypeFor[completion](): {
		"wr": printed, "recv": printed, "wc": printed, "from": moments, "at": moments,
	},
	reflect.TypeFor[sqEntry](): {
		"id": observed, "op": printed, "flags": observed, "imm": observed, "length": observed, "compare": printed, "swap": printed, "add": printed,
		"mr": observed, "into": derived + "the receives that were met", "local": printed, "nak": printed, "need": observed, "recvErr": printed,
		"early": printed, "keyless": printed, "came": printed, "recv": printed, "signaled": printed, "dst": observed, "payload": "printed: what has landed of it",
		"place": derived + "op and flags of those before it", "at": moments,
	},
	reflect.TypeFor[recvWR](): {"RecvWR": printed, "at": moments},
	reflect.TypeFor[sge]():    {"r": observed, "off": observed, "n": observed},
	reflect.TypeFor[task](): {
		"w": links, "h": identity, "ord": identity, "name": observed, "co": "see coro", "op": links, "obs": printed,
		"alive": "those that have ended are not printed", "main": derived + "ord", "dirty": inStep, "looks": inStep, "looked": inStep, "clocked": inStep, "fresh": inStep,
		"sb": links, "wide": links, "apart": printed, "vain": printed, "visits": derived + "what was observed", "heldUp": printed, "svc": observed,
		"report": "in node.reports",
	},
	reflect.TypeFor[op](): {
		"kind": printed, "cq": observed, "ch": observed, "cqs": observed, "lis": observed, "gather": observed, "need": printed, "mutex": observed,
		"cond": observed, "timed": "printed: the deadline is", "deadline": printed, "span": "in the zones",
		"armed": derived + "the zones", "fired": printed, "signaled": printed,
	},
	reflect.TypeFor[listener](): {"h": links, "ord": derived + "Host.made", "service": derived + "Host.made", "closed": derived + "Host.made"},
	reflect.TypeFor[gather](): {
		"h": identity, "ord": identity, "reqs": links, "out": "what is known was observed, or is in known", "known": "printed if several tasks may wait", "shared": derived + "what made it", "timed": "printed: the deadline is", "deadline": printed,
		"span": observed, "began": inStep, "aged": "in the zones", "waiting": "in the zones, where windows are, and in the tasks",
	},
	reflect.TypeFor[known](): {"tag": printed, "v": printed, "by": derived + "what the tasks have observed"},
	reflect.TypeFor[request](): {
		"g": identity, "idx": identity, "from": identity, "to": identity, "service": "in hash", "body": "in hash", "nth": identity, "hash": printed,
		"cut": printed, "taken": printed, "replied": printed, "repCut": printed, "answer": "in ansHash", "ansHash": printed, "lost": printed,
		"err": "in ansHash", "svc": derived + "what the caller has observed",
	},
	reflect.TypeFor[mutex]():       {"h": identity, "ord": identity, "owner": "printed: whether; the owner knows it", "obs": printed},
	reflect.TypeFor[obs]():         {"main": printed, "per": printed, "visited": derived + "per"},
	reflect.TypeFor[cond]():        {"m": links, "waiters": derived + "what the tasks wait for; their order is a choice"},
	reflect.TypeFor[storeBuffer](): {"t": identity, "queue": links, "flushing": links},
	reflect.TypeFor[clwbRec]():     {"r": printed, "unit": printed, "ver": "printed: what it keeps"},
	reflect.TypeFor[span]():        {"lo": printed, "hi": printed},
	reflect.TypeFor[bank]():        {"regions": links, "flips": printed, "poisons": printed},
	reflect.TypeFor[pmem]():        {"name": "in id", "id": printed, "units": links, "used": "the order in which units are looked at"},
	reflect.TypeFor[punit]():       {"list": links, "ver": "see clwbRec", "open": printed, "used": derived + "list", "bad": printed},
	reflect.TypeFor[content]():     {"ver": "see clwbRec", "data": printed, "bad": printed, "at": moments, "q": moments, "wr": moments},
	reflect.TypeFor[linkState]():   {"a": identity, "b": identity, "heals": printed},
	reflect.TypeFor[ghost](): {
		"from": identity, "to": identity, "psn": printed, "key": printed, "q": printed, "wr": printed, "off": printed, "data": printed,
	},
}

// A missing field can make two different states equal. So each new field is entered
// here, with its place in the fingerprint or the reason why it needs none.
func TestEveryFieldHasItsPlaceInTheFingerprint(t *testing.T) {
	pkg := reflect.TypeFor[World]().PkgPath()
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(x reflect.Type) {
		switch x.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(x.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[x] || x.PkgPath() != pkg || apart[x] != "" {
			return
		}
		seen[x] = true
		fields, ok := covered[x]
		if !ok {
			t.Errorf("%v is not in the table", x)
			return
		}
		var names []string
		for i := range x.NumField() {
			f := x.Field(i)
			if names = append(names, f.Name); fields[f.Name] == "" {
				t.Errorf("%v.%s is not in the table: say where the fingerprint has it, or why it need not", x, f.Name)
			}
			walk(f.Type)
		}
		for name := range fields { //lint:ordered each is looked up
			if !slices.Contains(names, name) {
				t.Errorf("%v has no field %s", x, name)
			}
		}
	}
	walk(reflect.TypeFor[World]())
	for x := range covered { //lint:ordered each is looked up
		if !seen[x] {
			t.Errorf("%v is not a part of the world", x)
		}
	}
}
