package explore

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A saved search is one JSON object. Its states and chains are written and read one at a time, because
// encoding/json would buffer the text of all of them. A search that has reached its memory limit could then not be saved.

// encode writes the head of a snapshot, and the states and chains of the search.
func (s *search) encode(head *snapshot, to io.Writer) error {
	b, err := json.Marshal(head)
	if err != nil {
		return err
	}
	w := &writer{Writer: bufio.NewWriter(to)}
	w.text(string(b[:len(b)-1]) + `,"States":[`)
	for i := range s.states.shard {
		h := &s.states.shard[i]
		w.open(i, "[")
		for j := range h.n {
			w.item(j, h.row(uint32(j)))
		}
		w.text("]")
	}
	w.text(`],"Chains":[`)
	for i, x := range s.stack {
		w.item(i, x)
	}
	w.text("]}\n")
	return errors.Join(w.err, w.Flush())
}

// writer writes JSON text and keeps the first error.
type writer struct {
	*bufio.Writer
	err error
}

func (w *writer) text(s string) {
	if w.err == nil {
		_, w.err = w.WriteString(s)
	}
}

// open begins item i of a list.
func (w *writer) open(i int, s string) {
	if i > 0 {
		s = "," + s
	}
	w.text(s)
}

func (w *writer) item(i int, x any) {
	b, err := json.Marshal(x)
	w.err = errors.Join(w.err, err)
	w.open(i, string(b))
}

// decode reads a snapshot. If it fails, snap has the fields that were read before, and so its version: a file of
// another version may have fields of other types.
func (snap *snapshot) decode(from io.Reader) error {
	d := json.NewDecoder(from)
	head := map[string]json.RawMessage{}
	err := delim(d, '{')
	for err == nil && d.More() {
		err = snap.field(d, head)
	}
	if err == nil {
		err = delim(d, '}')
	}
	b, bad := json.Marshal(head)
	if bad == nil {
		bad = json.Unmarshal(b, snap)
	}
	return errors.Join(err, bad)
}

// field reads one field: the states and chains into snap, any other into head.
func (snap *snapshot) field(d *json.Decoder, head map[string]json.RawMessage) error {
	name, err := d.Token()
	if err != nil {
		return err
	}
	switch name {
	case "States":
		i := 0
		return list(d, func() error {
			if i == shards {
				return fmt.Errorf("more than %d lists of states", shards)
			}
			rows := &snap.States[i]
			i++
			return list(d, func() error { return decodeInto(d, rows) })
		})
	case "Chains":
		return list(d, func() error { return decodeInto(d, &snap.Chains) })
	}
	var x json.RawMessage
	if err = d.Decode(&x); err == nil {
		head[name.(string)] = x // the decoder checks that a name is a string
	}
	return err
}

// list reads a list. It calls item to read each element.
func list(d *json.Decoder, item func() error) error {
	if err := delim(d, '['); err != nil {
		return err
	}
	for d.More() {
		if err := item(); err != nil {
			return err
		}
	}
	return delim(d, ']')
}

func decodeInto[T any](d *json.Decoder, out *[]T) error {
	var x T
	err := d.Decode(&x)
	*out = append(*out, x)
	return err
}

func delim(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if err == nil && t != want {
		err = fmt.Errorf("%v in the place of %v", t, want)
	}
	return err
}
