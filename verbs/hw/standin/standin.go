//go:build rdma

package standin

/*
#include <stdlib.h>
#include "standin.h"
*/
import "C"

import (
	"time"
	"unsafe"
)

// Depth is the number of signaled requests that may be posted and not yet polled.
const Depth = C.STANDIN_DEPTH

// Card is the stand-in.
type Card struct{ c *C.struct_standin }

// New allocates a card. Free releases it.
func New() *Card {
	c := &Card{(*C.struct_standin)(C.calloc(1, C.sizeof_struct_standin))}
	C.standin_init(c.c)
	return c
}

// Free releases the card.
func (c *Card) Free() { C.free(unsafe.Pointer(c.c)) }

// QP returns a *struct ibv_qp.
func (c *Card) QP() unsafe.Pointer { return unsafe.Pointer(&c.c.qp) }

// CQ returns a *struct ibv_cq.
func (c *Card) CQ() unsafe.Pointer { return unsafe.Pointer(&c.c.cq) }

// Posted returns the number of requests that were posted.
func (c *Card) Posted() int { return int(c.c.posted) }

// Calls returns the number of calls that posted them.
func (c *Card) Calls() int { return int(c.c.calls) }

// Loop posts chains of n requests, the last one signaled, and polls for its
// completion, as a C program does. It returns the elapsed time.
func (c *Card) Loop(rounds, n int) time.Duration {
	return time.Duration(C.standin_loop(c.c, C.int(rounds), C.int(n)))
}

// Cross calls a C function that does nothing: the least cost of any binding.
func Cross() { C.standin_nothing(0) }
