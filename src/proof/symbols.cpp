// SPDX-License-Identifier: Apache-2.0
#include "proof/symbols.hpp"

namespace tutti::proof {
namespace {

constexpr std::uint64_t base = 0x9e3779b97f4a7c15u;  // odd

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

void symbols::clear() {
  all_.assign(2, term{});
  products_ = 0;
}

symbol symbols::operand(int rank, std::size_t element) {
  const auto id = (static_cast<std::uint64_t>(rank) + 1) << 40 | (element + 1);
  all_.push_back({1, mixed(id), base, mixed(id + 0x632be59bd9b4e019u), static_cast<std::uint32_t>(rank),
                  static_cast<std::uint32_t>(element)});
  return static_cast<symbol>(all_.size() - 1);
}

symbol symbols::product(symbol left, symbol right) {
  const term &l = all_[left], &r = all_[right];
  const term made{
      l.length + r.length, l.hash * r.power + r.hash, l.power * r.power, l.sum + r.sum, left, right};
  all_.push_back(made);
  ++products_;
  return static_cast<symbol>(all_.size() - 1);
}

void symbols::expand(symbol s, std::size_t max_operands, std::vector<symbol>& operands) const {
  std::vector<symbol> open{s};
  while (!open.empty() && operands.size() < max_operands) {
    const symbol next = open.back();
    open.pop_back();
    if (all_[next].length == 1) {
      operands.push_back(next);
    } else {
      open.push_back(all_[next].right);
      open.push_back(all_[next].left);
    }
  }
}

std::string symbols::text(symbol s) const {
  if (s == uninitialized) return "nothing";
  if (s == gap) return "a gap";
  constexpr std::size_t max_operands = 12;
  std::vector<symbol> operands;
  expand(s, max_operands, operands);
  std::string all;
  for (const symbol l : operands)
    all +=
        (all.empty() ? "r" : " r") + std::to_string(all_[l].left) + "[" + std::to_string(all_[l].right) + "]";
  if (all_[s].length > max_operands) all += " ... (" + std::to_string(all_[s].length) + " operands)";
  return all;
}

}  // namespace tutti::proof
