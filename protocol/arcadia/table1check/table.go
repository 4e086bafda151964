package table1check

import "github.com/verbatim-rdma/verbatim/explore"

// Mark is the result in a cell of the table.
type Mark string

// The marks. Unknown: the search ran out or could not decide, or the paper has no mark.
const (
	Survives Mark = "survives"
	Broken   Mark = "broken"
	Unknown  Mark = "unknown"
)

// Failures are the columns of the table.
const (
	Node      = "device/node failure"
	Partition = "network partition"
	Media     = "media error"
	Power     = "power loss"
)

// Failures returns the columns, in the order of the paper.
func Failures() []string { return []string{Node, Partition, Media, Power} }

// Designs of a log, the rows of the table.
const (
	PMDK         = "PMDK libpmemlog"
	FLEX         = "FLEX"
	QueryFresh   = "Query Fresh"
	Arcadia      = "Arcadia"
	ArcadiaLocal = "Arcadia, local mode"
)

// Row is one cell of the table, with the search that decides it.
type Row struct {
	Design, Failure string
	// Published is the mark in table 1 of the paper; Unknown if the design is not in the table.
	Published Mark
	// Expected is the mark that the search must find.
	Expected Mark
	Scenario *explore.Scenario
}

// Rows returns the cells, design by design.
func Rows() []Row {
	return []Row{
		{PMDK, Node, Broken, Broken, node(pmdk)},
		{PMDK, Partition, Broken, Broken, partition(pmdk)},
		{PMDK, Media, Broken, Broken, media(pmdk)},
		{PMDK, Power, Survives, Survives, power(pmdk)},
		{FLEX, Node, Broken, Broken, node(flexible)},
		{FLEX, Partition, Broken, Broken, partition(flexible)},
		{FLEX, Media, Broken, Broken, media(flexible)},
		{FLEX, Power, Survives, Survives, power(flexible)},
		{QueryFresh, Node, Survives, Survives, node(shipping)},
		{QueryFresh, Partition, Survives, Survives, partition(shipping)},
		{QueryFresh, Media, Broken, Broken, media(shipping)},
		{QueryFresh, Power, Survives, Survives, power(shipping)},
		{Arcadia, Node, Survives, Survives, node(moving)},
		{Arcadia, Partition, Survives, Survives, partition(moving)},
		{Arcadia, Media, Survives, Survives, media(staying)},
		{Arcadia, Power, Survives, Survives, power(staying)},
		{ArcadiaLocal, Node, Unknown, Broken, node(local)},
		{ArcadiaLocal, Partition, Unknown, Broken, partition(local)},
		{ArcadiaLocal, Media, Unknown, Broken, media(local)},
		{ArcadiaLocal, Power, Unknown, Survives, power(local)},
	}
}

// Scenarios are the scenarios that must be verified: `verbatim check table1` checks them. Some belong to no cell.
func Scenarios() []*explore.Scenario {
	return append(expected(Survives), power(flexFile), unreadable(staying), together(pmdk), together(flexible))
}

// BrokenScenarios are the scenarios that must be violated. `verbatim table1` checks them, and `verbatim check`
// needs their names.
func BrokenScenarios() []*explore.Scenario { return expected(Broken) }

func expected(m Mark) (out []*explore.Scenario) {
	for _, r := range Rows() {
		if r.Expected == m {
			out = append(out, r.Scenario)
		}
	}
	return out
}
