// Package standin is a card that does nothing, for tests and benchmarks of package hw
// on machines without one: libibverbs' functions of the data path, over a provider that
// completes a request when it is posted. The cost of a post on it is the cost of the
// binding alone.
//
//	go test -tags rdma -bench Post ./verbs/hw
//
// It has a queue pair and a CQ. Nothing else of libibverbs works on them.
package standin
