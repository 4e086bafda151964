package cluster

// Log is a file that records are written to, such as *ncl.File and *ncl.Maintained.
type Log interface {
	Size() int
	ReadAt(p []byte, off int) (int, error)
	// Record returns once the write is acknowledged.
	Record(off int, data []byte) error
}

// Own is l as a file of the instance: it takes no records once the session is known to be
// over. What keeps a record out that an instance writes without knowing it yet is the fence of
// the file itself; then the error says why.
func (i *Instance) Own(l Log) Log { return &owned{l, i} }

type owned struct {
	Log
	i *Instance
}

// Record writes unless the session is over.
func (o *owned) Record(off int, data []byte) error {
	if err := o.i.Check(); err != nil {
		return err
	}
	return o.i.Explain(o.Log.Record(off, data))
}
