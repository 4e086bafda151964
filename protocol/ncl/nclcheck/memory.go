package nclcheck

// What applications do in the scenarios of memory.

// leaving recovers the file, lets all links heal, and looks for what leaked.
func leaving(r *run) {
	f := r.open()
	if f == nil || !r.last() {
		return
	}
	if f.Alive() < len(f.Peers()) {
		r.meet(sawLeftBehind)
	}
	for _, name := range r.load.names() {
		r.c.Heal("app", name)
	}
	r.checkLeaks(f)
}
