// SPDX-License-Identifier: Apache-2.0
//
// Tests layouts and counts that do not fit their buffers. All ranks reject the call before it
// accesses memory outside a container, and the communicator stays usable.
#include <limits>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

// Two ints, 12 bytes apart. An item ends 16 bytes after its begin, and the next one begins after 20
// bytes.
layout strided() { return layout::vector(2, 1, 3, type_of<int>()).resized(20); }
layout backwards() { return layout::indexed({{0, 1}, {-1, 1}}, type_of<int>()).resized(12); }

template <class Call>
void refused(Call&& call, std::initializer_list<const char*> words,
             const std::source_location& at = std::source_location::current()) {
  check.throws<usage_error>(call, words, at);
}

void beyond_what_is_sent(const communicator& world) {
  const int p = world.size(), items = 2 * p;
  const ints holds(static_cast<std::size_t>(5 * items - 1));  // exactly what 2 * p items need
  const ints counts(static_cast<std::size_t>(p), 2);
  ints displs;
  for (int r = 0; r < p; ++r) displs.push_back(2 * r);
  const layout item = strided();
  world.alltoall(send_buf(holds), send_type(item), send_count(2));  // fits exactly
  world.alltoallv(send_buf(holds), send_type(item), send_counts(counts), send_displs(displs));
  refused([&] { (void)world.allgather(send_buf(holds), send_type(item), send_count(items + 1)); },
          {"allgather", "send_count", "reach to byte", "rank"});
  refused([&] { (void)world.alltoall(send_buf(holds), send_type(item), send_count(3)); },
          {"alltoall", "send_count", "reach to byte"});
  refused([&] { (void)world.allgatherv(send_buf(holds), send_type(item), send_count(items + 1)); },
          {"allgatherv", "send_count"});
  refused([&] { (void)world.allgather(send_buf(holds), send_type(item), send_count(-2)); },
          {"send_count", "negative: -2"});
  refused(
      [&] {
        (void)world.allreduce(send_buf(holds), send_type(item), send_count(items + 1), op(std::plus<>{}));
      },
      {"allreduce", "send_count"});
  ints more = counts;
  more.back() = 3;
  refused([&] { (void)world.alltoallv(send_buf(holds), send_type(item), send_counts(more)); },
          {"alltoallv", "send_counts", "3 items", "reach to byte"});
  displs.back() += 1;
  refused(
      [&] {
        (void)world.alltoallv(send_buf(holds), send_type(item), send_counts(counts), send_displs(displs));
      },
      {"alltoallv", "send_counts"});
  displs.back() = -1;
  refused(
      [&] {
        (void)world.alltoallv(send_buf(holds), send_type(item), send_counts(counts), send_displs(displs));
      },
      {"alltoallv", "send_displs", "negative"});
  more.back() = -1;
  refused([&] { (void)world.alltoallv(send_buf(holds), send_type(item), send_counts(more)); },
          {"send_counts", "negative"});
  more.push_back(1);
  more[0] = 0;
  more[static_cast<std::size_t>(p) - 1] = 0;
  refused([&] { (void)world.alltoallv(send_buf(holds), send_type(item), send_counts(more)); },
          {"send_counts", "entries for"});
  const auto huge = std::numeric_limits<long long>::max();
  refused([&] { (void)world.allgather(send_buf(holds), send_type(item), send_count(huge)); }, {"send_count"});
  refused([&] { (void)world.allgather(send_buf(holds), send_type(type_of<int>()), send_count(huge / 8)); },
          {"send_count", "reach"});
  // An item that begins before its buffer.
  refused([&] { (void)world.allgather(send_buf(holds), send_type(backwards()), send_count(1)); },
          {"allgather", "send_type", "4 bytes before"});
  // Only the root is wrong, so the others learn of it while they wait for their counts.
  const ints few(3);
  if (world.is_root())
    refused([&] { (void)world.scatter(send_buf(few), send_type(item), send_count(1)); },
            {"scatter", "send_count", "reach to byte"});
  else
    check.throws<peer_error>([&] { (void)world.scatter<int>(); }, {"scatter", "rank 0"});
  if (world.is_root())
    refused([&] { (void)world.scatterv(send_buf(few), send_type(item), send_counts(counts)); },
            {"scatterv", "send_counts"});
  else
    check.throws<peer_error>([&] { (void)world.scatterv<int>(); }, {"scatterv", "rank 0"});
}

