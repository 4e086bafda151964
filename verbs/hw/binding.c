//go:build rdma

#include "binding.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

// verbs.Status has the numbers of libibverbs. Hold that to the header.
_Static_assert(IBV_WC_SUCCESS == 0 && IBV_WC_LOC_LEN_ERR == 1 && IBV_WC_LOC_QP_OP_ERR == 2 &&
	IBV_WC_LOC_EEC_OP_ERR == 3 && IBV_WC_LOC_PROT_ERR == 4 && IBV_WC_WR_FLUSH_ERR == 5 &&
	IBV_WC_MW_BIND_ERR == 6 && IBV_WC_BAD_RESP_ERR == 7 && IBV_WC_LOC_ACCESS_ERR == 8 &&
	IBV_WC_REM_INV_REQ_ERR == 9 && IBV_WC_REM_ACCESS_ERR == 10 && IBV_WC_REM_OP_ERR == 11 &&
	IBV_WC_RETRY_EXC_ERR == 12 && IBV_WC_RNR_RETRY_EXC_ERR == 13 && IBV_WC_LOC_RDD_VIOL_ERR == 14 &&
	IBV_WC_REM_INV_RD_REQ_ERR == 15 && IBV_WC_REM_ABORT_ERR == 16 && IBV_WC_INV_EECN_ERR == 17 &&
	IBV_WC_INV_EEC_STATE_ERR == 18 && IBV_WC_FATAL_ERR == 19 && IBV_WC_RESP_TIMEOUT_ERR == 20 &&
	IBV_WC_GENERAL_ERR == 21, "a status of libibverbs has moved");

// What later headers have, and earlier ones do not: numbers of the kernel's ABI.
enum {
	QP_EX_WITH_FLUSH = 1 << 11, QP_EX_WITH_ATOMIC_WRITE = 1 << 12,
	WC_FLUSH = 8, WC_ATOMIC_WRITE = 9,
};

int vb_query_device(struct ibv_context *ctx, struct vb_device *out)
{
	struct ibv_device_attr_ex a;
	memset(&a, 0, sizeof a);
	int rc = ibv_query_device_ex(ctx, NULL, &a);
	if (rc)
		return rc < 0 ? errno : rc;
	out->vendor = a.orig_attr.vendor_id;
	out->max_sge = a.orig_attr.max_sge;
	out->max_qp_wr = a.orig_attr.max_qp_wr;
	out->max_rd_atomic = a.orig_attr.max_qp_rd_atom;
	out->max_init_rd_atomic = a.orig_attr.max_qp_init_rd_atom;
	out->max_cqe = a.orig_attr.max_cqe;
	out->atomic_hca = a.orig_attr.atomic_cap != IBV_ATOMIC_NONE;
	out->atomic_glob = a.orig_attr.atomic_cap == IBV_ATOMIC_GLOB;
	out->caps = a.device_cap_flags_ex;
	return 0;
}

int vb_query_port(struct ibv_context *ctx, int port, struct vb_port *out)
{
	struct ibv_port_attr a;
	memset(&a, 0, sizeof a);
	int rc = ibv_query_port(ctx, port, &a);
	if (rc)
		return rc < 0 ? errno : rc;
	out->state = a.state;
	out->active_mtu = a.active_mtu;
	out->max_mtu = a.max_mtu;
	out->lid = a.lid;
	out->ethernet = a.link_layer == IBV_LINK_LAYER_ETHERNET;
	return 0;
}

struct ibv_mr *vb_reg_mr(struct ibv_pd *pd, uint64_t addr, uint64_t len, int access)
{
	return ibv_reg_mr(pd, (void *)(uintptr_t)addr, len, access);
}

