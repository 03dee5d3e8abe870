// SPDX-License-Identifier: Apache-2.0
#include "moving_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

int moves_data(enum collective which) { return which >= BCAST && which <= ALLTOALLW; }

int has_root(enum collective which) {
  return which == BCAST || which == GATHER || which == GATHERV || which == SCATTER || which == SCATTERV ||
         which == REDUCE;
}

int may_be_in_place(enum collective which) { return which != BARRIER && which != BCAST; }

static int is_uneven(enum collective which) {
  return which == GATHERV || which == SCATTERV || which == ALLGATHERV || which == ALLTOALLV ||
         which == ALLTOALLW;
}

/// One rank's view of a call: its parts of both buffers, and numbers for the v and w forms.
struct making {
  const struct move* move;
  enum collective which;
  int rank, ranks;
  struct part* parts[2];  // send, recv
  int used[2];
  int *counts[2], *displs[2];
  ptrdiff_t end[2];  // of the last part so far
};

enum { SEND, RECV };

static int in_place_side(enum collective which) {
  return which == SCATTER || which == SCATTERV ? RECV : SEND;
}

static const struct layout* layout_on(const struct making* m, int side, int peer) {
  const struct layout* mine = side == SEND ? m->move->send : m->move->recv;
  const struct layout* other = side == SEND ? m->move->recv : m->move->send;
  return m->which == ALLTOALLW && peer % 2 == 1 ? other : mine;
}

static unsigned key(const struct making* m, int from, int to) {
  return 1 + m->move->seed * 4096U + (unsigned)(from * 64 + to);
}

/// Returns the basic elements that `from` sends to `to`; to < 0: to all.
static long items_of(const struct making* m, int from, int to) {
  const long unit = common_items(m->move->send, m->move->recv);
  if (!is_uneven(m->which)) return m->move->units * unit;
  if (m->which != ALLTOALLV && m->which != ALLTOALLW)
    return m->move->units * unit * ((from + (to > 0 ? to : 0) * 3 + m->move->seed) % 4);
  if (m->move->in_place)
    // Both directions have the same length.
    return m->move->units * unit * ((from + to + m->move->seed) % 4);
  return m->move->units * unit * ((from * 3 + to * 5 + m->move->seed) % 4);
}

/// Returns whether the call gives the displacement of each block of that side.
static int has_displacements(const struct making* m, int side) {
  switch (m->which) {
    case GATHERV:
    case ALLGATHERV:
      return side == RECV;
    case SCATTERV:
      return side == SEND;
    default:
      return m->which == ALLTOALLV || m->which == ALLTOALLW;
  }
}

/// Adds the next block of a buffer: its peer, its length, and its key before and after the call.
static void add(struct making* m, int side, int peer, long items, unsigned before, unsigned after) {
  const struct layout* layout = layout_on(m, side, peer);
  const long count = layout->items > 0 ? items / layout->items : m->move->units;
  const ptrdiff_t unit = m->which == ALLTOALLW ? 1 : layout->extent;
  ptrdiff_t at = m->end[side];
  if (m->move->gaps && has_displacements(m, side)) at += (peer % 3 + 1) * layout->extent;
  // Leaves room for negative bounds, and aligns.
  if (m->which == ALLTOALLW) at = (at + 63) / 64 * 64 + 64;
  struct part* p = &m->parts[side][m->used[side]++];
  *p = (struct part){.layout = layout,
                     .at = at,
                     .items = items,
                     .before = items > 0 ? before : 0,
                     .after = items > 0 ? after : 0};
  m->counts[side][peer] = (int)count;
  m->displs[side][peer] = unit > 0 ? (int)(at / unit) : 0;
  m->end[side] = at + count * layout->extent;
}

/// Adds a block for each peer; with gaps their order is 1, 2, ..., 0.
static void add_all(struct making* m, int side) {
  const int in_place = m->move->in_place && side == RECV;
  for (int i = 0; i < m->ranks; ++i) {
    const int peer = m->move->gaps && has_displacements(m, side) ? (i + 1) % m->ranks : i;
    const int me = m->rank;
    unsigned before = 0, after = 0;
    long items = 0;
    switch (m->which) {
      case GATHER:
      case GATHERV:
      case ALLGATHER:
      case ALLGATHERV:
        items = items_of(m, peer, -1);
        after = key(m, peer, 0);
        before = in_place && peer == me ? after : 0;
        break;
      case SCATTER:
      case SCATTERV:
        items = items_of(m, me, peer);
        before = key(m, me, peer);
        break;
      default:
        items = side == SEND ? items_of(m, me, peer) : items_of(m, peer, me);
        before = side == SEND || in_place ? key(m, me, peer) : 0;
        after = side == RECV ? key(m, peer, me) : 0;
        break;
    }
    add(m, side, peer, items, before, after);
  }
}

