// What Go calls: libibverbs flattened to structs without pointers into Go, and to
// functions that take them. binding.c says how.
#ifndef VERBATIM_BINDING_H
#define VERBATIM_BINDING_H

#include <infiniband/verbs.h>
#include <stdint.h>

// A pointer into C memory, on the data path. cgo looks at every pointer that it is
// given, at each call, in case it leads to Go memory; an integer it lets pass.
typedef uintptr_t vb_ref;

// A completion as verbs.WC lays it out, so that C writes where Go reads.
struct vb_wc {
	uint64_t id;
	uint8_t status, op, has_imm;
	uint32_t vendor, len, imm, qpn;
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
	uint16_t dlid;
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

// n requests from a chain; of those, the link of the last is restored. The upper
// half of the result is 0 or an errno, the lower the index of the refused one. When
// sends were posted, up to room completions of cq come into out, and the lower half
// says how many; cq may be NULL.
int64_t vb_post_send(vb_ref qp, vb_ref chain, int n, vb_ref cq, int room, struct vb_wc *out);
int64_t vb_post_recv(vb_ref qp, vb_ref chain, int n);
int vb_post_ext(struct ibv_qp *qp, struct vb_ext *x);

int vb_poll(vb_ref cq, int n, struct vb_wc *out); // how many, or -errno
int vb_arm(struct ibv_cq *cq);
int vb_drain(struct ibv_comp_channel *ch); // takes and acknowledges all events; how many
int vb_async(struct ibv_context *ctx);     // the kind of the next event, or -errno
void vb_convert(struct ibv_wc *in, struct vb_wc *out);
int vb_nonblock(int fd);

#endif
