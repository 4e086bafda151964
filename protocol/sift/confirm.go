package sift

// Confirm makes sure that no other coordinator had been elected when it was called: by the
// lease, or by a heartbeat. Whoever answers from a copy of the memory asks it after looking
// at the copy, as [Coordinator.Read] does: see Config.Lease.
func (c *Coordinator) Confirm() error { return c.Read(0, nil) }
