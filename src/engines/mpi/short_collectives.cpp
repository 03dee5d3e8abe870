// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/short_collectives.hpp"

#include <algorithm>
#include <string>

#include "engines/mpi/mpi_endpoint.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

// A rank with a core of its own does not sleep, as in the collectives of the MPIs. So MPI gets its
// progress every 1000 polls. Without one, the rank that is waited for needs this core.
constexpr int spins_with_core = 1 << 30, spins_without_core = 50;
// A sleeping rank progresses its messages over MPI this often.
constexpr int sleep_ms = 1;

// Describes a call in the 56 bits of a digest. All members of the same call have the same one, in
// each of its pieces.
constexpr std::uint64_t digest(collective what, std::size_t bytes, int root) noexcept {
  static_assert(collective_names.size() <= 32);
  return static_cast<std::uint64_t>(what) | static_cast<std::uint64_t>(root & 0x7ffff) << 5 |
         static_cast<std::uint64_t>(bytes & 0xffffffff) << 24;
}

// The data of the caller. In place they are in the output.
const void* operand_of(const call& c) noexcept { return c.in_place ? c.output : c.input; }

}  // namespace

short_collectives::~short_collectives() { ep_.memory().leave(name_); }

class short_collectives::waiter final : public shm::process_waiter {
 public:
  waiter(const short_collectives& of, const char* operation) noexcept
      : process_waiter(of.ep_.is_oversubscribed() ? spins_without_core : spins_with_core, sleep_ms),
        of_(of),
        operation_(operation) {}
  // Without this, several short calls look like one long wait.
  ~waiter() override { of_.ep_.progressed(); }
  void poll() override { of_.ep_.poll_failures(of_.site(operation_)); }
  void check() override {}

 private:
  const short_collectives& of_;
  const char* operation_;
};

shm::wait_site short_collectives::site(const char* operation) const noexcept {
  return {operation, "native", "the other members", -1, -1, shm::wait_site::unnumbered};
}

void short_collectives::barrier() {
  const std::uint64_t is = digest(collective::barrier, 0, 0);
  waiter w(*this, "barrier");
  of_->barrier(is, w, [&](int member, std::uint64_t other) { throw_mismatch(is, member, other); });
}

void short_collectives::bcast(void* data, std::size_t bytes, int root) {
  const std::uint64_t is = digest(collective::bcast, bytes, root);
  waiter w(*this, "bcast");
  auto* at = static_cast<std::byte*>(data);
  for (std::size_t left = bytes;;) {
    const std::size_t piece = std::min(left, piece_bytes_);
    of_->bcast(at, piece, root, is, w,
               [&](int member, std::uint64_t other) { throw_mismatch(is, member, other); });
    at += piece;
    if ((left -= piece) == 0) return;
  }
}

void short_collectives::allreduce(const void* input, void* output, std::size_t count,
                                  std::size_t element_bytes, combine_function combine, void* state) {
  const std::uint64_t is = digest(collective::allreduce, count * element_bytes, 0);
  waiter w(*this, "allreduce");
  const auto* from = static_cast<const std::byte*>(input);
  auto* to = static_cast<std::byte*>(output);
  const std::size_t max_piece =
      count * element_bytes <= piece_bytes_ ? count : piece_of(collective::allreduce, element_bytes);
  for (std::size_t left = count;;) {
    const std::size_t piece = std::min(left, max_piece), bytes = piece * element_bytes;
    of_->allreduce(
        from, to, bytes, is,
        [&](void* sum, const std::byte* operand) { combine(sum, operand, sum, piece, state); }, w,
        [&](int member, std::uint64_t other) { throw_mismatch(is, member, other); });
    from += bytes, to += bytes;
    if ((left -= piece) == 0) return;
  }
}

void short_collectives::run(const call& c) {
  if (ep_.has_other_operations()) [[unlikely]] {
    progress p = begin(c);
    const shm::wait_site here = site(name_of(c.what).data());
    while (!advance(c, p)) ep_.pause(here);
    return ep_.progressed();
  }
  switch (c.what) {
    case collective::barrier:
      return barrier();
    case collective::bcast:
      return bcast(of_->member() == c.root ? const_cast<void*>(operand_of(c)) : c.output,
                   c.count * c.type.size, c.root);
    default:
      return allreduce(operand_of(c), c.output, c.count, c.type.size, c.op.combine, c.op.state);
  }
}

