package explore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync"
)

// build names the program that runs by the hash of its file: a search goes on only in the
// program that began it, since what it has found is about that code. Code that the default
// run does not come to, such as a recovery, may have changed without any other sign.
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
