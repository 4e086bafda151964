package virtual

import (
	"fmt"
	"time"
)

// ConnectX4 is the cluster of SplitFT's evaluation (section 5): CloudLab machines with
// a Xeon E5-2640v4 and a ConnectX-4 card of 25 Gb/s.
func ConnectX4() Model {
	return Model{
		LinkRate: 25e9,
		MTU:      1024,
		Header:   82,
		ReadTime: 2900 * time.Nanosecond,

		PCIeRead:  550 * time.Nanosecond,
		MaxInline: 8, // what stamps need: the library of the paper sends nothing inline
		Post:      175 * time.Nanosecond,
		PostMore:  81 * time.Nanosecond,
		Poll:      62 * time.Nanosecond,
		Register:  50 * time.Millisecond,
		QPSetup:   1200 * time.Microsecond,

		Copy:     10 * time.Nanosecond,
		CopyRate: 10e9,
		Page:     500 * time.Nanosecond,

		Message: 30 * time.Microsecond,
		Lookup:  3586 * time.Microsecond,
		Update:  4734 * time.Microsecond,
	}
}

// Input is a number of the model as a person reads it.
type Input struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// From: "paper" is SplitFT itself, "published" a measurement of others on such
	// hardware, cited from memory, "standard" a specification, "assumed" a round
	// figure of ours.
	From   string `json:"from"`
	Source string `json:"source,omitempty"`
}

// Inputs are the numbers of m, which is [ConnectX4] or a change of it, and where those
// of ConnectX4 come from.
func (m *Model) Inputs() []Input {
	return []Input{
		{"link", fmt.Sprintf("%.0f Gb/s", m.LinkRate/1e9), "paper", "section 5, setup"},
		{"packet", fmt.Sprintf("%d bytes and %d beside", m.MTU, m.Header), "standard", "RoCEv2 on Ethernet frames of 1500 bytes"},
		{"Read of 32 bytes", fmt.Sprint(m.ReadTime), "published", "eRPC, NSDI 2019, table 2: the same machines and cards, one switch"},
		{"card reads memory", fmt.Sprint(m.PCIeRead), "published", "Neugebauer et al., SIGCOMM 2018: PCIe 3, 64 bytes, 547 ns"},
		{"inline", fmt.Sprintf("%d bytes", m.MaxInline), "published", "the paper's library (Infinity) asks for no inline data; our stamps need 8"},
		{"post, one more, poll", fmt.Sprintf("%v, %v, %v", m.Post, m.PostMore, m.Poll), "published",
			"Zambre et al., ICPP 2019, ConnectX-4: 175 ns, of these 94 for the doorbell; 62 ns"},
		{"register 60 MiB", fmt.Sprint(m.Register), "paper", "section 5.4.3: about 50 ms"},
		{"queue pair, each end", fmt.Sprint(m.QPSetup), "published", "KRCORE, ATC 2022: 2.4 ms for both"},
		{"copy", fmt.Sprintf("%v and %.0f GB/s", m.Copy, m.CopyRate/1e9), "assumed", ""},
		{"first touch of 4 KiB", fmt.Sprint(m.Page), "assumed", ""},
		{"message, one way", fmt.Sprint(m.Message), "assumed", "TCP in one rack"},
		{"find a peer", fmt.Sprint(m.Lookup), "paper", "table 3: an input, not predicted"},
		{"change the ap-map", fmt.Sprint(m.Update), "paper", "table 3: an input, not predicted"},
	}
}