std::uint64_t short_collectives::piece_count(const call& c) const noexcept {
  if (c.what == collective::barrier || c.count * c.type.size <= piece_bytes_) return 1;
  const std::size_t all = c.what == collective::allreduce ? c.count : c.count * c.type.size;
  const std::size_t piece = piece_of(c.what, c.type.size);
  return (all + piece - 1) / piece;
}

bool short_collectives::advance(const call& c, progress& p) {
  if (c.what == collective::barrier || c.count * c.type.size <= piece_bytes_) {
    const std::size_t all = c.what == collective::allreduce ? c.count : c.count * c.type.size;
    return advance_piece(c, p, c.what == collective::barrier ? 0 : all);
  }
  const std::size_t all = c.what == collective::allreduce ? c.count : c.count * c.type.size;
  const std::size_t max_piece = piece_of(c.what, c.type.size);
  while (p.done < all) {
    const std::size_t piece = std::min(all - p.done, max_piece);
    if (!advance_piece(c, p, piece)) return false;
    p.done += piece;
    ++p.number;
    p.posted = false;
  }
  return true;
}

// `piece`: elements of an allreduce, or bytes of a bcast.
bool short_collectives::advance_piece(const call& c, progress& p, std::size_t piece) {
  const bool sums = c.what == collective::allreduce, rooted = c.what == collective::bcast;
  const std::size_t unit = sums ? c.type.size : 1, bytes = piece * unit, at = p.done * unit;
  const bool posts = !rooted || of_->member() == c.root;
  const std::uint64_t is =
      digest(c.what, c.what == collective::barrier ? 0 : c.count * c.type.size, rooted ? c.root : 0);
  if (!p.posted) {
    if (posts) {
      if (!of_->may_post(p.number, bytes)) return false;
      if (bytes > 0)
        shm::process_memory::write(of_->operand(p.number, bytes),
                                   static_cast<const std::byte*>(operand_of(c)) + at, bytes);
      of_->post(p.number, is);
    }
    of_->wake_members();
    p.next = rooted ? c.root : 0;
    p.posted = true;
  }
  for (const int end = rooted ? c.root + 1 : of_->size(); p.next < end; ++p.next) {
    if (p.next == of_->member()) continue;
    if (!of_->has_posted(p.number, p.next)) return false;
    if (const std::uint64_t other = of_->digest_of(p.number, p.next); other != is) [[unlikely]]
      throw_mismatch(is, p.next, other);
  }
  std::byte* const to = static_cast<std::byte*>(c.output) + (bytes > 0 ? at : 0);
  if (sums) {
    shm::process_memory::read(to, of_->operand_of(p.number, 0, bytes), bytes);
    for (int i = 1; i < of_->size(); ++i)
      c.op.combine(to, of_->operand_of(p.number, i, bytes), to, piece, c.op.state);
  } else if (!posts) {
    shm::process_memory::read(to, of_->operand_of(p.number, c.root, bytes), bytes);
  }
  of_->finish(p.number);
  return true;
}

bool short_collectives::finish(const call& c, progress& p, bool blocking, const shm::wait_site& where) {
  while (!advance(c, p)) {
    if (!blocking) return false;
    ep_.pause(where);
  }
  ep_.progressed();
  ep_.look_for_rejections();
  return true;
}

void short_collectives::throw_mismatch(std::uint64_t mine, int member, std::uint64_t other) const {
  const auto text = [](std::uint64_t is) {
    const auto what = static_cast<collective>(is & 0x1f);
    std::string made(name_of(what));
    if (what == collective::barrier) return made;
    made += " of " + std::to_string(is >> 24 & 0xffffffff) + " bytes";
    return what == collective::bcast ? made + " from root " + std::to_string(is >> 5 & 0x7ffff) : made;
  };
  throw mismatch_error(std::string(name_of(static_cast<collective>(mine & 0x1f))), ep_.rank(), "count",
                       "this rank calls " + text(mine) + ", but rank " + std::to_string(member) +
                           " of the communicator calls " + text(other),
                       "make the same call with the same count and element type on all ranks (TUTTI_CHECK=1 "
                       "names who differs)");
}

}  // namespace tutti::mpi
