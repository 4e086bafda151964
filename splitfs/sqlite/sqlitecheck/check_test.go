package sqlitecheck_test

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/sqlite/sqlitecheck"
)

func check(t *testing.T, cfg sqlitecheck.Config) *sqlitecheck.Report {
	t.Helper()
	r, err := sqlitecheck.Check(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", *r)
	return r
}

// No crash loses a transaction that was committed. `verbatim-run crash sqlite` tries more
// points.
func TestCrashes(t *testing.T) {
	r := check(t, sqlitecheck.Config{Transactions: 60, Points: 60})
	if r.Err != nil {
		t.Errorf("%v; verbatim-run crash sqlite --transactions 60 --at %d makes this run", r.Err, r.Failed)
	}
	if r.Tried < 55 || r.Twice == 0 || r.Peers == 0 || r.Points < 500 {
		t.Error("too little has happened")
	}
}

// The same with the log in persistent memory: a power failure loses the content of the caches.
func TestCrashesOnArcadia(t *testing.T) {
	r := check(t, sqlitecheck.Config{Transactions: 60, Points: 60, Log: sqlitecheck.Arcadia})
	if r.Err != nil {
		t.Errorf("%v; verbatim-run crash sqlite --log arcadia --transactions 60 --at %d repeats this run", r.Err, r.Failed)
	}
	if r.Tried < 55 || r.Twice == 0 || r.Power < 20 || r.Peers > 0 || r.Points < 500 {
		t.Error("too little has happened")
	}
}

// A point and a seed make the same run.
func TestSamePointSameRun(t *testing.T) {
	cfg := sqlitecheck.Config{Transactions: 30, Points: 4, Seed: 3, Workers: 1}
	a, b := check(t, cfg), check(t, cfg)
	if a.Points != b.Points || a.Events != b.Events || a.Choices != b.Choices || a.Choices == 0 {
		t.Error("two runs differ")
	}
	if cfg.Seed = 4; check(t, cfg).Choices == a.Choices {
		t.Error("another seed makes the same run")
	}
}

// hasty acknowledges a write before it is sent.
type hasty struct{ splitfs.Store }

func (h hasty) Create(object string, size int) (splitfs.Object, error) {
	o, err := h.Store.Create(object, size)
	return &hastyObject{Object: o}, err
}

func (h hasty) Recover(object string) (splitfs.Object, error) {
	o, err := h.Store.Recover(object)
	if err != nil {
		return nil, err
	}
	return &hastyObject{Object: o}, nil
}

type hastyObject struct {
	splitfs.Object
	off  int
	data []byte
}

func (o *hastyObject) flush() error {
	data := o.data
	o.data = nil
	return o.Object.Record(o.off, data)
}

func (o *hastyObject) Record(off int, data []byte) error {
	err := o.flush()
	o.off, o.data = off, append([]byte(nil), data...)
	return err
}

func (o *hastyObject) ReadAt(p []byte, off int) (int, error) {
	if err := o.flush(); err != nil {
		return 0, err
	}
	return o.Object.ReadAt(p, off)
}

// The check notices if the last write before a crash is lost.
func TestLossIsFound(t *testing.T) {
	for _, log := range []string{sqlitecheck.NCL, sqlitecheck.Arcadia} {
		r := check(t, sqlitecheck.Config{Transactions: 60, Points: 300, Log: log,
			Store: func(s splitfs.Store) splitfs.Store { return hasty{s} }})
		var loss *sqlitecheck.LossError
		if !errors.As(r.Err, &loss) || r.Failed == 0 {
			t.Errorf("%s: no loss was found", log)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, cfg := range []sqlitecheck.Config{
		{}, {Transactions: 1, Points: -1}, {Transactions: 1, At: 1 << 30}, {Transactions: 1, Profile: "none"}, {Transactions: 1, Log: "none"},
	} {
		if _, err := sqlitecheck.Check(cfg); !errors.Is(err, sqlitecheck.ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", cfg, err)
		}
	}
}
