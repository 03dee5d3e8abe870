// SPDX-License-Identifier: Apache-2.0
//
// Every algorithm of the catalogue, and the engine's own collectives, against plain loops, below the C++
// face: parameters x roots x sizes x types x in place x kinds of operator, blocking and nonblocking. The same
// cases for every engine. Neighbours and calls between two groups have one algorithm each, and cases of their
// own in spmd/face_graph.cpp and spmd/face_between.cpp.
#pragma once

#include <algorithm>
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

/// Kinds of operator: one that commutes, one whose order matters, one that the library knows and has kernels
/// for, and a lambda with something captured.
enum class kind { commuting, ordered, builtin, lambda };
inline constexpr kind kinds[] = {kind::commuting, kind::ordered, kind::builtin, kind::lambda};

template <class T>
T combined(T l, T r, kind k) {
  if constexpr (std::is_same_v<T, affine>) {
    if (k == kind::ordered) return {l.a * r.a, l.a * r.b + l.b};
    return {l.a + r.a, l.b + r.b};
  } else {
    return static_cast<T>(l + r);
  }
}
template <class T, kind K>
void combine_all(const void* l, const void* r, void* out, std::size_t n, void*) {
  for (std::size_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] = combined(static_cast<const T*>(l)[i], static_cast<const T*>(r)[i], K);
}
// The state is what a lambda captured: a factor of one, which a lost pointer would not be.
template <class T>
void combine_with_state(const void* l, const void* r, void* out, std::size_t n, void* state) {
  const std::uint64_t one = *static_cast<std::uint64_t*>(state);
  for (std::size_t i = 0; i < n; ++i) {
    T sum = combined(static_cast<const T*>(l)[i], static_cast<const T*>(r)[i], kind::lambda);
    if constexpr (std::is_same_v<T, affine>)
      sum.a *= one, sum.b *= one;
    else
      sum = static_cast<T>(sum * static_cast<T>(one));
    static_cast<T*>(out)[i] = sum;
  }
}
template <class T>
operation operator_of(kind k) {
  static std::uint64_t one = 1;
  switch (k) {
    case kind::commuting:
      return {combine_all<T, kind::commuting>, nullptr, builtin_op::user, true};
    case kind::ordered:
      return {combine_all<T, kind::ordered>, nullptr, builtin_op::user, false};
    case kind::builtin:
      return {combine_all<T, kind::builtin>, nullptr, builtin_op::sum, true};
    default:
      return {combine_with_state<T>, &one, builtin_op::user, true};
  }
}

template <class T>
T value(int rank, std::size_t i) {
  if constexpr (std::is_same_v<T, affine>)
    return {2 * (static_cast<std::uint64_t>(rank) * 1000003u + i) + 1,
            i * 7u + static_cast<std::uint64_t>(rank)};
  else
    return static_cast<T>(static_cast<std::uint64_t>(rank) * 37u + i * 11u + 1);
}
template <class T>
inline constexpr T canary = T{0x5e};
template <>
inline constexpr affine canary<affine> = {0xdeadbeef, 0xfeed};

inline void expect(bool ok, const std::string& what, int rank) {
  if (!ok) throw std::runtime_error("wrong result of " + what + " on rank " + std::to_string(rank));
}

struct plan {
  std::string name;
  collective what;
  kind op = kind::commuting;
  bool in_place = false, nonblocking = false;
  int root = 0;
  std::size_t count = 0;
  bool composed = false;  // `name` is a composition's

