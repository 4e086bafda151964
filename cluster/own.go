package cluster

// Log is a file of records, such as *ncl.File and *ncl.Maintained.
type Log interface {
	Size() int
	ReadAt(p []byte, off int) (int, error)
	// Record returns once the write is acknowledged.
	Record(off int, data []byte) error
}

// Own makes l a file of the instance: it accepts no records once the instance has
// learned that its session has expired. Until then the fence of the file stops late
// records, and the error explains why.
func (i *Instance) Own(l Log) Log { return &owned{l, i} }

type owned struct {
	Log
	i *Instance
}

// Record writes unless the session has expired.
func (o *owned) Record(off int, data []byte) error {
	if err := o.i.Check(); err != nil {
		return err
	}
	return o.i.Explain(o.Log.Record(off, data))
}
