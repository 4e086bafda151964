// Command every has a place for each operator, and prints what comes of it.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

var errOdd = errors.New("odd")

type mode uint8

const (
	fast mode = iota + 1
	slow
	none
)

const limit = 3

// card is what the functions are made for.
type card struct {
	n    int
	seen []string
}

func (c *card) note(text string) { c.seen = append(c.seen, text) }

// tasks runs functions in order, without goroutines: each mutant has one result.
type tasks []func()

func (t *tasks) Go(f func()) { *t = append(*t, f) }

func (t *tasks) run() {
	for _, f := range *t {
		f()
	}
}

// sleep waits, and others change the card meanwhile.
func (c *card) sleep(d time.Duration) {
	var door sync.Mutex
	var others tasks
	others.Go(func() {
		c.n += 10
		c.note(d.String())
	})
	door.Lock() // a wait, as far as the generator knows
	others.run()
}

// Load reads the card.
func (c *card) Load() int { return c.n }

func (c *card) lock() bool { return c.n > 100 }

func compare(a, b int) (out []bool) {
	out = append(out, a < b, a <= b, a > b, a >= b)
	if a < b && b < limit || a == b {
		out = append(out, true)
	}
	if a != 0 && !(b == 0) {
		out = append(out, false)
	}
	return out
}

func count(n int) int {
	total := 0
	for i := range n {
		if i == 1 {
			continue
		}
		if total > 4 {
			break
		}
		total += i * 2
	}
	return total - 1
}

func check(n int) error {
	if n%2 == 1 {
		return errOdd
	}
	return nil
}

func checked(n int) (string, error) {
	if err := check(n); err != nil {
		return "", fmt.Errorf("check %d: %w", n, err)
	}
	return "even", check(n / 2)
}

func request(swap bool) verbs.SendWR {
	wr := verbs.SendWR{Op: verbs.OpWrite, Flags: verbs.Signaled | verbs.Fence}
	if swap {
		wr.Op = verbs.OpCompareSwap
	}
	return wr
}

func choose(m mode) (string, mode) {
	switch m {
	case fast:
		return "fast", slow
	case slow:
		return "slow", none
	}
	return "none", fast
}

func completed(wc *verbs.WC) string {
	if wc.Status != verbs.StatusSuccess {
		return "failed"
	}
	if err := wc.Err(); err != nil {
		return "error"
	}
	return "ok"
}

func (c *card) wait() (int, int, int) {
	kept := c.Load()
	c.n++
	c.sleep(time.Second)
	now := c.n | 1
	return kept, now, c.n & 6
}

func (c *card) locked() (text string) {
	defer c.note("deferred")
	if !c.lock() {
		return "not locked"
	}
	c.note("locked")
	c.note("used")
	return "locked"
}

func last(list []int) (out int) {
outer:
	for _, x := range list {
		for y := range x {
			if y == limit {
				break outer
			}
			out = x
		}
	}
	return out
}

// endless waits forever if the mutant is active.
func endless(n int) int {
	for n > 0 {
		n--
	}
	return n
}

// grow allocates memory without limit if it skips n. There is no mutant of a capacity.
func grow(n int) int {
	var list [][]byte
	for i := 0; i != n; i += 1 {
		list = append(list, make([]byte, 64, 128))
	}
	return len(list)
}

func main() {
	c := &card{}
	for _, p := range [][2]int{{1, 2}, {2, 2}, {3, 2}, {0, 1}, {2, 0}, {2, 3}, {3, 4}} {
		fmt.Println(compare(p[0], p[1]))
	}
	fmt.Println(count(3), count(6), c.locked())
	for n := range 5 {
		fmt.Println(checked(n))
	}
	fmt.Println(request(false), request(true))
	fmt.Println(choose(fast))
	fmt.Println(choose(slow))
	fmt.Println(choose(none))
	fmt.Println(completed(&verbs.WC{}), completed(&verbs.WC{Status: verbs.StatusRetryExcErr}))
	fmt.Println(c.wait())
	c.n = 200
	fmt.Println(c.locked(), last([]int{1, 2, 3, 4, 5}), endless(3), grow(3), c.seen)
	os.Exit(len(c.seen))
}
