package splitfs

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	lifeFile    = Reserved + "/life"
	replacedExt = ".replaced"
	stubFormat  = "verbatim-splitfs-1 %s\n"
	idFormat    = "%08x.%08x"
	idSize      = 17
)

var stubSize = int64(len(fmt.Sprintf(stubFormat, strings.Repeat("0", idSize))))

// begin counts this mount and cleans up after earlier ones.
func (f *FS) begin() error {
	if err := f.cfg.Dir.Mkdir(Reserved, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	b, err := f.readFile(lifeFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n := uint64(0)
	if err == nil {
		if n, err = strconv.ParseUint(strings.TrimSpace(string(b)), 10, 32); err != nil || n == 1<<32-1 {
			return fmt.Errorf("%w: file %s: want a number below 2^32, have %q", ErrCorrupt, lifeFile, b)
		}
	}
	f.life = uint32(n + 1)
	fresh := lifeFile + ".new"
	if err := f.writeFile(fresh, fmt.Appendf(nil, "%d\n", f.life), 0o600); err != nil {
		return err
	}
	if err := f.cfg.Dir.Rename(fresh, lifeFile); err != nil {
		return err
	}
	if err := f.syncDirs(".", Reserved); err != nil {
		return err
	}
	return f.collect()
}

// collect deletes the objects that were half created or half deleted.
func (f *FS) collect() error {
	list, err := f.cfg.Dir.ReadDir(Reserved)
	if err != nil {
		return err
	}
	withdrawn := false
	for _, e := range list {
		name := path.Join(Reserved, e.Name())
		id, replaced := strings.CutSuffix(e.Name(), replacedExt)
		if len(id) != idSize {
			continue
		}
		if replaced {
			live, err := f.stillThere(id, name)
			if err != nil {
				return err
			}
			if live {
				if err := f.cfg.Dir.Remove(name); err != nil {
					return err
				}
				withdrawn = true
				continue
			}
		}
		f.discard(id, name)
	}
	if !withdrawn {
		return nil
	}
	return f.syncDirs(Reserved) // the file may now be renamed: see withdraw
}

// stillThere reports whether the object that was to be replaced, according to the file
// intent, was not.
func (f *FS) stillThere(id, intent string) (bool, error) {
	b, err := f.readFile(intent)
	if err != nil {
		return false, err
	}
	sum, at, ok := strings.Cut(string(b), " ")
	if !ok || sum != intentSum(at) {
		return true, nil // the crash interrupted the write of the intent
	}
	now, err := f.stub(at)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // its folder is a file by now
		return false, nil
	}
	return now == id, err
}

func intentSum(at string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(at))) }

// intend records that the object is to be deleted once another file has the name.
func (f *FS) intend(id, name string) (string, error) {
	intent := path.Join(Reserved, id+replacedExt)
	f.intents = append(f.intents, intent)
	if err := f.writeFile(intent, []byte(intentSum(name)+" "+name), 0o600); err != nil {
		return "", err
	}
	return intent, f.syncDirs(Reserved)
}

// carriedOut removes an intent that was carried out.
func (f *FS) carriedOut(intent string) {
	f.intents = slices.DeleteFunc(f.intents, func(s string) bool { return s == intent })
}

