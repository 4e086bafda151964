// What Go calls: libibverbs flattened to structs without pointers into Go, and to
// functions that take them. binding.c says how.
#ifndef VERBATIM_BINDING_H
#define VERBATIM_BINDING_H

#include <infiniband/verbs.h>
#include <stdint.h>

// The one argument of a call on the data path, into C memory. Everything that a call
// takes and gives is in what it refers to, because cgo makes calls of its own around
// one that has more: it looks at every pointer, in case it leads to Go memory, and
// where the stack is now before it stores a result.
typedef uintptr_t vb_ref;

// A completion as verbs.WC lays it out, so that C writes where Go reads.
struct vb_wc {
	uint64_t id;
	uint8_t status, op, has_imm;
	uint32_t vendor, len, imm, qpn;
};

// A CQ, and n completions that came out of it. err is the errno of the last look.
enum { VB_STASH = 64 };
struct vb_stash {
	struct ibv_cq *cq;
	int n, err;
	struct vb_wc wc[VB_STASH];
};

// The first n requests of a chain, for a queue pair. After the post, err is 0 or the
// errno of the request at place at. A post of sends looks for completions as well, if
// look is set, and puts them into stash.
struct vb_post {
	struct ibv_qp *qp;
	void *chain;
	struct vb_stash *stash;
	int n, look, err, at;
};

// What is worth knowing of a device and of one of its ports.
struct vb_device {
	int vendor, max_sge, max_qp_wr, max_rd_atomic, max_init_rd_atomic, max_cqe, atomic_hca, atomic_glob;
	uint64_t caps;
};
struct vb_port {
	int state, active_mtu, max_mtu, lid, ethernet;
};

// Everything that a transition of a queue pair may set.
struct vb_attr {
	uint32_t access, dest_qpn, rq_psn, sq_psn;
	uint16_t dlid, pkey_index;
	uint8_t port, gid_index, mtu, timeout, retry, rnr_retry, min_rnr, rd_atomic, dest_rd_atomic;
	uint8_t sl, hop_limit, traffic_class, global;
	uint8_t dgid[16];
};

// A queue pair to be.
struct vb_qp_init {
	int send_wr, recv_wr, sge, max_inline, sig_all, flush, atomic_write;
};

// Operations that only the extended interface has.
struct vb_ext {
	uint64_t id, remote, len, addr;
	uint32_t rkey, flags, lkey, sge_len;
	uint8_t op, type, level, word[8];
};
enum { VB_FLUSH = 1, VB_ATOMIC_WRITE = 2 };

// Calls return 0 or an errno, unless said otherwise.
int vb_query_device(struct ibv_context *ctx, struct vb_device *out);
int vb_query_port(struct ibv_context *ctx, int port, struct vb_port *out);
struct ibv_mr *vb_reg_mr(struct ibv_pd *pd, uint64_t addr, uint64_t len, int access);
struct ibv_qp *vb_create_qp(struct ibv_pd *pd, struct ibv_cq *send, struct ibv_cq *recv, struct vb_qp_init *init);
int vb_modify(struct ibv_qp *qp, struct vb_attr *a, int mask, int state);
int vb_state(struct ibv_qp *qp); // or -errno

// On the data path.
void vb_post_send(vb_ref post);
void vb_post_recv(vb_ref post);
void vb_poll(vb_ref stash); // adds what the CQ has and the stash has room for
int vb_post_ext(struct ibv_qp *qp, struct vb_ext *x);

int vb_arm(struct ibv_cq *cq);
struct ibv_cq *vb_event_of(struct ibv_comp_channel *ch); // takes and acknowledges an event; NULL: there is none
/* An asynchronous event, and the number of the object that it is about, as Object in Go. */
enum { VB_ABOUT_DEVICE, VB_ABOUT_QP, VB_ABOUT_CQ, VB_ABOUT_PORT };
struct vb_event {
	int kind;
	int about;
	uint32_t number;
};
/* 0, EAGAIN if there is no event, or the error of a device that is gone. */
int vb_async(struct ibv_context *ctx, struct vb_event *x);
int vb_nonblock(int fd);

#endif
