package sift

// Confirm checks that no other coordinator had been elected when it was called: by the
// lease, or by a heartbeat. A caller that answers from a copy of the memory calls it after it has
// read the copy, as [Coordinator.Read] does: see Config.Lease.
func (c *Coordinator) Confirm() error { return c.Read(0, nil) }
