package pebblecheck

import (
	"fmt"
	"sync"
)

// batches is the number of batches in a life: enough that tables are written and compacted, while memory stays small.
const batches = 3000

// life is a database in use. Copies of it crash now and then.
type life struct {
	c  *check
	m  *machine
	db database

	mu  sync.Mutex
	did []progress // by writer
	err error      // of a writer
}

// progress counts the batches of a writer.
type progress struct {
	begun, done int
	lsn         []uint64 // of each batch in done
}

// life writes the batches of one database and crashes copies of it, until the check is over.
func (c *check) life() error {
	l := &life{c: c, m: newMachine(), did: make([]progress, c.cfg.Writers)}
	var err error
	if l.db, err = l.m.open(&c.cfg); err != nil {
		return err
	}
	l.m.h.After(1+c.draw(200), l.crash)
	var all sync.WaitGroup
	for k := range c.cfg.Writers {
		all.Go(func() { l.write(k) })
	}
	all.Wait()
	l.m.h.After(0, nil)
	if err := l.db.Close(); err != nil && l.err == nil {
		l.err = err
	}
	return l.err
}

func (l *life) write(k int) {
	for n := 0; n < batches/l.c.cfg.Writers && !l.c.over(); n++ {
		l.begin(k)
		lsn, err := put(l.db, k, n)
		l.end(k, lsn, err)
		if err != nil {
			return
		}
	}
}

func (l *life) begin(k int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.did[k].begun++
}

func (l *life) end(k int, lsn uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.err = fmt.Errorf("writer %d: %w", k, err)
		return
	}
	p := &l.did[k]
	p.done++
	p.lsn = append(p.lsn, lsn)
	l.c.mu.Lock()
	l.c.r.Batches++
	l.c.mu.Unlock()
}

func (l *life) progress() []progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]progress(nil), l.did...)
}

// crash is called before a store, flush or fence. The goroutine of that step waits.
func (l *life) crash() {
	c := l.c
	power := c.crash()
	done := l.progress()
	next := l.m.crash(power, c.draw)
	begun := l.progress()
	t := &trial{c: c, m: next, done: done, begun: begun}
	err := t.run()
	c.mu.Lock()
	c.r.Crashes++
	if power {
		c.r.Power++
	}
	if err != nil && c.r.Err == nil {
		c.r.Err = fmt.Errorf("crash %d: %w", c.r.Crashes, err)
	}
	n := c.r.Crashes
	c.mu.Unlock()
	if c.cfg.Progress != nil {
		c.cfg.Progress(n)
	}
	if !c.over() {
		l.m.h.After(1+c.draw(4000), l.crash)
	}
}