static void add_parts(struct making* m) {
  const int me = m->rank, root = m->move->root, in_place = m->move->in_place;
  switch (m->which) {
    case BCAST:
      add(m, RECV, me, items_of(m, root, -1), me == root ? key(m, root, 0) : 0, key(m, root, 0));
      break;
    case GATHER:
    case GATHERV:
      if (!(in_place && me == root)) add(m, SEND, me, items_of(m, me, -1), key(m, me, 0), 0);
      if (me == root) add_all(m, RECV);
      break;
    case SCATTER:
    case SCATTERV:
      if (me == root) add_all(m, SEND);
      if (!(in_place && me == root)) add(m, RECV, me, items_of(m, root, me), 0, key(m, root, me));
      break;
    case ALLGATHER:
    case ALLGATHERV:
      if (!in_place) add(m, SEND, me, items_of(m, me, -1), key(m, me, 0), 0);
      add_all(m, RECV);
      break;
    default:
      if (!in_place) add_all(m, SEND);
      add_all(m, RECV);
      break;
  }
}

/// The datatype for MPI; the job owns datatypes with addresses.
static MPI_Datatype type_of(struct job* job, const struct making* m, const struct layout* layout,
                            const char* base) {
  if (!m->move->absolute) return layout->type;
  MPI_Aint address;
  MPI_Get_address(base, &address);
  MPI_Datatype* made = &job->types[job->own_types++];
  MPI_Type_create_hindexed(1, (int[]){1}, &address, layout->type, made);
  MPI_Type_commit(made);
  return *made;
}

/// Sets buffer, datatype and count of one side of the call.
static void give(struct job* job, struct making* m, int side) {
  struct args* a = &job->args;
  const int unused = m->used[side] == 0;
  struct memory* memory = side == SEND ? &job->send : &job->recv;
  if (!unused) *memory = remember(m->parts[side], m->used[side]);
  const int single = unused ? 0 : m->counts[side][m->rank];
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype* types = job->types + 4 * m->ranks + side * m->ranks;
  if (!unused && m->which == ALLTOALLW) {
    for (int i = 0; i < m->ranks; ++i) types[i] = type_of(job, m, layout_on(m, side, i), memory->base);
  } else if (!unused) {
    type = type_of(job, m, m->parts[side][0].layout, memory->base);
  }
  void* buffer = unused ? NULL : m->move->absolute ? MPI_BOTTOM : memory->base;
  if (unused && m->move->in_place && side == in_place_side(m->which)) buffer = MPI_IN_PLACE;
  if (side == SEND) {
    a->send = buffer;
    a->send_type = type;
    a->send_count = single;
    a->send_counts = unused ? NULL : m->counts[SEND];
    a->send_displs = unused ? NULL : m->displs[SEND];
    a->send_types = unused ? NULL : types;
  } else {
    a->recv = buffer;
    a->recv_type = type;
    a->recv_count = single;
    a->recv_counts = unused ? NULL : m->counts[RECV];
    a->recv_displs = unused ? NULL : m->displs[RECV];
    a->recv_types = unused ? NULL : types;
  }
}

void make_move(struct job* job, enum collective which, const struct move* move) {
  memset(job, 0, sizeof *job);
  struct making m = {.move = move, .which = which, .rank = rank_in(move->comm), .ranks = size_of(move->comm)};
  job->which = which;
  job->args.comm = move->comm;
  job->args.root = move->root;
  job->numbers = checked_malloc(4 * (size_t)m.ranks * sizeof(int));
  job->types = checked_malloc(6 * (size_t)m.ranks * sizeof(MPI_Datatype));
  for (int side = 0; side < 2; ++side) {
    m.counts[side] = job->numbers + 2 * side * m.ranks;
    m.displs[side] = m.counts[side] + m.ranks;
    m.parts[side] = checked_malloc((size_t)m.ranks * sizeof(struct part));
  }
  if (which != BARRIER) add_parts(&m);
  give(job, &m, SEND);
  give(job, &m, RECV);
  free(m.parts[SEND]);
  free(m.parts[RECV]);
  snprintf(job->name, sizeof job->name, "%s to %s, units %ld, root %d%s%s%s, seed %u", move->send->name,
           move->recv->name, move->units, move->root, move->in_place ? ", in place" : "",
           move->gaps ? ", gaps" : "", move->absolute ? ", MPI_BOTTOM" : "", move->seed);
}
