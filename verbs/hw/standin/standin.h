#ifndef VERBATIM_STANDIN_H
#define VERBATIM_STANDIN_H

#include <infiniband/verbs.h>
#include <stdint.h>

enum { STANDIN_DEPTH = 256 };

// The provider's functions find the rest of this by their argument's context.
struct standin {
	struct ibv_context ctx;
	struct ibv_qp qp;
	struct ibv_cq cq;
	uint64_t posted, calls;
	uint64_t ids[STANDIN_DEPTH]; // of completions in [tail, head)
	uint32_t head, tail;
};

void standin_init(struct standin *s);
int64_t standin_loop(struct standin *s, int rounds, int n); // nanoseconds
void standin_nothing(uintptr_t x);

#endif
