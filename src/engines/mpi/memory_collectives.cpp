// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/memory_collectives.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "engines/mpi/mpi_endpoint.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

// A rank with a core of its own does not sleep, as in the collectives of the MPIs. So MPI gets its
// progress every 1000 polls. Without one, the rank that is waited for needs this core, and gets it
// sooner by a yield than by a sleep: a wake-up takes some 10 us.
constexpr int spins_with_core = 1 << 30, spins_without_core = 5;
constexpr int yields_without_core = 1000;
// A sleeping rank progresses its messages over MPI this often.
constexpr int sleep_ms = 1;

// Describes a call in the 56 bits of a digest. All members of the same call have the same one, in
// each of its rounds. `bytes`: of the operand or of a block; in an allgatherv, of all blocks.
// `root`: without a root, 1 for a long call that only members out of place make so, else 0.
constexpr std::uint64_t digest(collective what, std::size_t bytes, int root) noexcept {
  static_assert(collective_names.size() <= 32);
  return static_cast<std::uint64_t>(what) | static_cast<std::uint64_t>(root & 0x7ffff) << 5 |
         static_cast<std::uint64_t>(bytes & 0xffffffff) << 24;
}

// The data of a bcast.
void* data_of(const call& c, bool is_root) noexcept {
  return is_root && !c.in_place ? const_cast<void*>(c.input) : c.output;
}

// The bytes of the operand or of a block; of an allgatherv, of all blocks. Not for calls with
// blocks of varying length, on which members do not agree.
std::size_t agreed_bytes(const call& c) noexcept {
  return c.what == collective::barrier ? 0
         : is_vector_form(c.what)      ? detail::agreed_total(c.out_counts, c.type.size)
                                       : c.count * c.type.size;
}

std::size_t longest_block(const call& c) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < c.out_counts.size(); ++i) count = std::max(count, c.out_counts[i]);
  return count;
}

}  // namespace

class memory_collectives::operand_lines final : public shm::process_exchange {
 public:
  explicit operand_lines(memory_collectives& of) : of_(of), operands_(static_cast<std::size_t>(of.size())) {}
  void exchange(const shm::wait_site& site) override { of_.exchange(operands(), site); }
  std::byte* operands() noexcept { return operands_.front().data; }

 private:
  struct alignas(16) operand {
    std::byte data[shm::line_exchange::bytes];
  };
  static_assert(sizeof(operand) == shm::line_exchange::bytes);

  memory_collectives& of_;
  std::vector<operand> operands_;
};

memory_collectives::memory_collectives(mpi_endpoint& ep, std::uint32_t number,
                                       std::unique_ptr<node_memory::collectives> of)
    : ep_(ep), of_(std::move(of)), number_(number) {
  if (of_ == nullptr) return;
  slot_bytes_ = of_->slot_bytes();
  max_direct_bcast_ = detail::max_bytes_of_one_round(collective::bcast, of_->size(), slot_bytes_);
  max_direct_allreduce_ = detail::max_bytes_of_one_round(collective::allreduce, of_->size(), slot_bytes_);
  const auto on_mismatch = [this](std::uint64_t mine, int i, std::uint64_t other) {
    throw_mismatch(mine, i, other);
  };
  if (slot_bytes_ == 0) return;
  if (ep_.memory().may_copy()) {
    by_address_ = std::make_unique<address_calls>(ep_, *of_, number, on_mismatch);
    has_short_calls_ = by_address_->min_bytes() > detail::post_line_bytes;
  }
  if (!ep_.memory().shares_buffers() && !ep_.memory().min_measured_part_bytes(ep_.is_oversubscribed()))
    return;
  negotiated_ = std::make_unique<negotiated_calls>(ep_, *of_, on_mismatch);
  // From this length on, members in steps begin with an exchange, so no member may make one round
  // directly.
  max_direct_bcast_ = std::min(max_direct_bcast_, negotiated_->min_bytes() - 1);
  max_direct_allreduce_ = std::min(max_direct_allreduce_, negotiated_->min_bytes() - 1);
  has_short_calls_ = has_short_calls_ && negotiated_->min_block_bytes() > detail::post_line_bytes;
}

memory_collectives::~memory_collectives() = default;

class memory_collectives::waiter final : public shm::process_waiter {
 public:
  /// `c` may be null: reports name the operation then.
  waiter(const memory_collectives& of, const char* operation, const call* c) noexcept
      : waiter(of, operation, c, nullptr) {}
  waiter(const memory_collectives& of, const shm::wait_site& at) noexcept
      : waiter(of, nullptr, nullptr, &at) {}
  // Without this, several calls look like one long wait.
  ~waiter() override { of_.ep_.progressed(); }
  void poll() override {
    of_.ep_.poll_failures(site_ != nullptr ? *site_ : call_ != nullptr ? site_of(*call_) : site(operation_));
  }
  void check() override {}

