package virtual

import (
	"fmt"
	"time"
)

// The work of the paper's library around a write or a read, counted in its published
// source (src/csl.cc and src/rdma/client.cc of dassl-uiuc/compute-side-log, and its
// fork of Infinity, dassl-uiuc/RDMA). Only locked instructions and allocations count:
// the rest is a few nanoseconds.
const (
	// write(): two mutexes, a reference to the file acquired and released, two
	// counters.
	lockedInWrite = 8
	// read(): a mutex, a reference, a counter.
	lockedInRead = 5
	// A request has a token of three atomic fields. Two of them are set again before
	// the post; the two requests of a write share two references.
	lockedInIssue = 6
	// Two fields of each token; and for the two of a write a mark and two references.
	lockedInSettle = 3.5
	// An allocation for the two tokens, and one for a vector that grows.
	allocsInIssue = 1

	lockedCycles = 20
	malloc       = 20 * time.Nanosecond // allocate and free a small block
)

// Clock rates of the Xeon E5-2640v4: with one busy core, and the nominal one.
const (
	TurboClock   = 3.4e9
	NominalClock = 2.4e9
)

// ConnectX4 returns the cluster of SplitFT's evaluation (section 5): CloudLab machines with
// a Xeon E5-2640v4 and a ConnectX-4 card of 25 Gb/s, with the work of the paper's library
// between the protocol and the verbs.
func ConnectX4() Model {
	m := Model{
		LinkRate: 25e9,
		MTU:      512,
		Header:   82,
		ReadTime: 2900 * time.Nanosecond,

		PCIeRead:  550 * time.Nanosecond,
		MaxInline: 8, // what stamps need: the library of the paper sends nothing inline
		Post:      175 * time.Nanosecond,
		PostMore:  81 * time.Nanosecond,
		Poll:      62 * time.Nanosecond,
		Register:  50 * time.Millisecond,
		QPSetup:   1200 * time.Microsecond,

		CopyRate: 10e9,

		SignalAll: true,
		Clears:    1,

		Message: 30 * time.Microsecond,
		Lookup:  3586 * time.Microsecond,
		Update:  4734 * time.Microsecond,
	}
	return m.At(TurboClock)
}

// At returns m with the paper's library on a CPU of the given clock rate, in Hz.
func (m Model) At(clock float64) Model {
	locked := func(n float64) time.Duration { return time.Duration(n * lockedCycles / clock * 1e9) }
	m.WriteCall, m.ReadCall = locked(lockedInWrite), locked(lockedInRead)
	m.Issue, m.Settle = locked(lockedInIssue)+allocsInIssue*malloc, locked(lockedInSettle)
	return m
}

// Bare returns m without the paper's library: our protocol on the verbs, sending inline up
// to the limit of the card.
func (m Model) Bare() Model {
	m.WriteCall, m.ReadCall, m.Issue, m.Settle = 0, 0, 0, 0
	m.SignalAll, m.Clears, m.MaxInline, m.MTU = false, 0, 256, 1024
	return m
}

// Input is a number of the model in readable form.
type Input struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// From: "paper" is SplitFT itself, "source" the published source of its library or
	// of a driver, "published" a measurement of others on such hardware, cited from
	// memory, "standard" a specification, "assumed" our own round figure.
	From   string `json:"from"`
	Source string `json:"source,omitempty"`
}

// Inputs returns the numbers of m, which is [ConnectX4] or a change of it, and the sources
// of the numbers of ConnectX4.
func (m *Model) Inputs() []Input {
	return []Input{
		{"link", fmt.Sprintf("%.0f Gb/s", m.LinkRate/1e9), "paper", "section 5, setup"},
		{"path MTU", fmt.Sprintf("%d bytes", m.MTU), "source", "dassl-uiuc/RDMA, QueuePair.cpp: IBV_MTU_512"},
		{"beside in a packet", fmt.Sprintf("%d bytes", m.Header), "standard", "RoCEv2 over IPv4, with preamble and gap of Ethernet"},
		{"Read of 32 bytes", fmt.Sprint(m.ReadTime), "published", "eRPC, NSDI 2019, table 2: the same CPUs and cards, one switch"},
		{"card reads memory", fmt.Sprint(m.PCIeRead), "published", "Neugebauer et al., SIGCOMM 2018: PCIe 3, 64 bytes, 547 ns"},
		{"a list is read by the card", "always", "source", "rdma-core, providers/mlx5/qp.c: only a request posted alone goes with its doorbell"},
		{"inline", fmt.Sprintf("%d bytes", m.MaxInline), "source", "dassl-uiuc/RDMA sets no flag for it; our stamps need 8"},
		{"completions", signals(m.SignalAll), "source", "dassl-uiuc/RDMA, QueuePair.cpp: a token makes a request signalled, and both have one"},
		{"post, one more, poll", fmt.Sprintf("%v, %v, %v", m.Post, m.PostMore, m.Poll), "published",
			"Zambre et al., ICPP 2019, ConnectX-4: 175 ns, of these 94 for the doorbell; 62 ns"},
		{"library: write, read", fmt.Sprintf("%v, %v", m.WriteCall, m.ReadCall), "source", fmt.Sprintf("%d and %d locked instructions, counted in csl.cc and client.cc", lockedInWrite, lockedInRead)},
		{"library: each request", fmt.Sprintf("%v, then %v", m.Issue, m.Settle), "source",
			fmt.Sprintf("%d and %.1f of them, and %d allocation, counted in client.cc and RequestToken.cpp", lockedInIssue, lockedInSettle, allocsInIssue)},
		{"locked instruction", fmt.Sprintf("%d cycles at %.1f GHz", lockedCycles, TurboClock/1e9), "published", "x86, line in the first cache; the CPU's clock with one busy core"},
		{"allocation", fmt.Sprint(malloc), "assumed", "with its release, from the thread's cache"},
		{"allocate, register 60 MiB", fmt.Sprint(m.Register), "paper", "section 5.4.3: both together about 50 ms"},
		{"a peer clears a region", fmt.Sprintf("%d more", m.Clears), "source", "server.cc, handleIncomingConnection: after the pool has"},
		{"queue pair, each end", fmt.Sprint(m.QPSetup), "published", "KRCORE, ATC 2022: 2.4 ms for both"},
		{"copy, clear", fmt.Sprintf("%.0f GB/s", m.CopyRate/1e9), "assumed", ""},
		{"message, one way", fmt.Sprint(m.Message), "assumed", "TCP in one rack"},
		{"find a peer", fmt.Sprint(m.Lookup), "paper", "table 3: an input, not predicted"},
		{"change the ap-map", fmt.Sprint(m.Update), "paper", "table 3: an input, not predicted"},
	}
}

func signals(all bool) string {
	if all {
		return "of every request"
	}
	return "of those asked for"
}
