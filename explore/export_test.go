package explore

import "sync/atomic"

// Tree makes a search recognise no state, and returns where it counts its complete runs.
func Tree(o *Options) *atomic.Uint64 {
	o.tree = new(atomic.Uint64)
	return o.tree
}