 private:
  waiter(const memory_collectives& of, const char* operation, const call* c,
         const shm::wait_site* at) noexcept
      : process_waiter(of.ep_.is_oversubscribed() ? spins_without_core : spins_with_core, sleep_ms,
                       yields_without_core),
        of_(of),
        operation_(operation),
        call_(c),
        site_(at) {}

  const memory_collectives& of_;
  const char* operation_;
  const call* call_;
  const shm::wait_site* site_;
};

shm::wait_site memory_collectives::site(const char* operation) noexcept {
  return {operation, "native", "the other members", -1, -1, shm::wait_site::unnumbered};
}

void memory_collectives::barrier(const call* c) {
  const std::uint64_t is = digest(collective::barrier, 0, 0);
  validate("barrier", c);
  waiter w(*this, "barrier", c);
  of_->barrier(is, w, [&](int member, std::uint64_t other) { throw_mismatch(is, member, other); });
}

void memory_collectives::bcast(void* data, std::size_t bytes, int root, const call* c) {
  const std::uint64_t is = digest(collective::bcast, bytes, root);
  validate("bcast", c);
  waiter w(*this, "bcast", c);
  try {
    of_->bcast(data, bytes, root, is, w,
               [&](int member, std::uint64_t other) { throw_mismatch(is, member, other); });
  } catch (const shm::lack_of_pages& lack) {
    throw_lack("bcast", lack);
  }
}

void memory_collectives::allreduce(const void* input, void* output, std::size_t count,
                                   std::size_t element_bytes, combine_function combine, void* state,
                                   const call* c) {
  const std::uint64_t is = digest(collective::allreduce, count * element_bytes, 0);
  validate("allreduce", c);
  waiter w(*this, "allreduce", c);
  try {
    of_->allreduce(
        input, output, count * element_bytes, is,
        [&](void* sum, const std::byte* operand) { combine(sum, operand, sum, count, state); }, w,
        [&](int member, std::uint64_t other) { throw_mismatch(is, member, other); });
  } catch (const shm::lack_of_pages& lack) {
    throw_lack("allreduce", lack);
  }
}

std::optional<shm::line_exchange> memory_collectives::lines() {
  if (!is_open() || max_direct_allreduce_ < shm::line_exchange::bytes) return {};
  if (lines_ == nullptr) lines_ = std::make_unique<operand_lines>(*this);
  return shm::line_exchange(*lines_, lines_->operands(), of_->member());
}

// The round is that of allreduce(), but each operand is copied as soon as it is posted.
void memory_collectives::exchange(std::byte* operands, const shm::wait_site& site) {
  constexpr std::size_t bytes = shm::line_exchange::bytes;
  static_assert(bytes <= detail::post_line_bytes);
  constexpr std::uint64_t is = digest(collective::allreduce, bytes, 0);
  if (broken_) [[unlikely]]
    throw_broken(site);
  ep_.memory().count_exchange_in_lines();
  const int me = of_->member();
  const auto of = [&](int i) { return operands + static_cast<std::size_t>(i) * bytes; };
  waiter w(*this, site);
  of_->round(
      is, true, 0, of_->size(), [](int) { return bytes; },
      [&](std::byte* to) { std::memcpy(to, of(me), bytes); },
      [&](int i, const std::byte* from) {
        if (i != me) std::memcpy(of(i), from, bytes);
      },
      w, [&](int i, std::uint64_t other) { throw_mismatch(is, i, other); });
  ep_.look_for_rejections();
}

void memory_collectives::run(const call& c) {
  if (ep_.has_other_operations()) [[unlikely]] {
    progress p = begin(c);
    const shm::wait_site here = site_of(c);
    while (!advance(c, p)) ep_.pause(here);
    return ep_.progressed();
  }
  if (is_vector_form(c.what)) return run_in_rounds(c);
  const std::size_t bytes = c.count * c.type.size;
  if (c.what == collective::barrier) return barrier(&c);
  if (c.what == collective::bcast && bytes <= max_direct_bcast_)
    return bcast(data_of(c, of_->member() == c.root), bytes, c.root, &c);
  if (c.what == collective::allreduce && bytes <= max_direct_allreduce_)
    return allreduce(c.in_place ? c.output : c.input, c.output, c.count, c.type.size, c.op.combine,
                     c.op.state, &c);
  if (is_short(c, bytes)) return run_short(c, bytes);
  run_in_rounds(c);
}