struct ibv_qp *vb_create_qp(struct ibv_pd *pd, struct ibv_cq *send, struct ibv_cq *recv, struct vb_qp_init *init)
{
	struct ibv_qp_init_attr_ex a;
	memset(&a, 0, sizeof a);
	a.send_cq = send;
	a.recv_cq = recv;
	a.qp_type = IBV_QPT_RC;
	a.sq_sig_all = init->sig_all;
	a.cap.max_send_wr = init->send_wr;
	a.cap.max_recv_wr = init->recv_wr;
	a.cap.max_send_sge = a.cap.max_recv_sge = init->sge;
	a.cap.max_inline_data = init->max_inline;
	if (!init->flush && !init->atomic_write) // every driver has this
		return ibv_create_qp(pd, (struct ibv_qp_init_attr *)&a);
	a.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	a.pd = pd;
	a.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
		IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	if (init->flush)
		a.send_ops_flags |= QP_EX_WITH_FLUSH;
	if (init->atomic_write)
		a.send_ops_flags |= QP_EX_WITH_ATOMIC_WRITE;
	return ibv_create_qp_ex(pd->context, &a);
}

int vb_modify(struct ibv_qp *qp, struct vb_attr *a, int mask, int state)
{
	struct ibv_qp_attr m;
	memset(&m, 0, sizeof m);
	if (state >= 0) {
		m.qp_state = state;
		mask |= IBV_QP_STATE;
	}
	m.qp_access_flags = a->access;
	m.port_num = a->port;
	m.pkey_index = a->pkey_index;
	m.path_mtu = a->mtu;
	m.dest_qp_num = a->dest_qpn;
	m.rq_psn = a->rq_psn;
	m.sq_psn = a->sq_psn;
	m.max_rd_atomic = a->rd_atomic;
	m.max_dest_rd_atomic = a->dest_rd_atomic;
	m.min_rnr_timer = a->min_rnr;
	m.timeout = a->timeout;
	m.retry_cnt = a->retry;
	m.rnr_retry = a->rnr_retry;
	m.ah_attr.port_num = a->port;
	m.ah_attr.dlid = a->dlid;
	m.ah_attr.sl = a->sl;
	m.ah_attr.is_global = a->global;
	if (a->global) {
		memcpy(m.ah_attr.grh.dgid.raw, a->dgid, 16);
		m.ah_attr.grh.sgid_index = a->gid_index;
		m.ah_attr.grh.hop_limit = a->hop_limit;
		m.ah_attr.grh.traffic_class = a->traffic_class;
	}
	int rc = ibv_modify_qp(qp, &m, mask);
	return rc < 0 ? errno : rc;
}

int vb_state(struct ibv_qp *qp)
{
	struct ibv_qp_attr a;
	struct ibv_qp_init_attr i;
	int rc = ibv_query_qp(qp, &a, IBV_QP_STATE, &i);
	if (rc)
		return rc < 0 ? -errno : -rc;
	return a.qp_state;
}

// verbs.WCOpcode by ibv_wc_opcode.
static uint8_t kind(int op)
{
	switch (op) {
	case IBV_WC_SEND: return 1;
	case IBV_WC_RDMA_WRITE: return 2;
	case IBV_WC_RDMA_READ: return 3;
	case IBV_WC_COMP_SWAP: return 4;
	case IBV_WC_FETCH_ADD: return 5;
	case IBV_WC_RECV: return 6;
	case IBV_WC_RECV_RDMA_WITH_IMM: return 7;
	case WC_FLUSH: return 8;
	case WC_ATOMIC_WRITE: return 9;
	}
	return 0;
}

static void convert(struct ibv_wc *in, struct vb_wc *out)
{
	memset(out, 0, sizeof *out);
	out->id = in->wr_id;
	out->status = in->status <= IBV_WC_GENERAL_ERR ? in->status : IBV_WC_GENERAL_ERR;
	out->vendor = in->vendor_err;
	out->qpn = in->qp_num;
	if (in->status != IBV_WC_SUCCESS)
		return; // the rest is garbage then
	out->op = kind(in->opcode);
	out->len = in->byte_len;
	if (in->wc_flags & IBV_WC_WITH_IMM) {
		out->has_imm = 1;
		out->imm = ntohl(in->imm_data);
	}
}

