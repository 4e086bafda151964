package explore

import "sync/atomic"

// Tree makes a search not recognise states, and returns its count of complete runs.
func Tree(o *Options) *atomic.Uint64 {
	o.tree = new(atomic.Uint64)
	return o.tree
}

// Reporter is the function that reports progress in a test.
var Reporter = reporter
