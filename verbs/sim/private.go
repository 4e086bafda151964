package sim

// alone resumes t for a step, and finds out whether the step was private.
func (w *World) alone(t *task) {
	shown, acted := w.shown || t.op.timed, t.h.acted // the timer may have fired, which is shown
	t.h.acted = false
	w.touch(object(objLife, t.h.node.idx, 0), Read)
	w.shown = shown
	w.resume(t)
	w.private = !w.shown && t.alive && w.fail == nil && !w.abandoned
	if w.private {
		t.h.acted = acted // a crash that could come before it may still come after it
	}
}

// Private reports whether nobody else could notice the last step, and nobody else could have
// changed it: a task went on, used nothing but the life of its own host and memory that only
// it can reach, and reported nothing. Then the step commutes with every step of others that
// does not end the host. A crash of the host after it is the same as one before it, since
// all that the step changed is lost.
//
// A wait that a timer could have ended is not private, and neither is a step that ends its task.
func (w *World) Private() bool { return w.private }
