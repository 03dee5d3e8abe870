// SPDX-License-Identifier: Apache-2.0
//
// Tests wrong arguments that every rank can detect. All ranks reject them before anything is sent,
// and the communicator stays usable.
#include <limits>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

using sizes = std::vector<std::size_t>;
constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

void counts_that_overflow(const communicator& world) {
  const auto p = static_cast<std::size_t>(world.size());
  const std::vector<int> v(p, 1);
  sizes counts(p, huge / 2);
  counts.back() = huge;
  const std::span<const int> empty;
  check.throws<usage_error>([&] { (void)world.allgatherv(send_buf(v), recv_counts(counts)); },
                            {"allgatherv", "recv_", "rank"});
  check.throws<usage_error>(
      [&] { (void)world.alltoallv(send_buf(v), send_counts(counts), recv_counts(counts)); },
      {"alltoallv", "send_counts"});
  check.throws<usage_error>(
      [&] { (void)world.reduce_scatter(send_buf(v), op(std::plus<>{}), recv_counts(counts)); },
      {"reduce_scatter", "recv_counts"});
  check.throws<usage_error>([&] { (void)world.alltoall(send_buf(v), send_count(huge / 2)); },
                            {"alltoall", "send_count"});
  // Calls the internal ABI, where no buffer limits the lengths.
  int x = 0;
  call c;
  c.what = collective::allreduce;
  c.type = element_of<int>();
  c.count = huge / 2;
  c.input = &x;
  int y = 0;
  c.output = &y;
  auto plus = op(std::plus<>{});
  c.op = detail::operation_for<int>(plus.data);
  check.throws<usage_error>([&] { detail::run_call(detail::impl_of(world), c); },
                            {"allreduce", "count", "address space"});
}

void displacements_that_overlap(const communicator& world) {
  const auto p = static_cast<std::size_t>(world.size());
  if (p == 1) return;
  const sizes two(p, 2);
  sizes displs(p);
  // Descending and disjoint displacements are allowed.
  for (std::size_t i = 0; i < p; ++i) displs[i] = 2 * (p - 1 - i);
  std::vector<int> v(2 * p, world.rank()), out(2 * p);
  world.alltoallv(send_buf(v), send_counts(two), recv_counts(two), recv_displs(displs), recv_buf(out));
  for (std::size_t i = 0; i < 2 * p; ++i) check.equal(out[i], static_cast<int>(p - 1 - i / 2));
  displs[0] = displs[1] + 1;
  check.throws<usage_error>(
      [&] {
        world.alltoallv(send_buf(v), send_counts(two), recv_counts(two), recv_displs(displs), recv_buf(out));
      },
      {"alltoallv", "recv_displs", "block 0", "block 1", "rank"});
  const std::vector<int> mine{1, 2};
  check.throws<usage_error>(
      [&] { world.allgatherv(send_buf(mine), recv_counts(two), recv_displs(displs), recv_buf(out)); },
      {"allgatherv", "recv_displs"});
  // Layouts may interleave, but not overlap.
  const std::vector<layout> eight(p, layout::contiguous(8));
  std::vector<std::size_t> four(p, 4);
  check.throws<usage_error>(
      [&] {
        world.alltoallw(send_buf(v), send_counts(std::vector<int>(p, 1)), send_types(eight), recv_buf(out),
                        recv_counts(std::vector<int>(p, 1)), recv_displs(four), recv_types(eight));
      },
      {"alltoallw", "recv_types", "block"});
  sizes spaced(p);
  for (std::size_t i = 0; i < p; ++i) spaced[i] = 8 * i;
  const std::vector<layout> itself(p, layout::vector(2, 4, 0));
  check.throws<usage_error>(
      [&] {
        world.alltoallw(send_buf(v), send_counts(std::vector<int>(p, 1)), send_types(eight), recv_buf(out),
                        recv_counts(std::vector<int>(p, 1)), recv_displs(spaced), recv_types(itself));
      },
      {"alltoallw", "recv_types", "overlap itself"});
  // Blocks to send may overlap, because they are only read.
  const sizes zero(p, 0);
  world.alltoallv(send_buf(v), send_counts(two), send_displs(zero), recv_counts(two), recv_buf(out));
}

