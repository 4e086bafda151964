package explore

// TimelineRow is a row of a timeline for those who draw it themselves: what
// [WriteTimeline] prints as one.
type TimelineRow struct {
	Step, Last int        // the steps that it is about
	Marked     bool       // a fault or the violation
	Cells      [][]string // by host, what happened there; empty where nothing did
	Up         []bool     // which hosts are up after it
	Sources    []string   // lines of the protocol, as file:line
	Events     []int      // in Replay.Events
}

// TimelineRows are the rows of a timeline, and how many events are left out of it.
func TimelineRows(r *Replay, all bool) (rows []TimelineRow, left int) {
	drawn, left := timelineRows(r, all)
	if !all {
		drawn = fold(drawn)
	}
	for _, x := range drawn {
		x.Marked = x.isMarked()
		rows = append(rows, x.TimelineRow)
	}
	return rows, left
}
