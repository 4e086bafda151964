package sim

// alone resumes t for a step, and determines whether the step was private.
func (w *World) alone(t *task) {
	// The timer may have fired, and another task of the host may look.
	shown, acted := w.shown || t.op.timed || t.h.live > 1, t.h.acted
	t.h.acted = false
	w.touch(object(objHost, t.h.node.idx, 0), Write)
	w.shown = shown
	w.resume(t)
	w.private = !w.shown && t.alive && t.h.live == 1 && w.fail == nil && !w.abandoned
	if w.private {
		t.h.acted = acted // a crash that could come before the step may still come after it
	}
}

// Private reports whether nobody else could notice the last step, and nobody else could have
// changed it: the only task of its host ran, used nothing that others can reach, and reported
// nothing. Then the step commutes with every step of others that does not kill the host. A crash
// of the host after the step equals one before it, since everything that the step changed is lost.
//
// A wait that a timer could have ended is not private, and neither is a step that ends its task.
func (w *World) Private() bool { return w.private }