// withdraw removes the intents of failed operations. An intent names a file: after a
// rename the next New would not find the file, and would consider the object replaced.
func (f *FS) withdraw() error {
	if len(f.intents) == 0 {
		return nil
	}
	for _, intent := range f.intents {
		live, err := f.stillThere(strings.TrimSuffix(path.Base(intent), replacedExt), intent)
		if err == nil && live {
			err = f.cfg.Dir.Remove(intent)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := f.syncDirs(Reserved); err != nil {
		return err
	}
	f.intents = nil
	return nil
}

// discard deletes an object that is not open, and then the file in Reserved that
// requests it. What cannot be deleted now is left to the next New.
func (f *FS) discard(id, intent string) {
	obj, err := f.cfg.Store.Recover(id)
	if err == nil {
		f.release(obj, id, intent)
		return
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = f.cfg.Dir.Remove(intent)
	}
	if err != nil {
		f.cfg.Logf("splitfs: object %s stays until the next mount: %v", id, err)
	}
}

// release deletes an open object in the same way.
func (f *FS) release(obj Object, id, intent string) {
	err := obj.Release()
	if err == nil {
		err = f.cfg.Dir.Remove(intent)
	} else {
		obj.Close()
	}
	if err != nil {
		f.cfg.Logf("splitfs: object %s stays until the next mount: %v", id, err)
	}
}

// stub returns the object of an ncl file, or "" for any other file or folder.
func (f *FS) stub(name string) (string, error) {
	st, err := f.cfg.Dir.Stat(name)
	if err != nil || !st.Mode().IsRegular() || st.Size() != stubSize {
		return "", err
	}
	b, err := f.readFile(name)
	if err != nil {
		return "", err
	}
	id := string(bytes.TrimSuffix(b, []byte("\n")))
	id = id[strings.LastIndexByte(id, ' ')+1:]
	if fmt.Sprintf(stubFormat, id) != string(b) || len(id) != idSize {
		return "", nil
	}
	return id, nil
}

// make creates an object and a stub for it in Reserved, from where it is renamed to its
// place.
func (f *FS) make(size int, perm fs.FileMode) (id, at string, r *region, err error) {
	f.made++
	id = fmt.Sprintf(idFormat, f.life, f.made)
	at = path.Join(Reserved, id)
	if err = f.writeFile(at, fmt.Appendf(nil, stubFormat, id), perm); err != nil {
		return "", "", nil, err
	}
	if err = f.syncDirs(Reserved); err != nil {
		return "", "", nil, err
	}
	obj, err := f.cfg.Store.Create(id, size)
	if err != nil {
		f.discard(id, at)
		return "", "", nil, err
	}
	return id, at, emptyRegion(obj, f.generation()), nil
}

// generation returns one that no frame has had. Objects and generations may share
// numbers.
func (f *FS) generation() uint64 {
	f.made++
	return uint64(f.life)<<32 | uint64(f.made)
}

// create makes a new ncl file.
func (f *FS) create(name string, perm fs.FileMode) (*node, error) {
	id, at, r, err := f.make(f.cfg.Region, perm)
	if err != nil {
		return nil, err
	}
	if err := f.cfg.Dir.Rename(at, name); err != nil {
		if still, _ := f.stub(at); still == id {
			f.release(r.obj, id, at)
		} else { // the rename may have happened, whatever the directory reports
			r.obj.Close()
		}
		return nil, err
	}
	if err := f.syncDirs(path.Dir(name), Reserved); err != nil {
		r.obj.Close()
		return nil, err
	}
	n := &node{fs: f, id: id, path: name, region: r, mu: f.cfg.NewMutex()}
	f.nodes = append(f.nodes, n)
	return n, nil
}

// node returns the ncl file with this object, and recovers it on first use.
func (f *FS) node(id, name string) (*node, error) {
	for _, n := range f.nodes {
		if n.id == id {
			n.path = name // a rename that failed may have happened
			return n, nil
		}
	}
	obj, err := f.cfg.Store.Recover(id)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: there is no object %s; does the directory belong to this application and this controller? %v",
				ErrCorrupt, id, err) // not %w: the file is there
		}
		return nil, err
	}
	r, err := scanRegion(obj, f.generation())
	if err != nil {
		obj.Close()
		return nil, err
	}
	n := &node{fs: f, id: id, path: name, region: r, mu: f.cfg.NewMutex()}
	f.nodes = append(f.nodes, n)
	return n, nil
}

// orphan deletes an object whose stub is gone, now or when its last handle is closed.
func (f *FS) orphan(id, intent string) {
	for _, n := range f.nodes {
		if n.id == id {
			n.intent = intent
			n.refs++
			f.unpin(n)
			return
		}
	}
	f.discard(id, intent)
}

// unpin releases the node.
func (f *FS) unpin(n *node) {
	n.refs--
	if n.refs > 0 || n.intent == "" && n.failed == nil || f.closed {
		return
	}
	f.nodes = slices.DeleteFunc(f.nodes, func(m *node) bool { return m == n })
	if n.intent != "" {
		f.release(n.region.obj, n.id, n.intent)
	} else {
		n.region.obj.Close() // the next open recovers the content of the peers
	}
}

// enlarge gives n a new region, for need more bytes. The caller holds n.mu.
func (f *FS) enlarge(n *node, need int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	size, err := n.region.sizeFor(need, f.cfg.MaxRegion)
	if err != nil {
		return err
	}
	perm := fs.FileMode(0o600)
	if n.intent == "" {
		if perm, err = f.permOf(n); err != nil {
			return err
		}
	}
	id, at, r, err := f.make(size, perm)
	if err != nil {
		return err
	}
	if err := n.region.copyTo(r); err != nil {
		f.release(r.obj, id, at)
		return err
	}
	intent := n.intent
	if intent == "" {
		if intent, err = f.replaceStub(n, at); err != nil {
			n.failed = err // the next New may find either object
			r.obj.Close()
			return err
		}
		at = ""
	}
	f.carriedOut(intent)
	f.release(n.region.obj, n.id, intent)
	n.id, n.region, n.intent = id, r, at
	return nil
}

// permOf returns the permissions of n, which has a name. After a failed rename or
// removal the known name may be wrong, and may belong to another file.
func (f *FS) permOf(n *node) (fs.FileMode, error) {
	id, err := f.stub(n.path)
	if err == nil && id != n.id {
		err = fmt.Errorf("%w: the file %s has been replaced", ErrFailed, n.path)
	}
	if err != nil {
		return 0, err
	}
	st, err := f.cfg.Dir.Stat(n.path)
	if err != nil {
		return 0, err
	}
	return st.Mode().Perm(), nil
}

// replaceStub renames the stub at over the stub of n.
func (f *FS) replaceStub(n *node, at string) (intent string, err error) {
	if intent, err = f.intend(n.id, n.path); err != nil {
		return "", err
	}
	if err = f.cfg.Dir.Rename(at, n.path); err != nil {
		return "", err
	}
	return intent, f.syncDirs(path.Dir(n.path), Reserved)
}

func (f *FS) readFile(name string) ([]byte, error) {
	file, err := f.cfg.Dir.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	const limit = 8 << 10
	return io.ReadAll(io.NewSectionReader(file, 0, limit))
}

// writeFile writes a small file and makes its content durable.
func (f *FS) writeFile(name string, data []byte, perm fs.FileMode) error {
	file, err := f.cfg.Dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, 0)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
