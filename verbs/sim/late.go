package sim

// late is the checker's machine. An operation in flight stays pending, and stands for all the
// moments at which it could take effect. Whether it has taken effect is decided by the first
// step that would show it. Methods of more than a few lines are in the files of their subjects.
type late struct{ w *World }

func (m *late) steps(idle bool) bool {
	m.w.enabledFailures()
	m.w.enabledQuiet()
	return idle
}

func (m *late) stepwise() bool { return false }

// print covers the receives kept from earlier connections, and the requests posted after
// kept completions. All other completions are decided when they are polled.
func (m *late) print(h *Host) {
	m.w.cqPrints(h)
	m.w.orderPrints(h)
}

// arrived reports true, since anything may have arrived, except while arrivals are being decided.
func (m *late) arrived(e *elem) bool { return !e.q.catching || e.came || e.cutOff() }

func (m *late) accepted(e *elem) bool { return e.acked }

func (m *late) mayHold(r *region, off, n int) bool { return m.w.anyPending(r, off, n) }

func (m *late) landBefore(r *region, off, n int) { m.w.landBefore(r, off, n, nil) }

func (m *late) cameBefore(r *region, off, n int) {
	m.w.landBefore(r, off, n, nil)
	m.w.readEarlier(r, off, n, nil)
}

func (m *late) forwards(b *storeBuffer, r *region, off, n int) bool {
	return !b.rivals(r, off, n) || m.w.choose(ChooseLanding, 2, func(i int) string { return drainNames[i] }) == 0
}

var drainNames = [...]string{"own store", "own store drained"}

func (m *late) respondsUnseen() bool { return true }

func (m *late) awaits(r *region) bool { return r.awaited() }

func (m *late) fetchesUnseen() bool { return true }

func (m *late) decidesKept() bool { return true }

// receives reports true: a request that has not certainly arrived may have arrived before q went to ERR.
func (m *late) receives(*qp, bool) bool { return true }

// received reports true: a request that never arrived has vanished in a step of its own (vanishing).
func (m *late) received(*qp, int) bool { return true }

func (m *late) failsUnseen() bool { return true }

func (m *late) mayHaveRun(e *elem, reach int) bool { return e.wr < reach }

// stops freezes e: it has landed by now, or never will.
func (m *late) stops(e *elem) bool {
	m.w.freeze(e)
	return e.over()
}

func (m *late) staysOpen(*elem) bool { return true }

// losesPower leaves undecided what has persisted until a step reads it.
func (m *late) losesPower(r *region) { m.w.losePower(r) }
