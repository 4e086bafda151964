package model

// mix64 spreads the bits of x over the whole word (the finalizer of SplitMix64). Hashes
// here must be the same in every run and on every machine, unlike those of the seeded
// hash/maphash.
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashBytes is FNV-1a of the bytes, passed through mix64.
func hashBytes[T string | []byte](b T) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := 0; i < len(b); i++ {
		h = (h ^ uint64(b[i])) * 0x100000001b3
	}
	return mix64(h)
}

// combine adds x to the hash h of what precedes it; the order matters.
func combine(h, x uint64) uint64 { return mix64(h*0x9fb21c651e98df25 ^ x) }
