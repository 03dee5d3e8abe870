// SPDX-License-Identifier: Apache-2.0
//
// The suffix array of a distributed text, by prefix doubling. The name of a suffix is the order of
// its first k letters. The pairs of the names at i and at i + k order the suffixes by 2k letters.
// Sorting these pairs gives the next names, until all differ.
//
// Source: Manber, Myers 1993.
#include <algorithm>
#include <random>

#include <tutti/flatten.hpp>
#include <tutti/sort.hpp>

#include "support/checked.hpp"

namespace {

using namespace tutti;
using number = std::uint64_t;

/// n letters in blocks of equal length, one for each rank.
struct blocks {
  number n, block;
  blocks(number length, number ranks) : n(length), block((length + ranks - 1) / ranks) {}
  number begin(int rank) const { return std::min(n, rank * block); }
  number owner(number at) const { return at / block; }
};

template <class T>
std::vector<T> deliver(communicator& world, const std::vector<std::vector<T>>& out) {
  return flatten(out, world.size()).call([&](auto... flat) { return world.alltoallv(std::move(flat)...); });
}

struct suffix {
  // The name of the first k letters, and of the k letters after them; 0: beyond the end.
  number name, next, at;
  bool operator<(const suffix& other) const {
    return std::pair(name, next) < std::pair(other.name, other.next);
  }
};
struct naming {
  number at, name;
};

/// For each local suffix, whether it differs from the previous one, which may be on another rank.
std::vector<bool> differences(communicator& world, const std::vector<suffix>& mine) {
  const auto later = [](const suffix& a, const suffix& b) { return b.name != 0 ? b : a; };
  const suffix none{0, 0, 0};
  suffix before =
      world.exscan_single(send_buf(mine.empty() ? none : mine.back()), op(later), values_on_rank_0(none));
  std::vector<bool> differs;
  for (const suffix& s : mine) {
    differs.push_back(before < s);
    before = s;
  }
  return differs;
}

// count: suffix array
/// Returns this rank's part of the suffix array; `mine` is its block of the text, without null
/// letters.
std::vector<number> suffix_array(communicator& world, const blocks& where, const std::string& mine) {
  const number begin = where.begin(world.rank());
  std::vector<number> name;
  for (unsigned char letter : mine) name.push_back(letter);
  for (number k = 1;; k *= 2) {
    std::vector<std::vector<number>> shifted(world.size());
    for (number i = 0; i < name.size(); ++i)
      if (begin + i >= k) shifted[where.owner(begin + i - k)].push_back(name[i]);
    std::vector<number> next = deliver(world, shifted);
    next.resize(name.size());
    std::vector<suffix> suffixes;
    for (number i = 0; i < name.size(); ++i) suffixes.push_back({name[i], next[i], begin + i});
    tutti::sort_globally(world, suffixes);
    const std::vector<bool> differs = differences(world, suffixes);
    const number own = std::count(differs.begin(), differs.end(), true);
    number last = world.exscan_single(send_buf(own), op(std::plus<>{}));
    std::vector<std::vector<naming>> names(world.size());
    for (number i = 0; i < suffixes.size(); ++i)
      names[where.owner(suffixes[i].at)].push_back({suffixes[i].at, last += differs[i]});
    for (const auto& [at, new_name] : deliver(world, names)) name[at - begin] = new_name;
    if (world.allreduce_single(send_buf(own), op(std::plus<>{})) < where.n) continue;
    std::vector<number> array;
    for (const suffix& s : suffixes) array.push_back(s.at);
    return array;
  }
}
// end

std::vector<number> oracle(const std::string& text) {
  std::vector<number> array(text.size());
  for (number i = 0; i < text.size(); ++i) array[i] = i;
  const auto from = [&](number i) { return std::string_view(text).substr(i); };
  std::sort(array.begin(), array.end(), [&](number a, number b) { return from(a) < from(b); });
  return array;
}

}  // namespace

int main(int argc, char** argv) {
  return checked(argc, argv, "suffix_array", [](communicator& world) {
    std::string drawn;
    std::mt19937 random(7);
    for (int i = 0; i < 600; ++i) drawn += static_cast<char>('a' + random() % 2);
    bool right = true;
    for (const std::string& text :
         {std::string("mississippi"), std::string(100, 'a'), std::string("\xe4z"), drawn}) {
      const blocks where(text.size(), world.size());
      const number begin = where.begin(world.rank()), end = where.begin(world.rank() + 1);
      const std::vector<number> mine = suffix_array(world, where, text.substr(begin, end - begin));
      right = right && world.allgatherv(send_buf(mine)) == oracle(text);
    }
    return right;
  });
}
