// Package standin is a card that does nothing, for tests and benchmarks of package hw on
// machines without a card. It has the data-path functions of libibverbs, over a provider that
// completes a request when it is posted. So a post costs only the time of the binding.
//
//	go test -tags rdma -bench Post ./verbs/hw
//
// It has a queue pair and a CQ. Nothing else of libibverbs works on them.
package standin
