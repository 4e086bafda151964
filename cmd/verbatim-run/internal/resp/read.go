package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// errProtocol: the client does not speak RESP. The connection is unusable.
var errProtocol = errors.New("protocol error")

// Limits of a command.
const (
	maxArgs    = 1 << 10
	maxCommand = 2 << 20 // bytes of all arguments together; Redis has 512 MiB for each
	maxLine    = 4 << 10 // bytes of a line: a length, or a command
)

// readCommand reads a command: an array of strings, or a line of words. It returns no words for an empty line or
// array. The error wraps [errProtocol], or is an error of the connection.
func readCommand(r *bufio.Reader) ([][]byte, error) {
	line, err := readLine(r)
	if err != nil {
		return nil, err
	}
	if len(line) == 0 || line[0] != '*' {
		return bytes.Fields(bytes.Clone(line)), nil // the buffer is reused
	}
	n, err := length(line[1:], maxArgs)
	if err != nil {
		return nil, fmt.Errorf("%w: invalid multibulk length", err)
	}
	args, left := make([][]byte, 0, max(n, 0)), maxCommand
	for range n {
		b, err := readBulk(r, left)
		if err != nil {
			return nil, err
		}
		left -= len(b)
		args = append(args, b)
	}
	return args, nil
}

// readBulk reads a string of at most most bytes.
func readBulk(r *bufio.Reader, most int) ([]byte, error) {
	line, err := readLine(r)
	if err != nil {
		return nil, inside(err)
	}
	if len(line) == 0 || line[0] != '$' {
		return nil, fmt.Errorf("%w: expected '$'", errProtocol)
	}
	n, err := length(line[1:], most)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("%w: invalid bulk length: a command has at most %d bytes", errProtocol, maxCommand)
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, inside(err)
	}
	if b[n] != '\r' || b[n+1] != '\n' {
		return nil, fmt.Errorf("%w: no line end after a string of the given length", errProtocol)
	}
	return b[:n], nil
}

// inside returns the error of a read within a command: an end of the input there is not a regular end of the connection.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readLine reads a line, without its end. The bytes belong to r.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("%w: too big a line", errProtocol)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// length reads a number up to most; a negative number stands for no value.
func length(b []byte, most int) (int, error) {
	n, err := strconv.Atoi(string(b))
	if err != nil || n > most || n < -1 {
		return 0, errProtocol
	}
	return n, nil
}
