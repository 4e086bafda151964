package raftr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/host"
)

// store is the log, and the node's term and vote. All are in DRAM, where the library reads them. If the
// group is persistent, they are written to persistent memory first.
type store struct {
	*raft.MemoryStorage
	voters []uint64
	pmem   host.Region // nil: none
	slot   int         // bytes of an entry in persistent memory
	heads  uint64      // heads written so far
	config uint64      // checksum of the configuration
	sums   []uint64    // checksum of each entry, from index 1
}

// InitialState implements raft.Storage: the group never changes.
func (s *store) InitialState() (*pb.HardState, *pb.ConfState, error) {
	h, _, err := s.MemoryStorage.InitialState()
	return h, &pb.ConfState{Voters: s.voters}, err
}

// last returns the index of the last entry.
func (s *store) last() uint64 {
	last, _ := s.LastIndex() // in DRAM, no error is possible
	return last
}

// The persistent region contains two heads and the log. The head with the larger number counts. An
// entry's index determines its place in the log.
//
//	head   number, term, vote, configuration, checksum: 8 bytes each, in a cache line
//	entry  checksum, term, length: 8 bytes each, and the data
//
// The configuration is a checksum of everything that a vote and the places of entries depend on. Without it, a store with another configuration
// would be read as a shorter log.
//
// The checksum of an entry covers the checksum of the entry before. So remains of an earlier leader after
// the last entry do not count, and neither does an entry that was written in part.
const (
	headSize   = 64
	headsSize  = 2 * headSize
	entryFront = 24
)

var table = crc64.MakeTable(crc64.ECMA)

// openStore opens the store. If the node is not new and the store is empty, the node is an outsider.
func openStore(h host.Host, cfg *Config) (*store, error) {
	s := &store{MemoryStorage: raft.NewMemoryStorage()}
	for i := range cfg.Nodes {
		s.voters = append(s.voters, uint64(i+1))
	}
	if !cfg.Persistent {
		if !cfg.New {
			return nil, ErrOutsider
		}
		return s, nil
	}
	s.slot = (entryFront + cfg.maxCommand() + 7) / 8 * 8
	s.config = cfg.sum()
	var err error
	if s.pmem, err = h.OpenPMEM("raftr", headsSize+cfg.Log*s.slot); err != nil {
		return nil, fmt.Errorf("raftr: open the log: %w", err)
	}
	head, err := s.readHead()
	switch {
	case err != nil:
		return nil, err
	case head == nil && !cfg.New:
		return nil, ErrOutsider
	case head == nil:
		return s, s.saveHead(&pb.HardState{})
	}
	if err := errors.Join(s.SetHardState(head), s.readLog(cfg)); err != nil {
		return nil, err
	}
	s.persist()
	return s, nil
}

// persist makes the data that was read persistent. The process that stored the data may have crashed before the
// flush. The data may then be only in a cache, and a power failure would destroy data on which this node relies.
func (s *store) persist() {
	s.pmem.Flush(0, s.place(s.last()+1))
	s.pmem.Fence()
}

// sum returns the checksum of everything on which a store depends.
func (c *Config) sum() uint64 {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.Log))
	b = binary.BigEndian.AppendUint64(b, uint64(c.Value))
	for _, name := range c.Nodes {
		b = wire.AppendString(b, name)
	}
	return crc64.Checksum(b, table)
}

// save makes a term and vote (nil: unchanged) and entries persistent. Entries are first: a vote refers to
// the log that the node has then.
func (s *store) save(head *pb.HardState, entries []*pb.Entry) error {
	if s.pmem != nil {
		for _, e := range entries {
			s.saveEntry(e)
		}
		if len(entries) > 0 {
			s.pmem.Fence()
		}
	}
	if err := s.Append(entries); err != nil {
		return err
	}
	if head == nil {
		return nil
	}
	old, _, err := s.InitialState()
	if err != nil {
		return err
	}
	if s.pmem != nil && (head.GetTerm() != old.GetTerm() || head.GetVote() != old.GetVote()) {
		if err := s.saveHead(head); err != nil {
			return err
		}
	}
	return s.SetHardState(head)
}