// The call has one round, and all its posts fit in lines.
bool memory_collectives::is_short(const call& c, std::size_t bytes) const noexcept {
  const std::size_t blocks = detail::posts_blocks_for_all(c.what) ? static_cast<std::size_t>(of_->size()) : 1;
  return has_short_calls_ && bytes * blocks <= detail::post_line_bytes;
}

void memory_collectives::run_short(const call& c, std::size_t bytes) {
  validate(nullptr, &c);
  const std::uint64_t is = digest(c.what, bytes, is_rooted(c.what) ? c.root : 0);
  const bool in_elements = combines(c.what);
  const memory_round r{
      c,     of_->size(), of_->member(), in_elements ? c.type.size : 1, 0, in_elements ? c.count : bytes,
      bytes, false};
  waiter w(*this, nullptr, &c);
  with_rounds_of(c.what, false, [&]<class Rounds>(Rounds) {
    of_->round(
        is, Rounds::posts(r), Rounds::first(r), Rounds::end(r), [&](int i) { return Rounds::bytes(r, i); },
        [&](std::byte* to) { Rounds::write(r, to); },
        [&](int i, const std::byte* from) { Rounds::take(r, i, from); }, w,
        [&](int i, std::uint64_t other) { throw_mismatch(is, i, other); });
    return true;
  });
}

void memory_collectives::run_in_rounds(const call& c) {
  progress p = begin(c);
  waiter w(*this, nullptr, &c);
  std::uint32_t reasons = shm::wait_for_post | shm::wait_for_acknowledgement;
  // Parts are messages after a refusal, and so are long blocks of varying length.
  if (p.by_address || p.chosen_by_time || detail::has_varying_blocks(c.what))
    reasons |= shm::wait_for_message | shm::wait_for_space;
  of_->wait(reasons, w, [&] { return advance(c, p, false); });
}

memory_collectives::progress memory_collectives::begin(const call& c) {
  validate(nullptr, &c);
  progress p;
  if (detail::has_varying_blocks(c.what)) {
    p.rounds_left = 1;
    p.number = of_->begin();
    p.digest = digest(c.what, 0, is_rooted(c.what) ? c.root : 0);
    return p;
  }
  const bool vector = is_vector_form(c.what);
  p.pieces = divide(c.what, vector ? longest_block(c) : c.count, c.type.size);
  const std::size_t bytes = agreed_bytes(c);
  p.by_address = by_address_ != nullptr && goes_by_address(c, bytes);
  p.rounds_left = p.by_address ? address_calls::rounds(c.what) : p.pieces.rounds();
  if (negotiated_ != nullptr && negotiated_->is_measured(c, bytes)) {
    p.chosen_by_time = true;
    p.rounds_left = std::max(p.pieces.rounds(), address_calls::rounds(c.what));
  }
  if (negotiated_ != nullptr && negotiated_->serves(c, bytes)) {
    p.negotiation = memory_progress::negotiation_step::exchange;
    p.rounds_left += negotiated_calls::extra_rounds;
  }
  // Members that are in place, and others, make different calls.
  const bool out_of_place = !c.in_place && detail::overwrites_in_place(c.what) &&
                            (p.by_address || p.negotiation != memory_progress::negotiation_step::none);
  p.number = of_->begin(p.rounds_left);
  p.digest = digest(c.what, bytes, is_rooted(c.what) ? c.root : out_of_place ? 1 : 0);
  if (p.by_address && p.negotiation == memory_progress::negotiation_step::none)
    ep_.memory().count_call_by_address();
  return p;
}

// Blocking calls that run() makes in one round, and the same calls in steps, must be alike.
bool memory_collectives::goes_by_address(const call& c, std::size_t bytes) const noexcept {
  const std::size_t direct = c.what == collective::bcast       ? max_direct_bcast_
                             : c.what == collective::allreduce ? max_direct_allreduce_
                                                               : 0;
  return bytes > direct && by_address_->serves(c, bytes);
}

// An exception in an operator of the program, say, leaves rounds of which the others wait for
// posts. So no later call can work. A call in shared buffers throws after its last round.
bool memory_collectives::advance(const call& c, progress& p, bool overlaps) {
  try {
    if (detail::has_varying_blocks(c.what)) return advance_varying(c, p, overlaps);
    if (p.negotiation != memory_progress::negotiation_step::none) {
      if (!negotiated_->advance(c, agreed_bytes(c), p, overlaps)) return false;
      if (p.by_address) ep_.memory().count_call_by_address();
    }
    if (!(p.by_address ? by_address_->advance(c, p, overlaps) : advance_in_rounds(c, p, overlaps)))
      return false;
    if (p.chosen_by_time && !overlaps) negotiated_->record(c, agreed_bytes(c), p);
    return true;
  } catch (const shm::lack_of_pages& lack) {
    throw_lack(detail::called(c), lack);
  } catch (...) {
    if (p.rounds_left > 0) broken_ = true;
    throw;
  }
}

