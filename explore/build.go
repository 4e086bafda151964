package explore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync"
)

// build identifies the running program by the hash of its file: a search resumes only
// in the program that began it, since its findings are about that code. The default run
// need not reach all code, such as a recovery, so it would not reveal every change.
var build = sync.OnceValues(func() (string, error) {
	f, err := os.Open("/proc/self/exe") // the file may have been replaced or removed since
	if err != nil {
		name, no := os.Executable()
		if no != nil {
			return "", no
		}
		if f, err = os.Open(name); err != nil {
			return "", err
		}
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
})