// saveHead writes the head that does not count, which then counts.
func (s *store) saveHead(head *pb.HardState) error {
	s.heads++
	var b []byte
	for _, n := range []uint64{s.heads, head.GetTerm(), head.GetVote(), s.config} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	b = binary.BigEndian.AppendUint64(b, crc64.Checksum(b, table))
	at := int(s.heads%2) * headSize
	s.pmem.Store(at, b)
	s.pmem.Flush(at, len(b))
	s.pmem.Fence()
	return nil
}

// readHead returns the head that counts, or nil if there is none. The error wraps [ErrConfig] if another configuration
// has written it.
func (s *store) readHead() (*pb.HardState, error) {
	var out *pb.HardState
	for i := range 2 {
		var b [40]byte
		if err := host.TryLoad(s.pmem, i*headSize, b[:]); err != nil {
			return nil, fmt.Errorf("raftr: read term and vote: %w", err)
		}
		number := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
		if n := number(0); n > s.heads && number(4) == crc64.Checksum(b[:32], table) {
			if number(3) != s.config {
				return nil, fmt.Errorf("%w: the log in persistent memory belongs to another group, or has values of another size", ErrConfig)
			}
			term, vote := number(1), number(2)
			s.heads, out = n, &pb.HardState{Term: &term, Vote: &vote}
		}
	}
	return out, nil
}

func (s *store) place(index uint64) int { return headsSize + int(index-1)*s.slot }

// saveEntry writes an entry. The caller fences.
func (s *store) saveEntry(e *pb.Entry) {
	s.sums = s.sums[:e.GetIndex()-1]
	b := binary.BigEndian.AppendUint64(make([]byte, 8, entryFront+len(e.GetData())), e.GetTerm())
	b = binary.BigEndian.AppendUint64(b, uint64(len(e.GetData())))
	b = append(b, e.GetData()...)
	sum := s.sum(b[8:])
	binary.BigEndian.PutUint64(b, sum)
	s.sums = append(s.sums, sum)
	at := s.place(e.GetIndex())
	s.pmem.Store(at, b)
	s.pmem.Flush(at, len(b))
}

// sum returns the checksum of the following bytes in the next entry. It is never 0, the initial content of memory.
func (s *store) sum(b []byte) uint64 {
	var before [8]byte
	if n := len(s.sums); n > 0 {
		binary.BigEndian.PutUint64(before[:], s.sums[n-1])
	}
	return max(crc64.Update(crc64.Checksum(before[:], table), table, b), 1)
}

// readLog reads the log up to the first entry that is not complete.
func (s *store) readLog(cfg *Config) error {
	for i := range cfg.Log {
		e, err := s.readEntry(cfg, uint64(i+1))
		if err != nil {
			return fmt.Errorf("raftr: read entry %d: %w", i+1, err)
		}
		if e == nil {
			break
		}
		if err := s.Append([]*pb.Entry{e}); err != nil {
			return err
		}
	}
	return nil
}

// readEntry reads an entry; nil: there is no complete entry at the index.
func (s *store) readEntry(cfg *Config, index uint64) (*pb.Entry, error) {
	front := make([]byte, entryFront)
	if err := host.TryLoad(s.pmem, s.place(index), front); err != nil {
		return nil, err
	}
	sum, term, n := binary.BigEndian.Uint64(front), binary.BigEndian.Uint64(front[8:]), binary.BigEndian.Uint64(front[16:])
	if sum == 0 || n > uint64(cfg.maxCommand()) {
		return nil, nil
	}
	data := make([]byte, n)
	if n > 0 {
		if err := host.TryLoad(s.pmem, s.place(index)+entryFront, data); err != nil {
			return nil, err
		}
	}
	if s.sum(append(front[8:entryFront:entryFront], data...)) != sum {
		return nil, nil
	}
	s.sums = append(s.sums, sum)
	return &pb.Entry{Term: &term, Index: &index, Data: data}, nil
}
