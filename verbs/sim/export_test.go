package sim

// Memory returns the current contents of the regions in the run's record; nil for those that are freed.
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
