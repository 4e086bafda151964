package explore

// TimelineRow is a row of a timeline for other viewers, as [WriteTimeline] prints it.
type TimelineRow struct {
	Step, Last int        // its steps
	Marked     bool       // a fault or the violation
	Cells      [][]string // by host, what happened there; may be empty
	Up         []bool     // which hosts are up afterwards
	Sources    []string   // lines of the protocol, as file:line
	Events     []int      // in Replay.Events
}

// TimelineRows returns the rows of a timeline, and how many events it omits.
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
