// SPDX-License-Identifier: Apache-2.0
//
// Every algorithm of the catalogue, and the engine's own collectives, against plain loops, below the C++
// face: roots x sizes x in place x operators, blocking and nonblocking. The same cases for every engine.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "face/core.hpp"
#include "schedule/algorithm.hpp"
#include "tutti/core/error.hpp"

namespace tutti::algorithm_cases {

// x -> a x + b over 64-bit words: composition is associative and does not commute.
struct affine {
  std::uint64_t a, b;
  friend bool operator==(const affine&, const affine&) = default;
};
inline affine compose(affine f, affine g) { return {f.a * g.a, f.a * g.b + f.b}; }
inline void compose_all(const void* l, const void* r, void* out, std::size_t n, void*) {
  for (std::size_t i = 0; i < n; ++i)
    static_cast<affine*>(out)[i] =
        compose(static_cast<const affine*>(l)[i], static_cast<const affine*>(r)[i]);
}
inline void add_all(const void* l, const void* r, void* out, std::size_t n, void*) {
  for (std::size_t i = 0; i < n; ++i)
    static_cast<affine*>(out)[i] = {static_cast<const affine*>(l)[i].a + static_cast<const affine*>(r)[i].a,
                                    static_cast<const affine*>(l)[i].b + static_cast<const affine*>(r)[i].b};
}
inline const operation ordered_op{compose_all, nullptr, builtin_op::user, false};
inline const operation commuting_op{add_all, nullptr, builtin_op::user, true};
inline affine combined(affine l, affine r, bool ordered) {
  return ordered ? compose(l, r) : affine{l.a + r.a, l.b + r.b};
}

inline affine value(int rank, std::size_t i) {
  return {2 * (static_cast<std::uint64_t>(rank) * 1000003u + i) + 1,
          i * 7u + static_cast<std::uint64_t>(rank)};
}
inline constexpr affine canary{0xdeadbeef, 0xfeed};

inline void expect(bool ok, const std::string& what, int rank) {
  if (!ok) throw std::runtime_error("wrong result of " + what + " on rank " + std::to_string(rank));
}

struct plan {
  std::string name;
  collective what;
  bool ordered = false, in_place = false, nonblocking = false;
  int root = 0;
  std::size_t count = 0;
};

// Uneven and with zeros, for vector forms.
inline std::size_t count_of(int from, int to, std::size_t n) {
  return n == 0 ? 0 : (1 + static_cast<std::size_t>(from) * 3 + static_cast<std::size_t>(to) * 5) % (n + 1);
}

inline void carry_out(detail::core& core, const plan& p, const call& c) {
  if (!p.nonblocking) {
    core.run_blocking(c);
    return;
  }
  auto under_way = core.make_pending(c, true);
  while (!under_way->test()) {
  }
}

// One call on one rank, checked element by element, gaps and bounds included.
inline void try_one(detail::core& core, const plan& p) {
  const int size = core.size(), rank = core.rank();
  const auto ranks = static_cast<std::size_t>(size), me = static_cast<std::size_t>(rank);
  const std::size_t n = p.count;
  call c;
  c.what = p.what;
  c.root = p.root;
  c.type = element_of<affine>();
  c.count = n;
  c.algorithm = p.name.c_str();
  c.op = p.ordered ? ordered_op : commuting_op;
  std::vector<affine> in, out;
  std::vector<std::size_t> ic(ranks), id(ranks), oc(ranks), od(ranks);
  const auto fill = [&](std::size_t blocks) {
    in.resize(blocks * n);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = value(rank, i);
  };
  const auto reduced = [&](std::size_t i, int upto) {
    affine all = value(0, i);
    for (int r = 1; r < upto; ++r) all = combined(all, value(r, i), p.ordered);
    return all;
  };
  const auto finish = [&] {
    c.input = in.data();
    out.push_back(canary);
    c.output = out.data();
    if (in.empty()) c.input = &canary;
    carry_out(core, p, c);
    expect(out.back() == canary, p.name + " (wrote beyond the end)", rank);
    out.pop_back();
  };
  const auto same = [&](std::size_t at, affine want) {
    expect(out[at] == want, p.name + " at " + std::to_string(at) + " n=" + std::to_string(n), rank);
  };
  switch (p.what) {
    case collective::barrier:
      c.op = {};
      carry_out(core, p, c);
      return;
    case collective::bcast:
      c.op = {};
      fill(1);
      if (rank == p.root) {
        out = in;
        finish();
      } else {
        in.clear();
        out.assign(n, canary);
        finish();
        for (std::size_t i = 0; i < n; ++i) same(i, value(p.root, i));
      }
      return;
    case collective::reduce:
    case collective::allreduce:
    case collective::scan:
    case collective::exscan: {
      fill(1);
      out.assign(n, canary);
      if (p.in_place && (p.what != collective::reduce || rank == p.root)) {
        out = in;
        in.clear();
        c.in_place = true;
      }
      finish();
      if (p.what == collective::reduce && rank != p.root) return;
      if (p.what == collective::exscan && rank == 0) return;
      const int upto = p.what == collective::scan ? rank + 1 : p.what == collective::exscan ? rank : size;
      for (std::size_t i = 0; i < n; ++i) same(i, reduced(i, upto));
      return;
    }
    case collective::reduce_scatter: {
      std::size_t before = 0, total = 0;
      for (std::size_t r = 0; r < ranks; ++r) {
        oc[r] = count_of(static_cast<int>(r), 2, n);
        if (r < me) before += oc[r];
        total += oc[r];
      }
      in.resize(total);
      for (std::size_t i = 0; i < total; ++i) in[i] = value(rank, i);
      out.assign(oc[me], canary);
      if (p.in_place) {
        out = in;
        c.in_place = true;
      }
      c.out_counts = {oc.data(), ranks};
      finish();
      for (std::size_t i = 0; i < oc[me]; ++i) same(i, reduced(before + i, size));
      return;
    }
    case collective::reduce_scatter_block:
      fill(ranks);
      out.assign(n, canary);
      if (p.in_place) {
        out = in;
        c.in_place = true;
      }
      finish();
      for (std::size_t i = 0; i < n; ++i) same(i, reduced(me * n + i, size));
      return;
    case collective::gather:
    case collective::allgather: {
      c.op = {};
      fill(1);
      const bool receives = p.what == collective::allgather || rank == p.root;
      out.assign(receives ? ranks * n : 0, canary);
      if (p.in_place && receives) {
        std::copy(in.begin(), in.end(), out.begin() + static_cast<std::ptrdiff_t>(me * n));
        in.clear();
        c.in_place = true;
      }
      finish();
      if (!receives) return;
      for (int r = 0; r < size; ++r)
        for (std::size_t i = 0; i < n; ++i) same(static_cast<std::size_t>(r) * n + i, value(r, i));
      return;
    }
    case collective::scatter:
      c.op = {};
      if (rank == p.root) fill(ranks);
      out.assign(n, canary);
      if (p.in_place && rank == p.root) c.in_place = true;
      finish();
      if (!c.in_place)
        for (std::size_t i = 0; i < n; ++i) same(i, value(p.root, me * n + i));
      return;
    case collective::alltoall:
      c.op = {};
      fill(ranks);
      out.assign(ranks * n, canary);
      if (p.in_place) {
        out = in;
        c.in_place = true;
      }
      finish();
      for (int r = 0; r < size; ++r)
        for (std::size_t i = 0; i < n; ++i) same(static_cast<std::size_t>(r) * n + i, value(r, me * n + i));
      return;
    case collective::gatherv:
    case collective::allgatherv: {
      c.op = {};
      const bool receives = p.what == collective::allgatherv || rank == p.root;
      std::size_t end = 0;  // blocks in reverse order, a gap of one before each
      for (std::size_t r = ranks; r-- > 0;) {
        oc[r] = count_of(static_cast<int>(r), 0, n);
        od[r] = end + 1;
        end = od[r] + oc[r];
      }
      c.count = oc[me];
      in.resize(oc[me]);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = value(rank, i);
      out.assign(receives ? end + 1 : 0, canary);
      if (receives) {
        c.out_counts = {oc.data(), ranks};
        c.out_displs = {od.data(), ranks};
      }
      if (p.in_place && receives) {
        std::copy(in.begin(), in.end(), out.begin() + static_cast<std::ptrdiff_t>(od[me]));
        in.clear();
        c.in_place = true;
      }
      finish();
      if (!receives) return;
      for (std::size_t r = 0; r < ranks; ++r) {
        expect(out[od[r] - 1] == canary, p.name + " (wrote into a gap)", rank);
        for (std::size_t i = 0; i < oc[r]; ++i) same(od[r] + i, value(static_cast<int>(r), i));
      }
      return;
    }
    case collective::scatterv: {
      c.op = {};
      std::size_t end = 0;
      for (std::size_t r = 0; r < ranks; ++r) {
        ic[r] = count_of(static_cast<int>(r), 1, n);
        id[r] = end + 1;
        end = id[r] + ic[r];
      }
      c.count = ic[me];
      if (rank == p.root) {
        in.resize(end + 1);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = value(rank, i);
        c.in_counts = {ic.data(), ranks};
        c.in_displs = {id.data(), ranks};
        c.in_place = p.in_place;
      }
      out.assign(ic[me], canary);
      finish();
      if (!c.in_place)
        for (std::size_t i = 0; i < ic[me]; ++i) same(i, value(p.root, id[me] + i));
      return;
    }
    case collective::alltoallv: {
      c.op = {};
      std::size_t iend = 0, oend = 0;
      for (std::size_t r = 0; r < ranks; ++r) {
        ic[r] = p.in_place ? count_of(static_cast<int>(std::min(r, me)), static_cast<int>(std::max(r, me)), n)
                           : count_of(rank, static_cast<int>(r), n);
        oc[r] = p.in_place ? ic[r] : count_of(static_cast<int>(r), rank, n);
        id[r] = iend;
        iend += ic[r];
        od[r] = oend + 1;
        oend = od[r] + oc[r];
      }
      out.assign(oend + 1, canary);
      if (p.in_place) {
        for (std::size_t r = 0; r < ranks; ++r)
          for (std::size_t i = 0; i < oc[r]; ++i)
            out[od[r] + i] = value(rank * size + static_cast<int>(r), i);
        c.in_place = true;
      } else {
        in.resize(iend);
        for (std::size_t r = 0; r < ranks; ++r)
          for (std::size_t i = 0; i < ic[r]; ++i) in[id[r] + i] = value(rank * size + static_cast<int>(r), i);
        c.in_counts = {ic.data(), ranks};  // dense: displacements are the library's to find
      }
      c.out_counts = {oc.data(), ranks};
      c.out_displs = {od.data(), ranks};
      finish();
      for (std::size_t r = 0; r < ranks; ++r) {
        expect(out[od[r] - 1] == canary, p.name + " (wrote into a gap)", rank);
        for (std::size_t i = 0; i < oc[r]; ++i) same(od[r] + i, value(static_cast<int>(r) * size + rank, i));
      }
      return;
    }
    default:
      throw std::logic_error("no oracle for " + p.name);
  }
}

inline bool has_operator(collective w) {
  return w == collective::reduce || w == collective::allreduce || w == collective::scan ||
         w == collective::exscan || w == collective::reduce_scatter_block || w == collective::reduce_scatter;
}
inline bool has_root(collective w) {
  return w == collective::bcast || w == collective::reduce || w == collective::gather ||
         w == collective::gatherv || w == collective::scatter || w == collective::scatterv;
}

// All calls that the restrictions of one name permit, in the same order on all ranks.
inline void try_all(detail::core& core, std::string name, collective what, const pure_algorithm* pure) {
  const int size = core.size();
  std::vector<int> roots{0};
  if (has_root(what)) {
    if (size > 1) roots.push_back(size - 1);
    if (size > 2) roots.push_back(size / 2);
  }
  std::vector<std::size_t> counts{0, 1, 3, 17};
  if (size <= 8) counts.insert(counts.end(), {200, 3001});  // cells and rendezvous
  for (const bool ordered : {false, true})
    for (const bool in_place : {false, true})
      for (const int root : roots)
        for (const std::size_t count : counts)
          for (const bool nonblocking : {false, true}) {
            if (ordered && !has_operator(what)) continue;
            if (in_place && (what == collective::barrier || what == collective::bcast)) continue;
            // On others' operands a rank's result may lie: the embedded engines leave this to schedules.
            if (in_place && pure == nullptr && what == collective::reduce_scatter_block) continue;
            plan p{name, what, ordered, in_place, nonblocking, root, count};
            if (pure != nullptr) {
              agreed_signature s{
                  what,     size,    count, sizeof(affine), element_kind::opaque, builtin_op::user,
                  !ordered, in_place};
              if (!permits(choice(pure), s)) continue;
            }
            try_one(core, p);
          }
}

/// Everything that this engine can run on this communicator.
inline void try_everything(detail::core& core) {
  for (const pure_algorithm* a : catalogue()) try_all(core, std::string(a->name), a->what, a);
  for (std::size_t i = 0; i < collective_names.size(); ++i) {
    const auto what = static_cast<collective>(i);
    agreed_signature s;
    s.what = what;
    s.ranks = core.size();
    s.element_size = sizeof(affine);
    // Native collectives of an MPI do not take these operators.
    if (has_operator(what)) s.commutative = false;
    if (core.offers_native(s)) try_all(core, std::string(collective_names[i]) + "/native", what, nullptr);
  }
}

}  // namespace tutti::algorithm_cases
