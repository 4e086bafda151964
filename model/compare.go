package model

import "bytes"

// possible reports whether the content is some prefix of the writes that includes all
// acknowledged ones, plus any bytes of the next write.
//
// It maintains the number of bytes in which the content differs from the prefix while
// the prefix grows write by write: each write costs its own length, not that of the
// file. The prefix with a torn write explains the content exactly if all differing
// bytes lie in that write and are its bytes.
func (f *LogFile) possible(content []byte) bool {
	differ := countDiff(f.base, content)
	if differ == 0 {
		return true // the prefix of the acknowledged writes
	}
	n := f.pending.len()
	if n == 0 {
		return false
	}
	f.scratch = append(f.scratch[:0], f.base...)
	for k := range n {
		w := f.pending.at(k)
		data := f.pending.data(w)
		if len(data) == 0 {
			continue
		}
		f.scratch = extend(f.scratch, w.off+len(data))
		torn, after := applyCounting(f.scratch[w.off:w.off+len(data)], data, content, w.off)
		if torn == differ {
			return true
		}
		differ += after
	}
	return false // a whole last write was already tried as a torn one
}

// applyCounting writes data over dst, the file's bytes at off. It returns how many
// bytes of dst that differed from the content data explains, and the change in the
// number of differing bytes.
func applyCounting(dst, data, content []byte, off int) (explained, change int) {
	for i, b := range data {
		got := byteAt(content, off+i)
		was, is := dst[i] == got, b == got
		switch {
		case !was && is:
			explained++
			change--
		case was && !is:
			change++
		}
		dst[i] = b
	}
	return explained, change
}

// adopt makes the content the new base.
func (f *LogFile) adopt(content []byte) {
	for len(content) > len(f.base) && content[len(content)-1] == 0 {
		content = content[:len(content)-1]
	}
	f.base = extend(f.base, len(content))
	for at := 0; at < len(content); at += block {
		end := min(at+block, len(content))
		if !bytes.Equal(f.base[at:end], content[at:end]) {
			f.replace(at, content[at:end])
		}
	}
	if rest := f.base[len(content):]; countDiff(rest, nil) > 0 {
		f.replace(len(content), make([]byte, len(rest)))
	}
}

func countDiff(a, b []byte) int {
	n := 0
	eachDiff(a, b, func(int) { n++ })
	return n
}

// block is how many bytes are compared at once.
const block = 256

// eachDiff calls do for every position in which a and b differ, both extended with
// zeros. Equal blocks, which are nearly all of a large file, are skipped at memory
// speed.
func eachDiff(a, b []byte, do func(i int)) {
	both := min(len(a), len(b))
	for at := 0; at < both; at += block {
		end := min(at+block, both)
		if bytes.Equal(a[at:end], b[at:end]) {
			continue
		}
		for i := at; i < end; i++ {
			if a[i] != b[i] {
				do(i)
			}
		}
	}
	for i := both; i < max(len(a), len(b)); i++ {
		if byteAt(a, i) != byteAt(b, i) {
			do(i)
		}
	}
}

// byteAt reads a content extended with zeros.
func byteAt(content []byte, i int) byte {
	if i < len(content) {
		return content[i]
	}
	return 0
}

// extend extends the content with zeros to at least size bytes, in whole words.
func extend(content []byte, size int) []byte {
	size = (size + 7) &^ 7
	if size <= len(content) {
		return content
	}
	old := len(content)
	if size <= cap(content) {
		content = content[:size]
		clear(content[old:])
		return content
	}
	return append(content, make([]byte, size-old)...)
}