// The error names the displacements and not the counts, which are right.
void displacements_that_are_wrong(const communicator& world) {
  const auto p = static_cast<std::size_t>(world.size());
  const std::vector<int> v(p, 1), ones(p, 1);
  std::vector<int> out(p), none, few(p - 1, 0), many(p + 1, 0), negative(p, 0), far(p);
  negative.back() = -1;
  for (std::size_t i = 0; i < p; ++i) far[i] = static_cast<int>(i + 1);
  // The other ranks cannot know of the error, and their calls complete. If they get `zeros`, their
  // next call throws.
  const auto build_root_side = [&](const auto& call, std::initializer_list<const char*> words, bool zeros) {
    if (world.is_root()) return check.throws<usage_error>(call, words);
    call();
    if (zeros) check.throws<peer_error>([&] { (void)world.iprobe(); }, {"rank 0 rejected", "scatterv"});
  };
  const auto sent = [&](const std::vector<int>& displs, const char* problem) {
    check.throws<usage_error>(
        [&] { (void)world.alltoallv(send_buf(v), send_counts(ones), send_displs(displs)); },
        {"alltoallv", "send_displs", problem});
    check.throws<usage_error>(
        [&] {
          world.alltoallv(send_buf(v), send_counts(ones), send_displs(displs), recv_counts(ones),
                          recv_buf(out));
        },
        {"alltoallv", "send_displs", problem});
    build_root_side(
        [&] { (void)world.scatterv(send_buf(v), send_counts(ones), send_displs(displs), recv_count(1)); },
        {"scatterv", "send_displs", problem}, true);
  };
  const auto received = [&](const std::vector<int>& displs, const char* problem) {
    check.throws<usage_error>(
        [&] { (void)world.alltoallv(send_buf(v), send_counts(ones), recv_displs(displs)); },
        {"alltoallv", "recv_displs", problem});
    check.throws<usage_error>(
        [&] { world.allgatherv(send_buf(1), recv_counts(ones), recv_displs(displs), recv_buf(out)); },
        {"allgatherv", "recv_displs", problem});
    check.throws<usage_error>([&] { (void)world.allgatherv(send_buf(1), recv_displs(displs)); },
                              {"allgatherv", "recv_displs", problem});
    build_root_side(
        [&] { world.gatherv(send_buf(1), recv_counts(ones), recv_displs(displs), recv_buf(out)); },
        {"gatherv", "recv_displs", problem}, false);
  };
  for (int again = 0; again < 2; ++again) {
    sent(none, "entries for");
    sent(few, "entries for");
    sent(many, "entries for");
    sent(negative, "negative");
    sent(far, "reaches to element");
    received(none, "entries for");
    received(few, "entries for");
    received(many, "entries for");
    received(negative, "negative");
    // The following calls take the path of repeated calls.
    world.alltoallv(send_buf(v), send_counts(ones), recv_counts(ones), recv_buf(out));
    world.allgatherv(send_buf(1), recv_counts(ones), recv_buf(out));
  }
  check.throws<usage_error>(
      [&] { world.alltoallv(send_buf(v), send_counts(std::vector<int>(p, 2)), recv_buf(out)); },
      {"alltoallv", "send_counts", "reaches to element"});
  check.throws<usage_error>(
      [&] { world.allgatherv(send_buf(1), recv_counts(ones), recv_displs(far), recv_buf(out)); },
      {"allgatherv", "recv_buf"});
}

void roots_out_of_range(const communicator& world) {
  std::vector<int> v(1);
  for (const int q : {-1, world.size(), std::numeric_limits<int>::max()}) {
    check.throws<usage_error>([&] { world.bcast(send_recv_buf(v), root(q)); }, {"bcast", "root", "rank"});
    check.throws<usage_error>([&] { (void)world.reduce(send_buf(v), op(std::plus<>{}), root(q)); },
                              {"reduce", "root"});
    check.throws<usage_error>([&] { (void)world.gather(send_buf(v), root(q)); }, {"gather", "root"});
    check.throws<usage_error>([&] { (void)world.gatherv(send_buf(v), root(q)); }, {"gatherv", "root"});
    check.throws<usage_error>([&] { (void)world.scatter(send_buf(v), recv_count(1), root(q)); },
                              {"scatter", "root"});
    check.throws<usage_error>([&] { (void)world.scatterv<int>(recv_count(1), root(q)); },
                              {"scatterv", "root"});
  }
}

