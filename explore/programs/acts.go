package programs

import (
	"maps"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// kindOfAct describes the acts of one name.
type kindOfAct struct {
	takes   string // its arguments: t the peers, a a word of memory, v and w values, f flags, b a body
	do      func(t *task, a *Act)
	link    bool // it needs a connection to its peers
	sends   bool // it has a source in the buffer
	pmem    bool
	channel bool
	flags   string // the flags that it can have
}

// Flags of requests. Those that name bytes of a word are flags of loads and stores as well.
const (
	flagSignaled  = 's'
	flagInline    = 'i'
	flagFence     = 'f'
	flagSolicited = 'o'
	flagBadKey    = 'k' // a key that no registration has
	flagEcho      = 'e' // sends the destination of the last Read, arrived or not
	flagNextKey   = 'n' // the key that the peer's next registration will have
	flagBeyond    = 'r' // beyond the region
	flagBadLocal  = 'l' // a source or destination that is not registered
	flagPMEM      = 'p' // the peer's persistent memory
	flagShared    = 'm' // from, or into, the words that others reach too
	flagOwnPMEM   = 'P' // from, or into, one's own persistent memory
	flagJoin      = 'j' // posted in one list with the next request of the task
	flagScatter   = 'g' // the second half from, or into, the second of the words that others reach too
	flagByte      = 'b' // of one byte in the middle of a word
	flagNext      = 'c' // of the byte after that one
	flagBoth      = 'd' // of these two bytes
	flagEmpty     = 'z' // of no bytes
)

// table lists all acts, by name.
var table map[string]kindOfAct

func init() {
	table = map[string]kindOfAct{}
	for _, part := range []map[string]kindOfAct{requestActs(), completionActs(), queueActs(), memoryActs(), taskActs(), messageActs(), injectActs()} {
		maps.Copy(table, part)
	}
}

func requestActs() map[string]kindOfAct {
	post := func(takes, flags string, wr func(a *Act) verbs.SendWR) kindOfAct {
		return kindOfAct{takes: "t" + takes + "f", link: true, sends: true, flags: flags,
			do: func(t *task, a *Act) { t.post(a, wr(a)) }}
	}
	op := func(o verbs.Opcode) func(*Act) verbs.SendWR {
		return func(a *Act) verbs.SendWR { return verbs.SendWR{Op: o, Imm: uint32(a.V)} }
	}
	return map[string]kindOfAct{
		"write":    post("av", "sifoknrlpemPjgbzcd", op(verbs.OpWrite)),
		"wide":     post("v", "sifknpemPjg", op(verbs.OpWrite)), // of two words
		"writeimm": post("av", "sifokpemPjgbzcd", op(verbs.OpWriteImm)),
		"read":     post("a", "sfknrlpmPjgbzcd", op(verbs.OpRead)),
		"wideread": post("", "sfkpmPjg", op(verbs.OpRead)),
		"send":     post("v", "sifolemPjgz", op(verbs.OpSend)),
		"sendimm":  post("v", "sifoemPjgz", op(verbs.OpSendImm)),
		"cas": post("awv", "sfknrpmPjg", func(a *Act) verbs.SendWR {
			return verbs.SendWR{Op: verbs.OpCompareSwap, Compare: uint64(a.W), Swap: uint64(a.V)}
		}),
		"fetchadd": post("av", "sfknrpmPjg", func(a *Act) verbs.SendWR { return verbs.SendWR{Op: verbs.OpFetchAdd, Add: uint64(a.V)} }),
		"flush": post("a", "sfkpj", func(*Act) verbs.SendWR {
			return verbs.SendWR{Op: verbs.OpFlush, FlushTo: verbs.FlushGlobal | verbs.FlushPersistent, FlushLen: 8}
		}),
		"awrite": post("av", "sfikpmPjg", op(verbs.OpAtomicWrite)),
		"recv":   {takes: "tf", link: true, flags: "lmPgz", do: (*task).receive},
	}
}

func completionActs() map[string]kindOfAct {
	return map[string]kindOfAct{
		"wait":     {takes: "tv", link: true, do: func(t *task, a *Act) { t.wait(a, verbs.Forever) }}, // for up to v completions
		"twait":    {takes: "tv", link: true, do: func(t *task, a *Act) { t.wait(&Act{To: a.To, V: 1}, seconds(a.V)) }},
		"poll":     {takes: "tv", link: true, do: (*task).poll},
		"chan":     {channel: true, do: func(t *task, a *Act) { t.channel(verbs.Forever) }},
		"chanw":    {channel: true, do: func(t *task, a *Act) { t.chanWait() }}, // waits for the channel, and
		"chanp":    {channel: true, do: func(t *task, a *Act) { t.chanPoll() }}, // polls what it has named, later
		"tchan":    {takes: "v", channel: true, do: func(t *task, a *Act) { t.channel(seconds(a.V)) }},
		"each":     {takes: "t", link: true, channel: true, do: func(t *task, a *Act) { t.each(a, verbs.Forever) }}, // one of each
		"teach":    {takes: "tv", link: true, channel: true, do: func(t *task, a *Act) { t.each(a, seconds(a.V)) }},
		"peek":     {takes: "", do: func(t *task, _ *Act) { t.peek() }}, // the destination of the last response, arrived or not
		"scribble": {takes: "v", do: (*task).scribble},                  // writes there
		"change":   {takes: "v", do: (*task).change},                    // the source of the last request, fetched or not
	}
}

func queueActs() map[string]kindOfAct {
	modify := func(attrs ...verbs.QPAttr) kindOfAct {
		return kindOfAct{takes: "t", link: true, do: func(t *task, a *Act) { t.modify(a, attrs) }}
	}
	to := func(s verbs.QPState, mask verbs.Attr) verbs.QPAttr {
		return verbs.QPAttr{SetState: true, State: s, Mask: mask}
	}
	allow := func(a verbs.Access) verbs.QPAttr { return verbs.QPAttr{Mask: verbs.AttrAccess, Access: a} }
	init := to(verbs.StateInit, verbs.AttrPKey|verbs.AttrPort|verbs.AttrAccess)
	init.Access = everything
	return map[string]kindOfAct{
		"state": {takes: "t", link: true, do: (*task).state},
		"err":   modify(to(verbs.StateErr, 0)),
		"reset": modify(to(verbs.StateReset, 0)),
		"up": modify(init, to(verbs.StateRTR, verbs.Transitions[2].Required),
			to(verbs.StateRTS, verbs.Transitions[3].Required)),
		"drain":      modify(to(verbs.StateSQD, 0)),
		"undrain":    modify(to(verbs.StateRTS, 0)),
		"deny":       modify(allow(verbs.LocalWrite)),
		"allow":      modify(allow(everything)),
		"denya":      modify(allow(everything &^ verbs.RemoteAtomic)),
		"denyw":      modify(allow(everything &^ verbs.RemoteWrite)),
		"denyr":      modify(allow(everything &^ verbs.RemoteRead)),
		"destroy":    {takes: "t", link: true, do: (*task).destroy},
		"connect":    {takes: "t", do: (*task).connect},
		"acceptconn": {do: func(t *task, _ *Act) { t.acceptConn() }},
	}
}

func memoryActs() map[string]kindOfAct {
	return map[string]kindOfAct{
		"load":      {takes: "af", flags: "bcd", do: func(t *task, a *Act) { t.load(t.m.mem, 8*a.At, a) }},
		"store":     {takes: "avf", flags: "bcd", do: func(t *task, a *Act) { t.store(t.m.mem, 8*a.At, a) }},
		"loadwide":  {do: func(t *task, _ *Act) { t.loadWide(t.m.mem, 0) }},
		"storewide": {takes: "v", do: func(t *task, a *Act) { t.storeWide(t.m.mem, 0, t.value(a.V)) }},
		"lcas":      {takes: "awv", do: (*task).localSwap},
		"add":       {takes: "av", do: (*task).localAdd},
		"dereg":     {do: func(t *task, _ *Act) { t.err(t.m.mr.Dereg()) }},
		"pdereg":    {pmem: true, do: func(t *task, _ *Act) { t.err(t.m.pmr.Dereg()) }},
		"rereg":     {do: func(t *task, _ *Act) { t.register() }},
		"free":      {do: func(t *task, _ *Act) { t.free() }},
		"alloc":     {do: func(t *task, _ *Act) { t.alloc() }},
		"pload":     {takes: "af", flags: "bcd", pmem: true, do: func(t *task, a *Act) { t.load(t.m.pmem, pmemAt(a.At), a) }},
		"pstore":    {takes: "avf", flags: "bcd", pmem: true, do: func(t *task, a *Act) { t.store(t.m.pmem, pmemAt(a.At), a) }},
		"dflip":     {takes: "a", pmem: true, do: func(t *task, a *Act) { t.damage(a, false) }},
		"dpoison":   {takes: "a", pmem: true, do: func(t *task, a *Act) { t.damage(a, true) }},
		"ploadwide": {pmem: true, do: func(t *task, _ *Act) { t.loadWide(t.m.pmem, 0) }},
		"pwide":     {takes: "v", pmem: true, do: func(t *task, a *Act) { t.storeWide(t.m.pmem, 0, t.value(a.V)) }},
		"pflush":    {takes: "a", pmem: true, do: func(t *task, a *Act) { t.m.pmem.Flush(pmemAt(a.At), 8) }},
		"pfence":    {pmem: true, do: func(t *task, a *Act) { t.m.pmem.Fence() }},
		"fence":     {do: func(t *task, a *Act) { t.m.mem.Fence() }},
	}
}

// pmemAt returns where a word of persistent memory is: two in one line, the third in another.
func pmemAt(at int) int { return []int{0, 8, 64, 64}[at] }

func taskActs() map[string]kindOfAct {
	return map[string]kindOfAct{
		"go":        {takes: "b", do: (*task).spawn},
		"visit":     {takes: "tb", do: (*task).visit},
		"lock":      {do: func(t *task, _ *Act) { t.lock() }},
		"unlock":    {do: func(t *task, _ *Act) { t.unlock() }},
		"set":       {takes: "v", do: func(t *task, a *Act) { t.set(a.V) }},
		"get":       {do: func(t *task, _ *Act) { t.get() }},
		"cond":      {do: func(t *task, _ *Act) { t.condWait() }},
		"signal":    {do: func(t *task, _ *Act) { t.m.cond.Signal() }},
		"broadcast": {do: func(t *task, _ *Act) { t.m.cond.Broadcast() }},
		"rand":      {takes: "v", do: func(t *task, a *Act) { t.saw(uint64(t.m.h.Rand(max(a.V, 1)))) }},
		"sleep":     {takes: "v", do: func(t *task, a *Act) { t.m.h.Sleep(seconds(a.V)) }},
		"now":       {do: func(t *task, _ *Act) { t.now() }},
		"say":       {do: func(t *task, _ *Act) { t.say() }},
		"end":       {do: func(t *task, _ *Act) { t.ended = true }},
	}
}

func messageActs() map[string]kindOfAct {
	return map[string]kindOfAct{
		"call":     {takes: "tv", do: func(t *task, a *Act) { t.call(a, verbs.Forever) }},
		"tcall":    {takes: "tvw", do: func(t *task, a *Act) { t.call(a, seconds(a.W)) }},
		"ask":      {takes: "tv", do: func(t *task, a *Act) { t.ask(a, verbs.Forever) }}, // without waiting
		"timedask": {takes: "tvw", do: func(t *task, a *Act) { t.ask(a, seconds(a.W)) }},
		"gather":   {takes: "v", do: func(t *task, a *Act) { t.gathered(a.V) }}, // of the last asked, v answers
		"accept":   {takes: "", do: func(t *task, _ *Act) { t.accept(verbs.Forever) }},
		"taccept":  {takes: "v", do: func(t *task, a *Act) { t.accept(seconds(a.V)) }},
		"reply":    {takes: "v", do: (*task).reply},
		"reject":   {do: func(t *task, _ *Act) { t.reject() }},
		"serve":    {takes: "b", do: (*task).serve},
		"deaf":     {do: func(t *task, _ *Act) { t.err(t.m.ask.Close()) }},
		"count":    {takes: "v", do: (*task).count},
		"counter":  {do: (*task).counter},
		"askcount": {takes: "v", do: (*task).askCount}, // the counter, in one Gather: add v, and read it
		"callnone": {do: func(t *task, _ *Act) { t.call(&Act{To: "nobody"}, verbs.Forever) }},
	}
}