  std::string text() const {
    return name + " operator " + std::to_string(static_cast<int>(op)) + (in_place ? " in place" : "") +
           (nonblocking ? " nonblocking" : "") + " root " + std::to_string(root) + " count " +
           std::to_string(count);
  }
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
template <class T>
void try_one(detail::core& core, const plan& p) {
  const int size = core.size(), rank = core.rank();
  const auto ranks = static_cast<std::size_t>(size), me = static_cast<std::size_t>(rank);
  const std::size_t n = p.count;
  call c;
  c.what = p.what;
  c.root = p.root;
  c.type = element_of<T>();
  c.count = n;
  (p.composed ? c.composition : c.algorithm) = p.name.c_str();
  c.op = operator_of<T>(p.op);
  std::vector<T> in, out;
  std::vector<std::size_t> ic(ranks), id(ranks), oc(ranks), od(ranks);
  const auto fill = [&](std::size_t blocks) {
    in.resize(blocks * n);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = value<T>(rank, i);
  };
  const auto reduced = [&](std::size_t i, int upto) {
    T all = value<T>(0, i);
    for (int r = 1; r < upto; ++r) all = combined(all, value<T>(r, i), p.op);
    return all;
  };
  const auto untouched = [&](std::size_t at) {
    if (!(out[at] == canary<T>)) expect(false, p.text() + " (wrote where nothing belongs)", rank);
  };
  const auto finish = [&] {
    c.input = in.data();
    out.push_back(canary<T>);
    c.output = out.data();
    if (in.empty()) c.input = &canary<T>;
    carry_out(core, p, c);
    untouched(out.size() - 1);
    out.pop_back();
  };
  const auto same = [&](std::size_t at, T want) {
    if (!(out[at] == want)) expect(false, p.text() + " at " + std::to_string(at), rank);
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
        out.assign(n, canary<T>);
        finish();
        for (std::size_t i = 0; i < n; ++i) same(i, value<T>(p.root, i));
      }
      return;
    case collective::reduce:
    case collective::allreduce:
    case collective::scan:
    case collective::exscan: {
      fill(1);
      out.assign(n, canary<T>);
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
      for (std::size_t i = 0; i < total; ++i) in[i] = value<T>(rank, i);
      out.assign(oc[me], canary<T>);
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
      out.assign(n, canary<T>);
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
      out.assign(receives ? ranks * n : 0, canary<T>);
      if (p.in_place && receives) {
        std::copy(in.begin(), in.end(), out.begin() + static_cast<std::ptrdiff_t>(me * n));
        in.clear();
        c.in_place = true;
      }
      finish();
      if (!receives) return;
      for (int r = 0; r < size; ++r)
        for (std::size_t i = 0; i < n; ++i) same(static_cast<std::size_t>(r) * n + i, value<T>(r, i));
      return;
    }
    case collective::scatter:
      c.op = {};
      if (rank == p.root) fill(ranks);
      out.assign(n, canary<T>);
      if (p.in_place && rank == p.root) c.in_place = true;
      finish();
      if (!c.in_place)
        for (std::size_t i = 0; i < n; ++i) same(i, value<T>(p.root, me * n + i));
      return;
    case collective::alltoall:
      c.op = {};
      fill(ranks);
      out.assign(ranks * n, canary<T>);
      if (p.in_place) {
        out = in;
        c.in_place = true;
      }
      finish();
      for (int r = 0; r < size; ++r)
        for (std::size_t i = 0; i < n; ++i)
          same(static_cast<std::size_t>(r) * n + i, value<T>(r, me * n + i));
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
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = value<T>(rank, i);
      out.assign(receives ? end + 1 : 0, canary<T>);
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
        untouched(od[r] - 1);
        for (std::size_t i = 0; i < oc[r]; ++i) same(od[r] + i, value<T>(static_cast<int>(r), i));
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
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = value<T>(rank, i);
        c.in_counts = {ic.data(), ranks};
        c.in_displs = {id.data(), ranks};
        c.in_place = p.in_place;
      }
      out.assign(ic[me], canary<T>);
      finish();
      if (!c.in_place)
        for (std::size_t i = 0; i < ic[me]; ++i) same(i, value<T>(p.root, id[me] + i));
      return;
    }
    case collective::alltoallv:
    case collective::alltoallw: {
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
      out.assign(oend + 1, canary<T>);
      if (p.in_place) {
        for (std::size_t r = 0; r < ranks; ++r)
          for (std::size_t i = 0; i < oc[r]; ++i)
            out[od[r] + i] = value<T>(rank * size + static_cast<int>(r), i);
        c.in_place = true;
      } else {
        in.resize(iend);
        for (std::size_t r = 0; r < ranks; ++r)
          for (std::size_t i = 0; i < ic[r]; ++i)
            in[id[r] + i] = value<T>(rank * size + static_cast<int>(r), i);
        c.in_counts = {ic.data(), ranks};  // dense: displacements are the library's to find
      }
      c.out_counts = {oc.data(), ranks};
      c.out_displs = {od.data(), ranks};
      std::vector<std::size_t> bytes_in = ic, bytes_out = oc, from_byte = od;
      if (p.what == collective::alltoallw) {
        for (auto* list : {&bytes_in, &bytes_out, &from_byte})
          for (std::size_t& x : *list) x *= sizeof(T);
        c.type = element_of<std::byte>();
        if (!p.in_place) c.in_counts = {bytes_in.data(), ranks};
        c.out_counts = {bytes_out.data(), ranks};
        c.out_displs = {from_byte.data(), ranks};
      }
      finish();
      for (std::size_t r = 0; r < ranks; ++r) {
        untouched(od[r] - 1);
        for (std::size_t i = 0; i < oc[r]; ++i)
          same(od[r] + i, value<T>(static_cast<int>(r) * size + rank, i));
      }
      return;
    }
    default:
      throw std::logic_error("no oracle for " + p.name);
  }
}