void beyond_what_is_received(const communicator& world) {
  const int p = world.size();
  const layout item = strided();
  const ints two = {1, 2};
  ints holds(static_cast<std::size_t>(5 * p - 1), -1);
  world.allgather(send_buf(two), recv_buf(holds), recv_type(item));
  ints few(static_cast<std::size_t>(5 * p - 2), -1);
  refused([&] { world.allgather(send_buf(two), recv_buf(few), recv_type(item)); },
          {"allgather", "recv_buf", "reach to byte"});
  refused([&] { world.allgatherv(send_buf(two), recv_buf(few), recv_type(item)); },
          {"allgatherv", "recv_buf"});
  refused(
      [&] {
        (void)world.alltoall_init(send_buf(ints(static_cast<std::size_t>(2 * p))), recv_buf(few),
                                  recv_type(item));
      },
      {"alltoall_init", "recv_buf"});
  check.equal(few, ints(few.size(), -1));
  std::vector<std::size_t> displs;
  for (int r = 0; r < p; ++r) displs.push_back(static_cast<std::size_t>(p - 1 - r));
  world.allgatherv(send_buf(two), recv_buf(holds), recv_type(item), recv_displs(displs));
  displs[0] = static_cast<std::size_t>(p);
  refused([&] { world.allgatherv(send_buf(two), recv_buf(holds), recv_type(item), recv_displs(displs)); },
          {"allgatherv", "recv_buf", "from index"});
  displs[0] = std::numeric_limits<std::size_t>::max();
  refused(
      [&] { world.iallgatherv(send_buf(two), recv_buf(holds), recv_type(item), recv_displs(displs)).wait(); },
      {"iallgatherv", "recv_buf", "address"});
  if (p > 1) {
    displs[0] = displs[1];
    refused([&] { world.allgatherv(send_buf(two), recv_buf(holds), recv_type(item), recv_displs(displs)); },
            {"allgatherv", "recv_displs", "over block"});
  }
  ints negative(static_cast<std::size_t>(p), -1);
  refused([&] { world.allgatherv(send_buf(two), recv_buf(holds), recv_type(item), recv_displs(negative)); },
          {"recv_displs", "negative"});
  refused([&] { world.allgatherv(send_buf(two), recv_buf(holds), recv_type(item), recv_counts(negative)); },
          {"recv_counts", "negative"});
  negative.push_back(0);
  refused([&] { world.allgatherv(send_buf(two), recv_buf(holds), recv_type(item), recv_displs(negative)); },
          {"recv_displs", "entries for"});
  refused([&] { world.allgather(send_buf(two), recv_buf(holds), recv_type(backwards())); },
          {"allgather", "recv_type", "before"});
  // The message is no whole number of items.
  refused([&] { world.allgather(send_buf(1), recv_buf(holds), recv_type(layout::contiguous(2, item))); },
          {"allgather", "recv_type", "not a whole number"});
  refused([&] { world.allgather(send_buf(two), recv_buf(holds), recv_type(layout())); },
          {"allgather", "recv_type", "not a whole number"});
}

void in_place(const communicator& world) {
  const int p = world.size();
  const layout item = strided();
  ints few(static_cast<std::size_t>(5 * p - 2), -1);
  refused([&] { world.allgather(send_recv_buf(few), send_recv_type(item), send_recv_count(1)); },
          {"allgather", "send_recv_count", "reach to byte"});
  refused([&] { world.alltoall(send_recv_buf(few), send_recv_type(item), send_recv_count(1)); },
          {"alltoall", "send_recv_count"});
  refused(
      [&] {
        world.allreduce(send_recv_buf(few), send_recv_type(item), send_recv_count(p), op(std::plus<>{}));
      },
      {"allreduce", "send_recv_count"});
  const ints ones(static_cast<std::size_t>(p), 1);
  refused([&] { world.allgatherv(send_recv_buf(few), send_recv_type(item), recv_counts(ones)); },
          {"allgatherv", "recv_counts"});
  refused([&] { world.alltoallv(send_recv_buf(few), send_recv_type(item), recv_counts(ones)); },
          {"alltoallv", "recv_counts"});
  refused([&] { world.bcast(send_recv_buf(few), send_recv_type(item), send_recv_count(p)); },
          {"bcast", "send_recv_"});
  check.equal(few, ints(few.size(), -1));
}

struct sample {
  double value;
  int kind, more;
};

void elements_that_do_not_fit(const communicator& world) {
  const std::vector<sample> v(2);
  const layout kinds = layout::structure({{offsetof(sample, kind), type_of<int>()}}, sizeof(sample));
  // An int is no whole sample, and this call would return samples.
  refused([&] { (void)world.allgather(send_buf(v), send_type(kinds), send_count(2)); },
          {"allgather", "send_type", "4 bytes", "16"});
  std::vector<sample> w(static_cast<std::size_t>(2 * world.size()));
  refused([&] { (void)world.iallgather(send_buf(v), recv_buf(w), recv_type(kinds)); },
          {"iallgather", "recv_type", "4 bytes"});
  const auto either = [](const sample& a, const sample&) { return a; };
  refused(
      [&] {
        world.allreduce(send_buf(v), send_type(kinds), send_count(2), recv_buf(w), recv_type(kinds),
                        op(either));
      },
      {"allreduce", "_type", "4 bytes"});
  // There is no value that rank 0 could get.
  ints x(4);
  const auto either_int = [](int a, int) { return a; };
  refused([&] { (void)world.exscan(send_buf(x), send_type(type_of<int>()), send_count(1), op(either_int)); },
          {"exscan", "values_on_rank_0"});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("sent", [&] { beyond_what_is_sent(world); });
    cases("received", [&] { beyond_what_is_received(world); });
    cases("in_place", [&] { in_place(world); });
    cases("elements", [&] { elements_that_do_not_fit(world); });
    world.barrier();
  });
}
