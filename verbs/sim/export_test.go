package sim

// Memory is what is in the regions of the run's record now; nil for those that are gone.
func (w *World) Memory() [][]byte {
	x := w.rec()
	out := make([][]byte, len(x.Regions))
	for r, i := range x.regions { //lint:ordered the indices differ
		if !r.freed {
			out[i] = r.data
		}
	}
	return out
}
