package wal

// Copy is what a new coordinator has read from one memory node.
type Copy struct {
	// Term is the term in which the node was last brought up to date: the term of the
	// coordinator whose entries follow. 0: never.
	Term uint16
	// Void: its memory was being overwritten, and means nothing.
	Void bool
	// Log and All are what Parse returned.
	Log Log
	All []Entry
}

// Plan is what a new coordinator does.
type Plan struct {
	Log     Log // with which it continues
	Source  int // a node that has all of it
	Repairs []Repair
}

// Repair is what it does to one node, in this order. Afterwards the node has the log, and
// its memory has all updates of earlier entries.
type Repair struct {
	// Copy: the log does not reach back to what the node has, so all of its memory is
	// copied from the source. Write then has the whole log, and Clear is empty.
	Copy bool
	// Apply are entries of the node from before the first of the log: the node may not have
	// applied them yet, and they are in no other place that counts.
	Apply []Entry
	// Clear are indices of entries of the node that are not part of the log, from the last
	// to the first.
	Clear []uint64
	// Write are the entries of the log that the node lacks, from the first to the last.
	Write []Entry
}

// Nothing reports whether the node has the log already.
func (r *Repair) Nothing() bool {
	return !r.Copy && len(r.Apply) == 0 && len(r.Clear) == 0 && len(r.Write) == 0
}

// Choose determines the log from the copies of a majority of the nodes (3.4.1). It
// reports false if every copy is void.
//
// An entry was committed in term t when a majority had been brought up to date in t and
// had it. Any other majority shares a node with that one. If this node is still as it was
// in t, it has the entry. If it was brought up to date later, that coordinator had the
// entry, by induction. So the copies with the greatest term have all committed entries
// between them, and since they were written by one coordinator in one order, each is the
// beginning of the longest.
//
// Entries without a majority may be in the log or not: the paper leaves it open. Once they
// are on a majority they are committed like all others.
func Choose(copies []Copy) (Plan, bool) {
	best := -1
	for i := range copies {
		if !copies[i].Void && (best < 0 || later(&copies[i], &copies[best])) {
			best = i
		}
	}
	if best < 0 {
		return Plan{}, false
	}
	p := Plan{Log: copies[best].Log, Source: best, Repairs: make([]Repair, len(copies))}
	for i := range copies {
		p.Repairs[i] = repair(&copies[i], &p.Log)
	}
	return p, true
}

// later reports whether a is to be preferred to b.
func later(a, b *Copy) bool {
	if a.Term != b.Term {
		return a.Term > b.Term
	}
	if a.Log.Last() != b.Log.Last() {
		return a.Log.Last() > b.Log.Last()
	}
	return a.Log.First < b.Log.First // both will do; this one leaves less to the others
}

// repair is what makes log the log of a node.
//
// The log and the node agree up to the last entry that both have, since an entry's index
// and term determine all entries before it. What the node has beyond that was never
// committed. If they share no entry, the log must reach back to the first of all.
// Otherwise the node has missed an entry that a majority without it had, so its content
// no longer counts.
func repair(c *Copy, log *Log) Repair {
	shared, ok := agree(&c.Log, log)
	if c.Void || !ok {
		return Repair{Copy: true, Write: log.Entries}
	}
	var r Repair
	for _, e := range c.Log.Entries {
		if e.Index <= shared && e.Index < log.First {
			r.Apply = append(r.Apply, e)
		}
	}
	for i := len(c.All) - 1; i >= 0 && c.All[i].Index > shared; i-- {
		r.Clear = append(r.Clear, c.All[i].Index)
	}
	for _, e := range log.Entries {
		if mine := c.Log.At(e.Index); e.Index > shared || mine == nil {
			r.Write = append(r.Write, e)
		}
	}
	return r
}

// agree returns the last index up to which two logs are the same; 0 if they share no entry.
// It reports false if they share no entry and log does not reach back to the first one.
func agree(c, log *Log) (uint64, bool) {
	for i := min(c.Last(), log.Last()); i >= max(c.First, log.First) && i > 0; i-- {
		if c.At(i).Same(log.At(i)) {
			return i, true
		}
	}
	return 0, log.First == 1
}