// All calls that the restrictions of one name permit, in the same order on all ranks. Where there are many
// ranks, less is varied.
template <class T>
void try_all_of(detail::core& core, const std::string& name, collective what, bool thorough,
                bool composed = false) {
  const int size = core.size();
  const bool native = name.ends_with("/native");
  std::vector<int> roots{0};
  if (is_rooted(what)) {
    if (size > 1) roots.push_back(size - 1);
    if (size > 2) roots.push_back(size / 2);
    if (size <= 5)
      for (int r = 1; r < size - 1; ++r)
        if (r != size / 2) roots.push_back(r);
  }
  std::vector<std::size_t> counts{0, 1, 3, 17};
  if (thorough && size <= 8) counts.insert(counts.end(), {200, 3001});  // cells and rendezvous
  if (!thorough) counts = {static_cast<std::size_t>(size) + 2};
  for (const kind op : kinds)
    for (const bool in_place : {false, true})
      for (const int root : roots)
        for (const std::size_t count : counts)
          for (const bool nonblocking : {false, true}) {
            if (op != kind::commuting && !combines(what)) continue;
            if (std::is_same_v<T, affine> ? op == kind::builtin : op == kind::ordered) continue;
            if (op == kind::lambda && !thorough) continue;
            if (in_place && (what == collective::barrier || what == collective::bcast)) continue;
            // On others' operands a rank's result may lie: the embedded engines leave this to schedules.
            // Native collectives of an MPI do not take operators of ours.
            if (in_place && native && what == collective::reduce_scatter_block) continue;
            const plan p{name, what, op, in_place, nonblocking, root, count, composed};
            agreed_signature s;
            s.what = what;
            s.ranks = size;
            s.count = count;
            s.element_size = sizeof(T);
            s.kind = element_of<T>().kind;
            s.op = operator_of<T>(op).which;
            s.commutative = !combines(what) || op != kind::ordered;
            s.in_place = in_place;
            const auto fits = [&] {
              if (composed) return permits(read_composition(what, name), core.situation_of(s));
              return native ? core.offers_native(s) : permits(read_choice(what, name), s);
            };
            if (!fits()) continue;
            try_one<T>(core, p);
          }
}

/// The name with other values of its parameters.
inline std::vector<std::string> variants(const catalogue_entry& a, int size) {
  std::vector<std::string> all;
  for (const knob_range& one : a.parameters) {
    std::vector<std::uint32_t> values;
    switch (one.which) {
      case knob::segment:
        values = {32, 48};
        break;
      case knob::region:
        for (int r = 1; r <= size; ++r)
          if (size % r == 0) values.push_back(static_cast<std::uint32_t>(r));
        break;
      case knob::aggregate:
        values = {1, 2, 4};
        break;
      default:
        values = {1, 3, static_cast<std::uint32_t>(size)};
    }
    for (const std::uint32_t v : values)
      if (v >= one.least && v <= one.most && v != one.usual)
        all.push_back(std::string(a.name) + ":" + std::string(name_of(one.which)) + "=" + std::to_string(v));
  }
  return all;
}

/// One algorithm of the catalogue, with its usual parameters and with others.
inline void try_algorithm(detail::core& core, const pure_algorithm& a) {
  if (is_neighborly(a.what) || demands(a.needs, restriction::inter)) return;
  const std::string name(a.name);
  try_all_of<affine>(core, name, a.what, true);
  try_all_of<std::uint64_t>(core, name, a.what, combines(a.what));
  try_all_of<std::uint8_t>(core, name, a.what, false);
  for (const std::string& other : variants(a, core.size())) {
    try_all_of<affine>(core, other, a.what, false);
    if (combines(a.what)) try_all_of<std::uint64_t>(core, other, a.what, false);
  }
}

/// Everything that this engine can run on this communicator.
inline void try_everything(detail::core& core) {
  for (const pure_algorithm* a : catalogue()) try_algorithm(core, *a);
  for (std::size_t i = 0; i < collective_names.size(); ++i) {
    const auto what = static_cast<collective>(i);
    if (is_neighborly(what)) continue;
    const std::string name = std::string(collective_names[i]) + "/native";
    try_all_of<affine>(core, name, what, true);
    try_all_of<std::uint64_t>(core, name, what, combines(what));
  }
}

/// One composition of the catalogue, where the layout of this communicator permits it.
inline void try_composition(detail::core& core, const composed_algorithm& a, bool thorough = true) {
  const std::string name(a.name);
  try_all_of<affine>(core, name, a.what, thorough && core.size() <= 6, true);
  if (!thorough) return;
  try_all_of<std::uint64_t>(core, name, a.what, false, true);
  for (const std::string& other : variants(a, core.size()))
    try_all_of<affine>(core, other, a.what, false, true);
}
inline void try_every_composition(detail::core& core, bool thorough = true) {
  for (const composed_algorithm* a : composition_catalogue()) try_composition(core, *a, thorough);
}

}  // namespace tutti::algorithm_cases
