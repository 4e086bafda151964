package model

import "github.com/verbatim-rdma/verbatim/fingerprint"

// write is one write of a [queue]: its place in the file, and the place of its bytes in
// the queue's arena.
type write struct {
	off        int
	start, end int
	hash       fingerprint.Print
}

func (w write) len() int { return w.end - w.start }

// queue holds the unacknowledged writes of a [LogFile], oldest first. Their data lies
// in one arena, so that issuing a write does not allocate once the arena has grown.
type queue struct {
	writes []write
	head   int // earlier writes are gone
	arena  []byte
}

func (q *queue) len() int            { return len(q.writes) - q.head }
func (q *queue) at(i int) write      { return q.writes[q.head+i] }
func (q *queue) data(w write) []byte { return q.arena[w.start:w.end] }

func (q *queue) clear() { q.writes, q.head, q.arena = q.writes[:0], 0, q.arena[:0] }

func (q *queue) push(off int, data []byte) {
	start := len(q.arena)
	q.arena = append(q.arena, data...)
	q.writes = append(q.writes, write{off, start, len(q.arena), fingerprint.Print{}.Int(off).Bytes(data)})
}

// pop drops the oldest write. An application that always has a write in flight never
// empties the queue, so memory is reclaimed once the dropped writes are the greater
// half: each write moves a constant number of times.
func (q *queue) pop() {
	q.head++
	if q.head == len(q.writes) {
		q.clear()
		return
	}
	if q.head < 32 || q.head < len(q.writes)/2 {
		return
	}
	q.compact(q)
}

// copyFrom makes q a compact copy of src.
func (q *queue) copyFrom(src *queue) {
	q.clear()
	q.compact(src)
}

// compact moves the writes of src to the start of q, which may be src.
func (q *queue) compact(src *queue) {
	live := src.writes[src.head:]
	if len(live) == 0 {
		q.clear()
		return
	}
	gone := live[0].start
	q.arena = append(q.arena[:0], src.arena[gone:]...)
	q.writes = append(q.writes[:0], live...)
	q.head = 0
	for i := range q.writes {
		q.writes[i].start -= gone
		q.writes[i].end -= gone
	}
}
