// SPDX-License-Identifier: Apache-2.0
//
// Sample sort of strings. Each rank sorts its words and sends a sample to all. The sorted samples
// give p - 1 splitters. Every word goes to the rank whose splitters enclose it, and that rank
// merges the words it receives. The origin (rank, then index) orders equal words, so that a word
// that fills half of all texts is divided among ranks too.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include <tutti/tutti.hpp>

#include "../support/meter.hpp"
#include "words.hpp"

namespace sort {

/// The origin of a sample: (word, rank, index) is unique among all words.
struct place {
  std::uint64_t rank, index;
  friend auto operator<=>(const place&, const place&) = default;
};

/// A word with its first eight bytes as a number. The number decides most comparisons without
/// reading the characters.
struct keyed_word {
  std::uint64_t key = 0;
  std::string_view text;

  explicit keyed_word(std::string_view word) : text(word) {
    for (std::size_t i = 0; i < 8; ++i)
      key = key << 8 | (i < word.size() ? static_cast<unsigned char>(word[i]) : 0u);
  }
  friend bool operator<(const keyed_word& a, const keyed_word& b) {
    if (a.key != b.key) return a.key < b.key;
    if (a.text.size() <= 8 || b.text.size() <= 8) return a.text.size() < b.text.size();
    return a.text.substr(8) < b.text.substr(8);
  }
};

/// Fills `all` with the words of an array, reusing its memory. The array must outlive `all`.
inline void key(const string_array& words, std::vector<keyed_word>& all) {
  all.clear();
  all.reserve(words.size());
  const char* next = words.chars.data();
  for (std::uint32_t length : words.lengths) {
    all.emplace_back(std::string_view(next, length));
    next += length;
  }
}

/// Merges adjacent sorted runs. `bounds` contains their begins and the end of the last one.
inline void merge_runs(std::vector<keyed_word>& words, std::vector<std::size_t> bounds) {
  while (bounds.size() > 2) {
    std::vector<std::size_t> merged{0};
    for (std::size_t i = 2; i < bounds.size(); i += 2) {
      const auto at = [&](std::size_t k) { return words.begin() + static_cast<std::ptrdiff_t>(bounds[k]); };
      std::inplace_merge(at(i - 2), at(i - 1), at(i));
      merged.push_back(bounds[i]);
    }
    if (merged.back() != bounds.back()) merged.push_back(bounds.back());
    bounds.swap(merged);
  }
}

/// Returns the p + 1 positions that cut the local words: rank k gets those between positions k and
/// k + 1. Splitter k is the sample at k/p of all. Among equal words, those of lower ranks come
/// first.
inline std::vector<std::size_t> cut_at_splitters(const std::vector<keyed_word>& words,
                                                 const string_array& samples,
                                                 const std::vector<place>& places, std::size_t p,
                                                 std::size_t rank) {
  std::vector<std::pair<std::string_view, place>> splitters;
  for (const auto& word : samples.views()) splitters.emplace_back(word, places[splitters.size()]);
  std::sort(splitters.begin(), splitters.end());
  std::vector<std::size_t> cut(p + 1, words.size());
  cut[0] = 0;
  for (std::size_t k = 1; k < p && !splitters.empty(); ++k) {
    const auto& [word, from] = splitters[k * splitters.size() / p];
    if (from.rank == rank)
      cut[k] = from.index;
    else if (from.rank > rank)
      cut[k] = std::upper_bound(words.begin(), words.end(), keyed_word(word)) - words.begin();
    else
      cut[k] = std::lower_bound(words.begin(), words.end(), keyed_word(word)) - words.begin();
  }
  return cut;
}

/// Returns this rank's part of the sorted whole. Rank 0 has the first words, and no rank has much
/// more than its share.
inline string_array sample_sort(tutti::communicator& world, const string_array& mine, meter& meter) {
  using namespace tutti;
  const std::size_t p = world.size(), rank = world.rank(), others = p - 1;
  const std::size_t samples = std::clamp<std::size_t>(2048 / p, 8, 32);  // of each rank

  std::vector<keyed_word> words;
  key(mine, words);
  std::sort(words.begin(), words.end());

  // The samples are evenly spaced and at different positions on each rank. So if the ranks have
  // similar words, the samples of all ranks are evenly spaced too. Every rank gets all samples.
  string_array sample;
  std::vector<place> places;
  for (std::size_t i = 0; i < samples && others > 0; ++i) {
    const std::size_t index = words.size() * (i * p + rank) / (samples * p);
    if (index >= words.size()) break;
    sample.push_back(words[index].text);
    places.push_back({rank, index});
  }
  string_array all;
  all.chars = world.allgatherv(send_buf(sample.chars));
  all.lengths = world.allgatherv(send_buf(sample.lengths));
  places = world.allgatherv(send_buf(places));
  meter.sent(collective::allgatherv,
             others * (sample.chars.size() + sample.size() * (sizeof(std::uint32_t) + sizeof(place))));

  const std::vector<std::size_t> cut = cut_at_splitters(words, all, places, p, rank);

  // Characters and lengths are sent separately.
  const string_array sorted = pack(words, &keyed_word::text);
  std::vector<std::size_t> word_counts(p), char_counts(p);
  for (std::size_t k = 0; k < p; ++k) {
    word_counts[k] = cut[k + 1] - cut[k];
    for (std::size_t i = cut[k]; i < cut[k + 1]; ++i) char_counts[k] += words[i].text.size();
  }
  string_array received;
  auto [lengths, counts] =
      world.alltoallv(send_buf(sorted.lengths), send_counts(word_counts), recv_counts_out());
  received.lengths = std::move(lengths);
  received.chars = world.alltoallv(send_buf(sorted.chars), send_counts(char_counts));
  meter.sent(collective::alltoall, 2 * others * sizeof(std::size_t));
  meter.sent(collective::alltoallv, (sorted.size() - word_counts[rank]) * sizeof(std::uint32_t) +
                                        sorted.chars.size() - char_counts[rank]);

  // Each rank sent a sorted run.
  key(received, words);
  std::vector<std::size_t> bounds{0};
  for (std::size_t count : counts) bounds.push_back(bounds.back() + count);
  merge_runs(words, std::move(bounds));
  return pack(words, &keyed_word::text);
}

/// Scatters rank 0's words in order: rank r gets `counts[r]` of them. The other ranks pass null and
/// need no counts.
inline string_array scatter_words(tutti::communicator& world, const string_array* global,
                                  const std::vector<std::size_t>& counts, meter& meter) {
  using namespace tutti;
  string_array mine;
  if (!global) {
    mine.lengths = world.scatterv<std::uint32_t>(root(0));
    mine.chars = world.scatterv<char>(root(0));
    meter.sent(collective::scatterv, 0);
    return mine;
  }
  std::vector<std::size_t> chars;
  auto length = global->lengths.begin();
  for (std::size_t count : counts) {
    chars.push_back(std::accumulate(length, length + static_cast<std::ptrdiff_t>(count), std::size_t{0}));
    length += static_cast<std::ptrdiff_t>(count);
  }
  mine.lengths = world.scatterv(send_buf(global->lengths), send_counts(counts));
  mine.chars = world.scatterv(send_buf(global->chars), send_counts(chars));
  meter.sent(collective::scatterv,
             (global->size() - counts[0]) * sizeof(std::uint32_t) + global->chars.size() - chars[0]);
  return mine;
}

/// Scatters rank 0's words in equal shares.
inline string_array share_words(tutti::communicator& world, const string_array* global, meter& meter) {
  const std::size_t n = global ? global->size() : 0, p = world.size();
  std::vector<std::size_t> counts(p);
  for (std::size_t r = 0; r < p; ++r) counts[r] = n * (r + 1) / p - n * r / p;
  return scatter_words(world, global, counts, meter);
}

/// Returns on every rank how many ranks hold other words than rank 0 expects. Each rank compares
/// its own.
inline std::uint64_t differences(tutti::communicator& world, const string_array& mine,
                                 const string_array* expected) {
  using namespace tutti;
  meter unused(world);
  const std::vector<std::size_t> counts = world.gather(send_buf(mine.size()));
  const std::uint64_t sum = world.allreduce_single(send_buf(mine.size()), op(std::plus<>{}));
  const bool complete = world.bcast_single(send_recv_buf(!expected || expected->size() == sum));
  if (!complete) return world.size();
  const std::uint64_t wrong = scatter_words(world, expected, counts, unused) != mine;
  return world.allreduce_single(send_buf(wrong), op(std::plus<>{}));
}

}  // namespace sort
