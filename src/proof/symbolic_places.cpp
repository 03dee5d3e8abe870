// SPDX-License-Identifier: Apache-2.0
//
// Resolves symbolic places to areas of an abstract run's buffers, and performs accesses to them.
#include <algorithm>

#include "proof/abstract_state.hpp"

namespace tutti::proof {
namespace {

constexpr const char* memory_names[] = {"input",    "output",   "scratch0", "scratch1",
                                        "scratch2", "scratch3", "words"};

std::size_t sum_of(const std::vector<std::size_t>& v, std::size_t from, std::size_t to) {
  std::size_t sum = 0;
  for (std::size_t i = from; i < to; ++i) sum += v[i];
  return sum;
}

}  // namespace

std::string abstract_machine::state::text(int rank, const area& a) const {
  const bool aliased = rank >= 0 && a.memory == 1 && call_->aliased_at(rank);
  return std::string(aliased ? "input/output" : memory_names[a.memory]) + "[" + std::to_string(a.first) +
         " .. " + std::to_string(a.end()) + ")";
}

int abstract_machine::state::resolve(int rank, const index& i) const {
  const rank_state& me = of(rank);
  std::int64_t value = i.base;
  if (me.depth > 0) {
    value += static_cast<std::int64_t>(i.inner) * me.loops[me.depth - 1].i;
    if (me.depth > 1) value += static_cast<std::int64_t>(i.outer) * me.loops[0].i;
  }
  if (i.modulus > 0) {
    value %= i.modulus;
    if (value < 0) value += i.modulus;
  }
  return static_cast<int>(value);
}

std::int32_t abstract_machine::state::trips(int rank, const trip_count& t) const {
  if (t.per_segment == 0) return t.fixed;
  const schedule& s = schedule_of(rank);
  std::size_t longest = call_->counts[static_cast<std::size_t>(rank)];
  if (t.per_segment == 2) longest = longest_block(rank, partition::split);
  const std::size_t each = std::max<std::size_t>(s.segment_bytes / call_->element_bytes, 1);
  return t.fixed + static_cast<std::int32_t>((longest + each - 1) / each);
}

// Only for the tables by which scratch may be declared.
std::size_t abstract_machine::state::longest_block(int rank, partition how) const {
  const auto me = static_cast<std::size_t>(rank);
  if (how == partition::split) {
    const auto parts = static_cast<std::size_t>(std::max(1, schedule_of(rank).parts));
    return (call_->counts[me] + parts - 1) / parts;
  }
  if (how == partition::uniform) return call_->counts[me];
  if (how != partition::input_counts && how != partition::output_counts)
    fail(rank, "scratch is declared in blocks of words");
  const block_table& l = how == partition::input_counts ? call_->in[me] : call_->out[me];
  return l.counts.empty() ? 0 : *std::max_element(l.counts.begin(), l.counts.end());
}

std::size_t abstract_machine::state::sum_of_words(int rank, std::size_t first, std::size_t end) {
  const auto& all = of(rank).words;
  if (end > all.size())
    fail(rank,
         "block " + std::to_string(end - 1) + " of a partition by " + std::to_string(all.size()) + " words");
  if (only_ >= 0 && first < end) {
    if (use_word_sums(of(rank))) return of(rank).sums.words[end] - of(rank).sums.words[first];
    rank_costs_.work += (end - first) / 8;
  }
  std::size_t sum = 0;
  for (std::size_t i = first; i < end; ++i) sum += all[i];
  return sum;
}

void abstract_machine::state::table_area(int rank, const place& p, int first, area& a) {
  const auto me = static_cast<std::size_t>(rank);
  const auto from = static_cast<std::size_t>(first), to = from + static_cast<std::size_t>(p.blocks);
  if (only_ >= 0 && depends_on_unknown_words(rank, p, from, to)) {
    a.known = false;
    return;
  }
  switch (p.how) {
    case partition::uniform: {
      const std::size_t unit = p.where == buffer::words ? 1 : call_->counts[me];
      a.first = from * unit;
      a.count = (to - from) * unit;
      return;
    }
    case partition::split: {
      const auto parts = static_cast<std::size_t>(std::max(1, schedule_of(rank).parts));
      if (to > parts)
        fail(rank, "block " + std::to_string(to - 1) + " of " + std::to_string(parts) + " parts");
      const std::size_t quotient = call_->counts[me] / parts, rest = call_->counts[me] % parts;
      a.first = from * quotient + std::min(from, rest);
      a.count = to * quotient + std::min(to, rest) - a.first;
      return;
    }
    case partition::input_counts:
    case partition::output_counts: {
      const block_table& l = p.how == partition::input_counts ? call_->in[me] : call_->out[me];
      if (to > l.counts.size())
        fail(rank, "block " + std::to_string(to - 1) + " of a partition into " +
                       std::to_string(l.counts.size()) + " blocks");
      a.first = from < l.displs.size() ? l.displs[from] : 0;
      a.count = sum_of(l.counts, from, to);
      if (!p.packed)
        for (std::size_t i = from + 1; i < to; ++i)
          if (l.displs[i] != l.displs[i - 1] + l.counts[i - 1])
            fail(rank, "blocks " + std::to_string(from) + " .. " + std::to_string(to - 1) +
                           " of a partition need not be adjacent");
      return;
    }
    case partition::dense:
      if (p.origin < 0 || p.origin > first)
        fail(rank, "block " + std::to_string(first) + " precedes block " + std::to_string(p.origin) +
                       ", with which the buffer begins");
      a.first = sum_of_words(rank, static_cast<std::size_t>(p.origin), from);
      a.count = sum_of_words(rank, from, to);
      return;
    case partition::spaced:
    case partition::padded: {
      const auto which = static_cast<std::size_t>(schedule_of(rank).width);
      const std::size_t width = sum_of_words(rank, which, which + 1);
      a.first = from * width;
      a.padded = p.how == partition::padded;
      if (p.how == partition::spaced && p.blocks != 1) fail(rank, "several blocks of partition spaced");
      a.count = a.padded ? (to - from) * width : sum_of_words(rank, from, to);
      if (a.count > width * (to - from))
        fail(rank,
             "a block of " + std::to_string(a.count) + " elements at a distance of " + std::to_string(width));
      return;
    }
  }
}

// The area of a place of rank's schedule. If `owner` is given, the area is in the buffer of that
// rank.
abstract_machine::state::area abstract_machine::state::locate(int rank, const place& p, int owner) {
  if (owner < 0) owner = rank;
  rank_state& mine = of(owner);
  area a;
  a.exists = true;
  a.memory = static_cast<std::uint8_t>(p.where);
  if (p.where == buffer::input && call_->aliased_at(owner)) a.memory = 1;
  if (call_->what == collective::bcast && owner == call_->root && p.where == buffer::output &&
      call_->first_group == 0)
    a.memory = 0;  // the root has one buffer
  int first = resolve(rank, p.first);
  if (p.permuted) {
    if (schedule_of(rank).permutation == nullptr) fail(rank, "a permuted place without a permutation");
    first = schedule_of(rank).permutation(first, schedule_of(rank).ranks);
  }
  if (first < 0 || p.blocks < 0)
    fail(rank, "block " + std::to_string(first) + " of " + memory_names[a.memory]);
  table_area(rank, p, first, a);
  if (!a.known) {
    if (p.segmented && p.pieces == 0)
      fail(rank, "the number of segments depends on lengths that messages carry");
    if (p.segmented) {
      const std::int64_t s = resolve(rank, p.segment);
      a.exists = s >= 0 && s < p.pieces;
    }
    return a;
  }
  if (p.packed) a.first = 0;
  const area full = a;
  if (p.segmented) {
    const std::int64_t s = resolve(rank, p.segment);
    if (p.pieces > 0) {
      a.exists = s >= 0 && s < p.pieces;
      if (!a.exists) return a;
      const auto n = static_cast<std::size_t>(p.pieces), i = static_cast<std::size_t>(s);
      const std::size_t each = full.count / n, rest = full.count % n;
      const std::size_t from = i * each + std::min(i, rest), to = (i + 1) * each + std::min(i + 1, rest);
      a.first = full.first + from;
      a.count = to - from;
    } else {
      const std::size_t each =
          std::max<std::size_t>(schedule_of(rank).segment_bytes / call_->element_bytes, 1);
      const std::size_t from = s < 0 ? full.count : static_cast<std::size_t>(s) * each;
      a.exists = from < full.count;
      if (!a.exists) return a;
      a.first = full.first + from;
      a.count = std::min(each, full.count - from);
    }
  }
  if (a.count > 0 && a.end() > mine.sizes[a.memory])
    fail(rank, text(owner, a) + " of rank " + std::to_string(owner) + ", where it has " +
                   std::to_string(mine.sizes[a.memory]) + " elements");
  return a;
}

void abstract_machine::state::require_readable(int rank, const area& a, const char* action) const {
  if (!options_.symbols || a.memory == words_memory || a.padded || !a.known || of(rank).opaque[a.memory])
    return;
  const auto& cells = of(rank).cells[a.memory];
  for (std::size_t i = a.first; i < a.end(); ++i)
    if (cells[i] <= gap)
      fail(rank, std::string(action) + " " + text(rank, a) + ", whose element " + std::to_string(i) + " is " +
                     (cells[i] == gap ? "a gap of the caller" : "not yet written"));
}

void abstract_machine::state::require_writable(int rank, const area& a) const {
  if (a.count == 0 || a.memory == words_memory) return;
  if (a.memory == 0) fail(rank, "it writes " + text(rank, a));
  if (!options_.symbols || of(rank).opaque[a.memory]) return;
  const auto& cells = of(rank).cells[a.memory];
  for (std::size_t i = a.first; i < a.end(); ++i)
    if (cells[i] == gap)
      fail(rank,
           "it writes " + text(rank, a) + ", whose element " + std::to_string(i) + " is a gap of the caller");
}

void abstract_machine::state::move(int from, const area& source, int to, const area& target) {
  if ((source.memory == words_memory) != (target.memory == words_memory))
    fail(to, "words and elements are mixed: " + text(from, source) + " to " + text(to, target));
  if (source.memory == words_memory) {
    const auto begin = of(from).words.begin() + static_cast<std::ptrdiff_t>(source.first);
    if (from != to || source.first != target.first)
      std::copy(begin, begin + static_cast<std::ptrdiff_t>(source.count),
                of(to).words.begin() + static_cast<std::ptrdiff_t>(target.first));
    if (only_ >= 0) {
      auto& known = of(to).known_words;
      const auto from_known = known.begin() + static_cast<std::ptrdiff_t>(source.first);
      std::copy_n(from_known, source.count, known.begin() + static_cast<std::ptrdiff_t>(target.first));
      rank_costs_.work += source.count / 8;
      words_changed(of(to));
    }
    return;
  }
  require_readable(from, source, "it reads");
  require_writable(to, target);
  if (only_ >= 0) return overwrite(to, target);
  if (!options_.symbols || source.count == 0) return;
  const auto begin = of(from).cells[source.memory].begin() + static_cast<std::ptrdiff_t>(source.first);
  if (from != to || source.memory != target.memory || source.first != target.first)
    std::copy(begin, begin + static_cast<std::ptrdiff_t>(source.count),
              of(to).cells[target.memory].begin() + static_cast<std::ptrdiff_t>(target.first));
}

void abstract_machine::state::combine(int left_rank, const area& left, int right_rank, const area& right,
                                      int rank, const area& target) {
  if (!combines(call_->what)) fail(rank, "there is no operator in this collective");
  if (left.count != target.count || right.count != target.count)
    fail(rank, "operands of " + std::to_string(left.count) + " and " + std::to_string(right.count) +
                   " elements for a result of " + std::to_string(target.count));
  if (left.memory == words_memory || right.memory == words_memory || target.memory == words_memory)
    fail(rank, "words are reduced");
  require_readable(left_rank, left, "it reduces");
  require_readable(right_rank, right, "it reduces");
  require_writable(rank, target);
  end_.measured.combined += target.count;
  if (only_ >= 0) return overwrite(rank, target);
  if (!options_.symbols || target.count == 0) return;
  const symbol* l = of(left_rank).cells[left.memory].data() + left.first;
  const symbol* r = of(right_rank).cells[right.memory].data() + right.first;
  symbol* t = of(rank).cells[target.memory].data() + target.first;
  for (std::size_t i = 0; i < target.count; ++i) {
    if (l[i] <= gap || r[i] <= gap)
      fail(rank, "it reduces " + text(rank, target) + " from elements without a value");
    t[i] = symbols_.product(l[i], r[i]);
  }
}

// Implements `reserve`: from here on the scratch is as large as the place, or as declared, and
// uninitialized. Returns all of it.
abstract_machine::state::area abstract_machine::state::reserve(int rank, const place& p) {
  const int number = static_cast<int>(p.where) - static_cast<int>(buffer::scratch0);
  if (number < 0 || number >= scratch_count) fail(rank, "the reserved buffer is not scratch");
  rank_state& me = of(rank);
  const auto memory = static_cast<std::size_t>(p.where);
  constexpr std::size_t unlimited = static_cast<std::size_t>(-1) / 2;
  me.sizes[memory] = unlimited;
  const area a = locate(rank, p);
  if (!a.known) {
    overwrite(rank, a);
    return a;
  }
  const scratch_size& declared = schedule_of(rank).scratch[number];
  std::size_t declared_size = (declared.bytes + call_->element_bytes - 1) / call_->element_bytes;
  if (declared.blocks > 0)
    declared_size = std::max(declared_size,
                             static_cast<std::size_t>(declared.blocks) * longest_block(rank, declared.how));
  me.sizes[memory] = std::max(a.exists ? a.end() : 0, declared_size);
  me.max_sizes[number] = std::max(me.max_sizes[number], me.sizes[memory]);
  if (options_.symbols) me.cells[memory].assign(me.sizes[memory], uninitialized);
  area all;
  all.exists = true;
  all.count = me.sizes[memory];
  return all;
}

}  // namespace tutti::proof
