package resp

import (
	"bufio"
	"strconv"
	"strings"
)

// writer writes replies. The buffer keeps an error, and returns it when it is flushed.
type writer struct {
	*bufio.Writer
	three bool // the client uses version 3
}

func (w *writer) line(kind byte, text string) {
	_ = w.WriteByte(kind)
	_, _ = w.WriteString(text)
	_, _ = w.WriteString("\r\n")
}

func (w *writer) simple(text string) { w.line('+', text) }
func (w *writer) number(n int)       { w.line(':', strconv.Itoa(n)) }
func (w *writer) array(n int)        { w.line('*', strconv.Itoa(n)) }

// failed writes an error, on one line.
func (w *writer) failed(code, text string) {
	w.line('-', code+" "+strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text))
}

func (w *writer) bulk(b []byte) {
	w.line('$', strconv.Itoa(len(b)))
	_, _ = w.Write(b)
	_, _ = w.WriteString("\r\n")
}

func (w *writer) text(s string) { w.bulk([]byte(s)) }

// nothing writes the value of a missing key.
func (w *writer) nothing() {
	if w.three {
		w.line('_', "")
	} else {
		w.line('$', "-1")
	}
}

// pairs begins n keys, each with its value.
func (w *writer) pairs(n int) {
	if w.three {
		w.line('%', strconv.Itoa(n))
	} else {
		w.array(2 * n)
	}
}