bool memory_collectives::advance_varying(const call& c, progress& p, bool overlaps) {
  if (varying_blocks_ == nullptr) [[unlikely]]
    varying_blocks_ = std::make_unique<varying_blocks>(
        ep_, *of_, number_,
        [this](std::uint64_t mine, int i, std::uint64_t other) { throw_mismatch(mine, i, other); });
  return varying_blocks_->advance(c, p, overlaps);
}

void memory_collectives::throw_broken(const shm::wait_site& site) const {
  ep_.poll_failures(site);  // throws if the job has failed
  throw engine_error(site.operation, ep_.rank(), "",
                     "an earlier call of this communicator has ended with an exception",
                     "make a new communicator, or catch exceptions inside operators");
}

void memory_collectives::throw_lack(const char* operation, const shm::lack_of_pages& lack) {
  broken_ = true;
  throw engine_error(operation, ep_.rank(), "",
                     "the node has no memory for a slot of " + std::to_string(lack.bytes) + " bytes",
                     "raise the memory limit of the job, or set TUTTI_SHM=off");
}

bool memory_collectives::advance_in_rounds(const call& c, progress& p, bool overlaps) {
  return with_rounds_of(c.what, p.pieces.in_slices, [&]<class Rounds>(Rounds) {
    const detail::call_pieces& all = p.pieces;
    for (; p.rounds_left > 0; --p.rounds_left) {
      const std::size_t units = std::min(all.per_round, all.length - p.at);
      const memory_round r{c,    of_->size(), of_->member(),         all.unit,
                           p.at, units,       all.length * all.unit, p.second};
      if (!advance_round<Rounds>(r, p, overlaps)) return false;
      of_->finish(p.number);
      ++p.number;
      p.posted = false;
      p.second = all.in_slices && !p.second;
      if (!p.second) p.at += units;
    }
    return true;
  });
}

// The posts are taken in member order, while those of later members may not be there yet.
template <class Rounds>
bool memory_collectives::advance_round(const memory_round& r, progress& p, bool overlaps) {
  if (!p.posted) {
    if (Rounds::posts(r)) {
      const std::size_t bytes = Rounds::bytes(r, r.member);
      if (!of_->may_post(p.number, bytes)) return false;
      Rounds::write(r, of_->operand(p.number, bytes));
      of_->post(p.number, p.digest);
    }
    if (overlaps) of_->wake_members();
    p.next = Rounds::first(r);
    p.posted = true;
  }
  for (const int end = Rounds::end(r); p.next < end; ++p.next) {
    if (p.next != r.member) {
      if (!of_->has_posted(p.number, p.next)) return false;
      if (const std::uint64_t other = of_->digest_of(p.number, p.next); other != p.digest) [[unlikely]]
        throw_mismatch(p.digest, p.next, other);
    }
    Rounds::take(r, p.next, of_->operand_of(p.number, p.next, Rounds::bytes(r, p.next)));
  }
  return true;
}

bool memory_collectives::finish(const call& c, progress& p, bool blocking, const shm::wait_site& where) {
  while (!advance(c, p)) {
    if (!blocking) return false;
    ep_.pause(where);
  }
  ep_.progressed();
  ep_.look_for_rejections();
  return true;
}

void memory_collectives::throw_mismatch(std::uint64_t mine, int member, std::uint64_t other) const {
  const auto text = [](std::uint64_t is) {
    const auto what = static_cast<collective>(is & 0x1f);
    std::string made(name_of(what));
    if (what == collective::barrier) return made;
    if (!detail::has_varying_blocks(what)) made += " of " + std::to_string(is >> 24 & 0xffffffff) + " bytes";
    if (!is_rooted(what)) return (is >> 5 & 0x7ffff) != 0 ? made + " (not in place)" : made;
    const bool root_sends =
        what == collective::bcast || what == collective::scatter || what == collective::scatterv;
    return made + (root_sends ? " from root " : " to root ") + std::to_string(is >> 5 & 0x7ffff);
  };
  throw mismatch_error(std::string(name_of(static_cast<collective>(mine & 0x1f))), ep_.rank(), "count",
                       "this rank calls " + text(mine) + ", but rank " + std::to_string(member) +
                           " of the communicator calls " + text(other),
                       "make the same call with the same count and element type on all ranks (TUTTI_CHECK=1 "
                       "names who differs)");
}

}  // namespace tutti::mpi