void null_with_a_count(const communicator& world) {
  const std::span<int> null(static_cast<int*>(nullptr), 3);
  std::vector<int> v(3);
  check.throws<usage_error>([&] { (void)world.allreduce(send_buf(null), op(std::plus<>{})); },
                            {"allreduce", "send_buf", "null"});
  check.throws<usage_error>([&] { world.allreduce(send_buf(v), op(std::plus<>{}), recv_buf(null)); },
                            {"allreduce", "recv_buf", "null"});
  check.throws<usage_error>([&] { world.scan(send_recv_buf(null), op(std::plus<>{})); }, {"scan", "null"});
  check.throws<usage_error>([&] { world.bcast(send_recv_buf(null), send_recv_count(3)); }, {"bcast", "null"});
  const std::vector<int> counts(static_cast<std::size_t>(world.size()), 1);
  check.throws<usage_error>(
      [&] {
        const std::span<int> many(static_cast<int*>(nullptr), counts.size());
        world.alltoallv(send_buf(many), send_counts(counts), recv_counts(counts));
      },
      {"alltoallv", "send_buf", "null"});
  // The single block of a vector form.
  const auto p = static_cast<std::size_t>(world.size());
  const std::vector<int> threes(p, 3);
  std::vector<int> all(3 * p);
  check.throws<usage_error>([&] { world.gatherv(send_buf(null), recv_counts(threes)); },
                            {"gatherv", "send_buf", "null"});
  check.throws<usage_error>([&] { world.allgatherv(send_buf(null), recv_counts(threes)); },
                            {"allgatherv", "send_buf", "null"});
  check.throws<usage_error>(
      [&] { world.scatterv(send_buf(all), send_counts(threes), recv_count(3), recv_buf(null)); },
      {"scatterv", "recv_buf", "null"});
  check.throws<usage_error>(
      [&] { world.reduce_scatter(send_buf(all), op(std::plus<>{}), recv_counts(threes), recv_buf(null)); },
      {"reduce_scatter", "recv_buf", "null"});
  check.throws<usage_error>([&] { world.exscan(send_buf(v), op(std::plus<>{}), recv_buf(null)); },
                            {"exscan", "recv_buf", "null"});
  const auto ring =
      world.graph({(world.rank() + world.size() - 1) % world.size()}, {(world.rank() + 1) % world.size()});
  check.throws<usage_error>([&] { (void)ring.neighbor_allgather(send_buf(null)); },
                            {"neighbor_allgather on", "send_buf", "null"});
  check.throws<usage_error>([&] { (void)ring.neighbor_allgatherv(send_buf(null), recv_counts({3})); },
                            {"neighbor_allgatherv", "send_buf", "null"});
  if (world.size() > 1) {
    const auto pair = world.between(1);
    const std::vector<int> counts_there(static_cast<std::size_t>(pair.remote_size()), 3);
    check.throws<usage_error>([&] { (void)pair.allgatherv(send_buf(null), recv_counts(counts_there)); },
                              {"allgatherv", "send_buf", "null"});
  }
  // Empty buffers are not read.
  check.equal(world.allreduce(send_buf(std::span<int>()), op(std::plus<>{})).size(), std::size_t{0});
}

