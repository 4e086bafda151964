package sqlitecheck

import (
	"crypto/rand"
	"io"
	"runtime"
	"strings"
	"sync"
)

// sameBytes replaces the source of crypto/rand while checks run: SQLite gets the same
// bytes for each connection, and other callers get the original source. SQLite's runtime
// takes its seed from crypto/rand and offers no other way to set it.
type sameBytes struct{ io.Reader }

var installOnce sync.Once

func fixRandomness() {
	installOnce.Do(func() { rand.Reader = sameBytes{rand.Reader} })
}

func (r sameBytes) Read(p []byte) (int, error) {
	var at [1]uintptr
	runtime.Callers(2, at[:])
	frame, _ := runtime.CallersFrames(at[:]).Next()
	if !strings.HasSuffix(frame.Function, "go-sqlite3/vfs.vfsRandomness") {
		return r.Reader.Read(p)
	}
	for i := range p {
		p[i] = byte(i*37 + 11)
	}
	return len(p), nil
}
