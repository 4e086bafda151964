package sqlitecheck

import (
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/verbatim-rdma/verbatim/splitfs/sqlite"
)

// The workload is a bank: transaction n moves money between two accounts and records
// the transfer in a journal. The number of transactions determines the content of the
// database.

const accounts = 20

const schema = `BEGIN;
CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
CREATE TABLE journal (n INTEGER PRIMARY KEY, src INTEGER, dst INTEGER, amount INTEGER, note TEXT);
CREATE INDEX by_amount ON journal (amount, note);
WITH RECURSIVE ids(id) AS (SELECT 0 UNION ALL SELECT id+1 FROM ids WHERE id < 19)
INSERT INTO account SELECT id, 1000 FROM ids;
COMMIT;`

// movement is transaction n.
type movement struct {
	src, dst, amount int
	note             string
}

func movementOf(n int) movement {
	x := uint32(n)*2654435761 + 12345
	src := int(x>>3) % accounts
	return movement{src: src, dst: (src + 1 + int(x>>9)%(accounts-1)) % accounts, amount: int(x>>17) % 100,
		note: strings.Repeat(string(rune('a'+n%26)), int(x>>21)%400)}
}

// LossError: the content of the database differs from the committed content.
type LossError struct{ Text string }

func (e *LossError) Error() string { return e.Text }

func lossf(format string, args ...any) error { return &LossError{fmt.Sprintf(format, args...)} }

// bank is an open database.
type bank struct {
	db                    *sqlite3.Conn
	enter, change, commit *sqlite3.Stmt
}

// openBank opens the database, and makes its tables if it has none.
func openBank(v *sqlite.VFS) (_ *bank, err error) {
	b := new(bank)
	if b.db, err = sqlite3.Open(v.URI("bank.db")); err != nil {
		return nil, err
	}
	for _, sql := range []string{"PRAGMA page_size = 1024;", sqlite.Setup, "PRAGMA wal_autocheckpoint = 60;"} {
		if err = b.db.Exec(sql); err != nil {
			return b, fmt.Errorf("%s: %w", sql, err)
		}
	}
	n, err := b.number("SELECT count(*) FROM sqlite_master")
	if err != nil || n > 0 {
		return b, err
	}
	return b, b.db.Exec(schema)
}

// close closes the database as far as that is possible.
func (b *bank) close() error {
	if b == nil || b.db == nil {
		return nil
	}
	for _, s := range []*sqlite3.Stmt{b.enter, b.change, b.commit} {
		if s != nil {
			_ = s.Close() // of a database that failed: Close returns the error
		}
	}
	return b.db.Close()
}

func (b *bank) number(sql string) (int, error) {
	s, _, err := b.db.Prepare(sql)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if !s.Step() {
		return 0, s.Err()
	}
	return s.ColumnInt(0), s.Err()
}

// prepare compiles the statements of a transaction.
func (b *bank) prepare() (err error) {
	if b.enter, _, err = b.db.Prepare("INSERT INTO journal VALUES (?, ?, ?, ?, ?)"); err != nil {
		return err
	}
	b.change, _, err = b.db.Prepare("UPDATE account SET balance = balance + ? WHERE id = ?")
	return err
}

// move carries out transaction n.
func (b *bank) move(n int) error {
	m := movementOf(n)
	if err := b.db.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for i, x := range []int{n, m.src, m.dst, m.amount} {
		if err := b.enter.BindInt(i+1, x); err != nil {
			return err
		}
	}
	if err := b.enter.BindText(5, m.note); err != nil {
		return err
	}
	if err := b.enter.Exec(); err != nil {
		return err
	}
	for _, c := range [][2]int{{-m.amount, m.src}, {m.amount, m.dst}} {
		_ = b.change.BindInt(1, c[0]) // two parameters, as it was compiled
		_ = b.change.BindInt(2, c[1])
		if err := b.change.Exec(); err != nil {
			return err
		}
	}
	return b.db.Exec("COMMIT")
}

// verify returns the number of transactions in the database. The error is a LossError if
// the database is damaged, or if its content is not the result of that many transactions.
func (b *bank) verify() (int, error) {
	if err := b.integrity(); err != nil {
		return 0, err
	}
	balance := make([]int, accounts)
	for i := range balance {
		balance[i] = 1000
	}
	n := 0
	err := b.rows("SELECT n, src, dst, amount, note FROM journal ORDER BY n", func(s *sqlite3.Stmt) error {
		n++
		m := movementOf(n)
		got := movement{s.ColumnInt(1), s.ColumnInt(2), s.ColumnInt(3), s.ColumnText(4)}
		if s.ColumnInt(0) != n || got != m {
			return lossf("row %d of the journal is number %d, %v, want %v", n, s.ColumnInt(0), got, m)
		}
		balance[m.src] -= m.amount
		balance[m.dst] += m.amount
		return nil
	})
	if err != nil {
		return n, err
	}
	i := 0
	err = b.rows("SELECT id, balance FROM account ORDER BY id", func(s *sqlite3.Stmt) error {
		if i >= accounts || s.ColumnInt(0) != i || s.ColumnInt(1) != balance[i] {
			return lossf("after %d transactions account %d has %d", n, s.ColumnInt(0), s.ColumnInt(1))
		}
		i++
		return nil
	})
	if err == nil && i != accounts {
		err = lossf("there are %d accounts, want %d", i, accounts)
	}
	return n, err
}

func (b *bank) integrity() error {
	return b.rows("PRAGMA integrity_check", func(s *sqlite3.Stmt) error {
		if text := s.ColumnText(0); text != "ok" {
			return lossf("integrity_check: %s", text)
		}
		return nil
	})
}

func (b *bank) rows(sql string, row func(*sqlite3.Stmt) error) error {
	s, _, err := b.db.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	for s.Step() {
		if err := row(s); err != nil {
			return err
		}
	}
	return s.Err()
}