// A rank copies its own block, so it knows both lengths.
void local_blocks_that_differ(const communicator& world) {
  const int me = world.rank();
  const auto self = world.graph({me, me}, {me, me});
  const std::vector<int> v{1, 2, 3, 4};
  std::vector<int> out(4);
  check.throws<usage_error>(
      [&] {
        self.neighbor_alltoallv(send_buf(v), send_counts({3, 1}), recv_counts({1, 3}), recv_buf(out));
      },
      {"neighbor_alltoallv", "recv_counts", "itself"});
  check.throws<usage_error>(
      [&] {
        self.neighbor_allgatherv(send_buf(v), recv_counts({4, 2}));
      },
      {"neighbor_allgatherv", "recv_counts", "itself"});
  check.equal(self.neighbor_alltoallv(send_buf(v), send_counts({3, 1}), recv_counts({3, 1})), v);
  const auto p = static_cast<std::size_t>(world.size());
  const std::vector<int> ones(p, 1);
  const std::vector<layout> four(p, layout::contiguous(4)), eight(p, layout::contiguous(8));
  const std::vector<int> many(2 * p, 5);
  check.throws<usage_error>(
      [&] {
        world.alltoallw(send_buf(many), send_counts(ones), send_types(eight), recv_counts(ones),
                        recv_types(four));
      },
      {"alltoallw", "recv_counts", "itself"});
  auto freed = world.graph({me}, {me});
  freed.free();
  check.throws<usage_error>([&] { (void)freed.duplicate(); }, {"duplicate", "freed"});
  if (world.size() == 1) return;
  auto pair = world.between(1);
  pair.free();
  check.throws<usage_error>([&] { (void)pair.duplicate(); }, {"duplicate", "freed"});
}

void no_identity(const communicator& world) {
  const auto first = [](int a, int) { return a; };
  std::vector<int> v{4};
  const std::string me = "rank " + std::to_string(world.rank());
  check.throws<usage_error>([&] { (void)world.exscan(send_buf(v), op(first)); },
                            {"exscan", "values_on_rank_0", me.c_str()});
  check.throws<usage_error>([&] { (void)world.exscan_single(send_buf(4), op(first)); },
                            {"exscan_single", "values_on_rank_0", me.c_str()});
  check.throws<usage_error>(
      [&] { world.exscan(send_buf(v), op(first), values_on_rank_0(std::vector<int>(v.size() + 1))); },
      {"exscan", "values_on_rank_0", "one for all of them"});
  check.equal(world.exscan(send_buf(v), op(first), values_on_rank_0(9)).front(), world.rank() == 0 ? 9 : 4);
  std::vector<int> result{5};
  world.exscan(send_buf(v), op(first), recv_buf(result));
  check.equal(result.front(), world.rank() == 0 ? 5 : 4);
}

void algorithms_and_parameters(const communicator& world) {
  std::vector<int> v{1};
  check.throws<usage_error>(
      [&] { (void)world.allreduce(send_buf(v), op(std::plus<>{}), algorithm("rings")); },
      {"algorithm", "rings", "known", "ring"});
  check.throws<usage_error>([&] { (void)world.gather(send_buf(v), algorithm("knomial:k=1")); },
                            {"algorithm", "k is 1", "from 2"});
  check.throws<usage_error>([&] { (void)world.gather(send_buf(v), algorithm("knomial:fanout=3")); },
                            {"fanout", "it has k"});
  check.throws<usage_error>([&] { (void)world.gather(send_buf(v), algorithm("knomial:k=x")); },
                            {"not a number"});
  check.throws<usage_error>([&] { (void)world.gather(send_buf(v), algorithm("linear:k=2")); },
                            {"no parameters"});
  check.equal(world.gather(send_buf(v), algorithm("gather/knomial:k=3")).size(),
              static_cast<std::size_t>(world.is_root() ? world.size() : 0));
  check.equal(std::string(world.last_algorithm(collective::gather)), std::string("gather/knomial"));
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("counts_that_overflow", [&] { counts_that_overflow(world); });
    cases("displacements_that_overlap", [&] { displacements_that_overlap(world); });
    cases("displacements_that_are_wrong", [&] { displacements_that_are_wrong(world); });
    cases("roots_out_of_range", [&] { roots_out_of_range(world); });
    cases("null_with_a_count", [&] { null_with_a_count(world); });
    cases("local_blocks_that_differ", [&] { local_blocks_that_differ(world); });
    cases("no_identity", [&] { no_identity(world); });
    cases("algorithms_and_parameters", [&] { algorithms_and_parameters(world); });
    world.barrier();
  });
}
