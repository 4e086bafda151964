package apps

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"

	"github.com/verbatim-rdma/verbatim/bench/ycsb"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/sqlite"
)

// sqliteDB is SQLite with a write-ahead log. Each operation is a transaction.
type sqliteDB struct {
	db                  *sqlite3.Conn
	vfs                 *sqlite.VFS // nil: there are no peers
	fsys                *splitfs.FS
	get, put, from      *sqlite3.Stmt
	key, value, scanned []byte
}

const databaseName = "ycsb.db"

var vfsNames atomic.Int64

func openSQLite(dir string, m Mode, fsys *splitfs.FS) (_ database, err error) {
	s := &sqliteDB{fsys: fsys}
	uri := "file:" + (&url.URL{Path: filepath.Join(dir, databaseName)}).EscapedPath()
	if m == NCL {
		s.vfs = sqlite.Register(fmt.Sprint("bench", vfsNames.Add(1)), fsys)
		uri = s.vfs.URI(databaseName)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.db, err = sqlite3.Open(uri); err != nil {
		return nil, err
	}
	setup := sqlite.Setup
	if m == Weak {
		setup += "PRAGMA synchronous = OFF;"
	}
	if err := s.db.Exec(setup + "CREATE TABLE usertable (k TEXT PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID;"); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		to  **sqlite3.Stmt
		sql string
	}{
		{&s.get, "SELECT v FROM usertable WHERE k = ?"},
		{&s.put, "INSERT INTO usertable (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v"},
		{&s.from, "SELECT k, v FROM usertable WHERE k >= ? ORDER BY k LIMIT ?"},
	} {
		if *x.to, _, err = s.db.Prepare(x.sql); err != nil {
			return nil, fmt.Errorf("%s: %w", x.sql, err)
		}
	}
	return s, nil
}

func (s *sqliteDB) load(first, end int, seed uint64) error {
	return s.transaction(func() error {
		for i := first; i < end; i++ {
			s.key, s.value = ycsb.Key(s.key, i), ycsb.Loaded(s.value, i, seed)
			if err := s.write(); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *sqliteDB) transaction(f func() error) error {
	if err := s.db.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := f(); err != nil {
		return errors.Join(err, s.db.Exec("ROLLBACK"))
	}
	return s.db.Exec("COMMIT")
}

func (s *sqliteDB) do(op ycsb.Op, g *ycsb.Generator) error {
	s.key = ycsb.Key(s.key, op.Record)
	switch op.Kind {
	case ycsb.Scan:
		n, err := s.scan(s.key, op.Length, func(_, _ []byte) {})
		return found(n, err)
	case ycsb.Read:
		return s.read()
	case ycsb.ReadModifyWrite:
		s.value = g.Value(s.value)
		return s.transaction(func() error {
			if err := s.read(); err != nil {
				return err
			}
			return s.write()
		})
	}
	s.value = g.Value(s.value)
	return s.write()
}

// read reads the record of s.key.
func (s *sqliteDB) read() error {
	err := s.get.BindText(1, string(s.key))
	if err == nil && !s.get.Step() {
		err = errors.New("the record is missing")
	} else if err == nil {
		if s.scanned = s.get.ColumnBlob(0, s.scanned[:0]); len(s.scanned) != ycsb.ValueSize {
			err = fmt.Errorf("the value has %d bytes, not %d", len(s.scanned), ycsb.ValueSize)
		}
	}
	return errors.Join(err, s.get.Reset())
}

// write sets the record of s.key to s.value.
func (s *sqliteDB) write() error {
	if err := errors.Join(s.put.BindText(1, string(s.key)), s.put.BindBlob(2, s.value)); err != nil {
		return err
	}
	return s.put.Exec()
}

func (s *sqliteDB) scan(from []byte, n int, f func(key, value []byte)) (int, error) {
	if err := errors.Join(s.from.BindText(1, string(from)), s.from.BindInt(2, n)); err != nil {
		return 0, err
	}
	seen := 0
	for ; s.from.Step(); seen++ {
		s.scanned = s.from.ColumnBlob(1, s.scanned[:0])
		f([]byte(s.from.ColumnText(0)), s.scanned)
	}
	return seen, s.from.Reset()
}

// close deletes the log on the peers; it disappears with the last connection.
func (s *sqliteDB) close() error {
	var err error
	for _, stmt := range []*sqlite3.Stmt{s.get, s.put, s.from} {
		if stmt != nil {
			err = errors.Join(err, stmt.Close())
		}
	}
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	if s.vfs != nil {
		s.vfs.Unregister()
		s.fsys.Close()
	}
	return err
}
