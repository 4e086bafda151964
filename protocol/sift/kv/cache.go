package kv

// cache holds the coordinator's knowledge of some keys (4.2). The key that was used least
// recently makes room, unless it has operations that are logged and not applied: until then
// the replicated memory has an older value.
//
// It has a fixed number of items and two lists: used items that may make room, the most recently
// used first, and unused items. Items with pending operations are in neither list.
type cache struct {
	items  []item
	by     map[string]int
	pinned int
}

// item is a key in the cache.
type item struct {
	key     string
	value   []byte
	found   bool // false: the key was deleted
	pending int  // operations that are not applied
	prev    int
	next    int
}

// The ends of the two lists are the first items.
const (
	recent = 0
	unused = 1
	ends   = 2
)

func newCache(n int) *cache {
	c := &cache{items: make([]item, ends+n), by: make(map[string]int, n)}
	c.items[recent] = item{prev: recent, next: recent}
	c.items[unused] = item{prev: unused, next: unused}
	for i := ends; i < len(c.items); i++ {
		c.link(i, unused)
	}
	return c
}

// link puts an item after another one.
func (c *cache) link(i, after int) {
	next := c.items[after].next
	c.items[i].prev, c.items[i].next = after, next
	c.items[after].next, c.items[next].prev = i, i
}

func (c *cache) unlink(i int) {
	x := &c.items[i]
	c.items[x.prev].next, c.items[x.next].prev = x.next, x.prev
}

// get returns the item of a key, or nil, and marks it as used.
func (c *cache) get(key []byte) *item {
	i, ok := c.by[string(key)]
	if !ok {
		return nil
	}
	if c.items[i].pending == 0 {
		c.unlink(i)
		c.link(i, recent)
	}
	return &c.items[i]
}

// room reports whether an operation on a key can be recorded.
func (c *cache) room(key []byte) bool {
	_, ok := c.by[string(key)]
	return ok || c.pinned < len(c.items)-ends
}

// record records an operation that is in the log. There must be room.
func (c *cache) record(e *entry) {
	i := c.slot(e.key)
	x := &c.items[i]
	if x.pending == 0 {
		c.unlink(i)
		c.pinned++
	}
	x.pending++
	x.set(e.value, e.kind == put)
}

// applied records that the oldest operation on a key has been applied.
func (c *cache) applied(key []byte) {
	i := c.by[string(key)]
	x := &c.items[i]
	if x.pending--; x.pending > 0 {
		return
	}
	c.pinned--
	if x.found {
		c.link(i, recent)
		return
	}
	c.forget(i)
}

// fill records the value in the memory, if there is room.
func (c *cache) fill(key, value []byte) {
	if !c.room(key) {
		return
	}
	i := c.slot(key)
	c.unlink(i)
	c.link(i, recent)
	c.items[i].set(value, true)
}

// slot returns the item of a key. If it has none it takes one that is not in use, or the one that
// was used least recently.
func (c *cache) slot(key []byte) int {
	if i, ok := c.by[string(key)]; ok {
		return i
	}
	i := c.items[unused].prev
	if i == unused {
		if i = c.items[recent].prev; i == recent {
			panic("sift/kv: every key in the cache is pending")
		}
		delete(c.by, c.items[i].key)
	}
	c.items[i].key = string(key)
	c.by[c.items[i].key] = i
	return i
}

// forget takes an item, which is in no list, out of use.
func (c *cache) forget(i int) {
	delete(c.by, c.items[i].key)
	c.items[i].key = ""
	c.link(i, unused)
}

func (x *item) set(value []byte, found bool) {
	x.value, x.found = append(x.value[:0], value...), found
}