static void poll(struct vb_stash *s)
{
	struct ibv_wc wc[VB_STASH];
	int got = ibv_poll_cq(s->cq, VB_STASH - s->n, wc);
	s->err = got >= 0 ? 0 : errno > 0 ? errno : EIO;
	for (int i = 0; i < got; i++)
		convert(&wc[i], &s->wc[s->n++]);
}

void vb_poll(vb_ref stash) { poll((struct vb_stash *)stash); }

// Some libraries do not name the request that they refuse, or not one of ours.
static int place(long at, int n) { return at >= 0 && at < n ? at : 0; }

void vb_post_send(vb_ref post)
{
	struct vb_post *p = (struct vb_post *)post;
	struct ibv_send_wr *chain = p->chain, *last = &chain[p->n - 1], *bad = chain, *next = last->next;
	last->next = NULL;
	int rc = ibv_post_send(p->qp, chain, &bad);
	last->next = next;
	p->err = rc < 0 ? errno : rc;
	if (rc)
		p->at = place(bad - chain, p->n);
	else if (p->look && p->stash->n < VB_STASH)
		poll(p->stash);
}

void vb_post_recv(vb_ref post)
{
	struct vb_post *p = (struct vb_post *)post;
	struct ibv_recv_wr *chain = p->chain, *last = &chain[p->n - 1], *bad = chain, *next = last->next;
	last->next = NULL;
	int rc = ibv_post_recv(p->qp, chain, &bad);
	last->next = next;
	p->err = rc < 0 ? errno : rc;
	if (rc)
		p->at = place(bad - chain, p->n);
}

typedef void (*atomic_write_fn)(struct ibv_qp_ex *, uint32_t, uint64_t, const void *);
typedef void (*flush_fn)(struct ibv_qp_ex *, uint32_t, uint64_t, size_t, uint8_t, uint8_t);

// The two newest functions of struct ibv_qp_ex come right after wr_abort. Headers
// older than them lack the names; a library that accepted their flags when the
// queue pair was made has them in this place, which is part of its ABI.
static void *extended(struct ibv_qp_ex *q, int nth)
{
	return *(void **)((char *)q + offsetof(struct ibv_qp_ex, wr_abort) + sizeof(void *) * (1 + nth));
}

int vb_post_ext(struct ibv_qp *qp, struct vb_ext *x)
{
	struct ibv_qp_ex *q = ibv_qp_to_qp_ex(qp);
	if (!q)
		return EOPNOTSUPP;
	ibv_wr_start(q);
	q->wr_id = x->id;
	q->wr_flags = x->flags;
	if (x->op == VB_FLUSH) {
		((flush_fn)extended(q, 1))(q, x->rkey, x->remote, x->len, x->type, x->level);
	} else {
		memcpy(x->word, (void *)(uintptr_t)x->addr, sizeof x->word);
		((atomic_write_fn)extended(q, 0))(q, x->rkey, x->remote, x->word);
	}
	int rc = ibv_wr_complete(q);
	return rc < 0 ? errno : rc;
}

int vb_arm(struct ibv_cq *cq) { return ibv_req_notify_cq(cq, 0); }

struct ibv_cq *vb_event_of(struct ibv_comp_channel *ch)
{
	struct ibv_cq *cq;
	void *context;
	if (ibv_get_cq_event(ch, &cq, &context))
		return NULL;
	ibv_ack_cq_events(cq, 1);
	return cq;
}

int vb_async(struct ibv_context *ctx, struct vb_event *x)
{
	struct ibv_async_event e;
	if (ibv_get_async_event(ctx, &e))
		return errno > 0 ? errno : EIO;
	x->kind = e.event_type;
	x->about = VB_ABOUT_DEVICE;
	x->number = 0;
	switch (e.event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		x->about = VB_ABOUT_QP;
		x->number = e.element.qp->qp_num;
		break;
	case IBV_EVENT_CQ_ERR:
		x->about = VB_ABOUT_CQ;
		x->number = e.element.cq->handle;
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		x->about = VB_ABOUT_PORT;
		x->number = e.element.port_num;
		break;
	default:
		break;
	}
	ibv_ack_async_event(&e);
	return 0;
}

int vb_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return errno;
	return 0;
}
