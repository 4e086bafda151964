package clustercheck

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// diskName is a file with a fence; each of its operations is one step. It stands for
// NCL where that would be too much to search. Opening it begins an epoch, and records
// of earlier epochs are refused.
const diskName = "disk"

var errFenced = errors.New("clustercheck: the file is another instance's")

// The requests to the disk: open it, and set a byte in an epoch.
const (
	diskOpen byte = iota
	diskRecord
)

func disk() sim.Service {
	var epoch byte
	var data [8 * slots]byte
	return sim.Service{Host: diskName, Name: diskName,
		Hash:  func() fingerprint.Print { return fingerprint.Print{}.Uint(uint64(epoch)).Bytes(data[:]) },
		Reset: func() { epoch, data = 0, [8 * slots]byte{} },
		Apply: func(_ string, req []byte) []byte {
			switch {
			case req[0] == diskOpen:
				epoch++
				return append([]byte{epoch}, data[:]...)
			case req[1] != epoch:
				return nil
			}
			data[req[2]] = req[3]
			return []byte{epoch}
		},
		ReadOnly: func([]byte) bool { return false },
	}
}

// diskFile is a handle to the disk.
type diskFile struct {
	h     host.Host
	epoch byte
	data  []byte
}

func openDisk(h host.Host) (*diskFile, error) {
	b, err := h.Call(diskName, diskName, []byte{diskOpen}, verbs.Forever)
	if err != nil {
		return nil, err
	}
	return &diskFile{h, b[0], b[1:]}, nil
}

func (f *diskFile) Size() int { return len(f.data) }

func (f *diskFile) ReadAt(p []byte, off int) (int, error) { return copy(p, f.data[off:]), nil }

// Record sets the first byte of data.
func (f *diskFile) Record(off int, data []byte) error {
	b, err := f.h.Call(diskName, diskName, []byte{diskRecord, f.epoch, byte(off), data[0]}, verbs.Forever)
	if err == nil && len(b) == 0 {
		err = errFenced
	}
	return err
}
