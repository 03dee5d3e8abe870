// SPDX-License-Identifier: Apache-2.0
#include "tuning/guidelines.hpp"

#include <algorithm>
#include <optional>

namespace tutti::tuning {
namespace {

struct rule {
  collective left, right;
  std::optional<collective> more{};
};
using enum collective;
constexpr rule rules[] = {{allreduce, reduce, bcast},
                          {allreduce, reduce_scatter_block, allgather},
                          {allgather, gather, bcast},
                          {allgather, alltoall},
                          {allgather, allreduce},
                          {gather, allgather},
                          {scatter, bcast},
                          {bcast, scatter, allgather},
                          {reduce, allreduce},
                          {reduce, reduce_scatter_block, gather},
                          {reduce, scan},
                          {reduce_scatter_block, reduce, scatter},
                          {exscan, scan}};

std::string of_n(collective c) { return std::string(name_of(c)) + "(n)"; }
std::string text_of(const rule& r) {
  return of_n(r.left) + " <= " + of_n(r.right) + (r.more ? " + " + of_n(*r.more) : "");
}

const figure* find(std::span<const figure> all, collective what, std::size_t bytes) {
  for (const figure& f : all)
    if (f.what == what && f.bytes == bytes) return &f;
  return nullptr;
}

}  // namespace

std::vector<std::string> guidelines() {
  std::vector<std::string> all;
  for (const rule& r : rules) all.push_back(text_of(r));
  return all;
}

std::vector<collective> guideline_collectives() {
  std::vector<collective> all{barrier};
  const auto add = [&](collective c) {
    if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  };
  for (const rule& r : rules) {
    add(r.left);
    add(r.right);
    if (r.more) add(*r.more);
  }
  return all;
}

std::vector<violation> violated(std::span<const figure> all, double floor) {
  std::vector<violation> found;
  const auto compare = [&](const std::string& text, std::size_t bytes, double left, double right,
                           double noise) {
    if (left > right * (1 + std::max(noise, floor))) found.push_back({text, bytes, left, right});
  };
  for (const rule& r : rules)
    for (const figure& left : all) {
      if (left.what != r.left) continue;
      const figure *right = find(all, r.right, left.bytes),
                   *more = r.more ? find(all, *r.more, left.bytes) : right;
      if (right == nullptr || more == nullptr) continue;
      compare(text_of(r), left.bytes, left.us, right->us + (r.more ? more->us : 0),
              std::max({left.spread, right->spread, more->spread}));
    }
  for (const figure& barrier_figure : all) {
    if (barrier_figure.what != barrier) continue;
    const figure* smallest = nullptr;
    for (const figure& f : all)
      if (f.what == allreduce && (smallest == nullptr || f.bytes < smallest->bytes)) smallest = &f;
    if (smallest != nullptr)
      compare("barrier <= allreduce(n)", smallest->bytes, barrier_figure.us, smallest->us,
              std::max(barrier_figure.spread, smallest->spread));
  }
  for (const figure& f : all) {
    const figure* next = nullptr;  // the next larger size
    for (const figure& other : all)
      if (other.what == f.what && other.bytes > f.bytes && (next == nullptr || other.bytes < next->bytes))
        next = &other;
    if (next != nullptr)
      compare(of_n(f.what) + " <= " + std::string(name_of(f.what)) + "(" + std::to_string(next->bytes) + ")",
              f.bytes, f.us, next->us, std::max(f.spread, next->spread));
  }
  return found;
}

}  // namespace tutti::tuning
