package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/internal/codec/reclog"
)

// readLog finds the records of a file.
func readLog(f cluster.Log) (reclog.Log, error) {
	b := make([]byte, f.Size())
	if _, err := f.ReadAt(b, 0); err != nil {
		return reclog.Log{}, err
	}
	return reclog.Scan(b), nil
}

// logWriter appends records to a file.
type logWriter struct {
	f    cluster.Log
	n    int // records in the file
	used int
	buf  []byte
}

// newLogWriter continues after the records of l. Zeros overwrite the remains of a
// record that was not acknowledged.
func newLogWriter(f cluster.Log, l reclog.Log) (*logWriter, error) {
	if l.Remains > 0 {
		if err := f.Record(l.Used, make([]byte, l.Remains)); err != nil {
			return nil, err
		}
	}
	return &logWriter{f: f, n: len(l.Records), used: l.Used}, nil
}

func (w *logWriter) append(record []byte) error {
	if need, left := reclog.Header+len(record), w.f.Size()-w.used; need > left {
		return fmt.Errorf("record %d needs %d bytes, and %d of the file's %d are left; read and delete the file with 'verbatim-run ncl recover --release', or create a larger one with --size",
			w.n+1, need, left, w.f.Size())
	}
	w.buf = reclog.Append(w.buf[:0], record)
	if err := w.f.Record(w.used, w.buf); err != nil {
		return fmt.Errorf("record %d: %w", w.n+1, err)
	}
	w.used += len(w.buf)
	w.n++
	return nil
}

// writeAll appends the records of in. It prints a line for each record as soon as the
// record is acknowledged, before it reads the next one.
func (w *logWriter) writeAll(in *recordReader, acks io.Writer) error {
	for {
		record, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("record %d: %w", w.n+1, err)
		}
		if err := w.append(record); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(acks, "ack %d\n", w.n); err != nil {
			return err
		}
	}
}

// recordReader reads records from a stream: lines, or bytes preceded by their length (4
// bytes, big-endian).
type recordReader struct {
	r      *bufio.Reader
	framed bool
	limit  int // the longest record
}

// next returns the next record, or io.EOF at the end. The last line may lack its
// line feed.
func (r *recordReader) next() ([]byte, error) {
	if r.framed {
		return r.frame()
	}
	var line []byte
	for {
		part, err := r.r.ReadSlice('\n')
		line = append(line, part...)
		end := err == nil
		if end {
			line = line[:len(line)-1]
		}
		switch {
		case len(line) > r.limit:
			return nil, fmt.Errorf("the line is longer than the %d bytes that fit into the file", r.limit)
		case end || errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return nil, err
		}
	}
}

func (r *recordReader) frame() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r.r, head[:]); errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("the input ends inside the length of a record")
	} else if err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if uint64(n) > uint64(r.limit) {
		return nil, fmt.Errorf("its length is %d bytes, but only %d fit into the file; with --framed each record is preceded by its length, 4 bytes, big-endian", n, r.limit)
	}
	record := make([]byte, n)
	if got, err := io.ReadFull(r.r, record); err != nil {
		return nil, fmt.Errorf("the input ends after %d of its %d bytes", got, n)
	}
	return record, nil
}

// jsonRecord is a record as --json and --show print it.
type jsonRecord struct {
	Record int    `json:"record"` // counted from 1
	Data   []byte `json:"data"`   // base64
}

func printJSON(w io.Writer, records [][]byte) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	for i, r := range records {
		if r == nil {
			r = []byte{}
		}
		if err := e.Encode(jsonRecord{i + 1, r}); err != nil {
			return err
		}
	}
	return b.Flush()
}

func printFramed(w io.Writer, records [][]byte) error {
	b := bufio.NewWriter(w)
	for _, r := range records {
		var head [4]byte
		binary.BigEndian.PutUint32(head[:], uint32(len(r)))
		_, _ = b.Write(head[:]) // Flush returns the error
		_, _ = b.Write(r)
	}
	return b.Flush()
}

func printLines(w io.Writer, records [][]byte) error {
	b := bufio.NewWriter(w)
	for _, r := range records {
		_, _ = b.Write(r) // Flush returns the error
		_ = b.WriteByte('\n')
	}
	return b.Flush()
}
