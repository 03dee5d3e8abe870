// SPDX-License-Identifier: Apache-2.0
//
// After the set-up the kernel has no pages left. The first call of a member that needs pages for
// its slot throws engine_error, and so do later calls on the same communicator. Short calls need
// none.
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <sys/syscall.h>

#include "memory_world.hpp"
#include "support/system_calls.hpp"

namespace {

using namespace tests;
using namespace tutti;

template <class Call>
void expect_error(const Call& make, const std::string& text) {
  try {
    make();
  } catch (const engine_error& e) {
    const std::string what = e.what();
    require(what.find(text) != what.npos && what.find("rank " + std::to_string(here_is.rank)) != what.npos,
            "the error is: " + what);
    return;
  }
  throw std::runtime_error("rank " + std::to_string(here_is.rank) + ": no error with " + text);
}

void use_lines(const communicator& c) {
  const int sum = c.allreduce_single(send_buf(here_is.rank), op(std::plus<>{}), algorithm("native"));
  require(sum == here_is.size * (here_is.size - 1) / 2, "a short allreduce is wrong");
}

void run_out_of_pages() {
  const communicator world = adopt_for_memory();
  auto& memory = endpoint_of(const_cast<communicator&>(world)).memory();
  if (memory.kind() != shm::memory_kind::memfd || !shm::process_memory::can_allocate()) std::exit(skipped);
  const communicator one = world.duplicate(), other = world.duplicate(), third = world.duplicate();
  for (const communicator* c : {&one, &other, &third}) use_lines(*c);
  if (!refuse_system_call(SYS_madvise, ENOMEM).empty()) std::exit(skipped);

  for (const communicator* c : {&one, &other, &third}) use_lines(*c);
  PMPI_Barrier(MPI_COMM_WORLD);
  // The others would wait for the call until the job ends.
  if (here_is.rank == here_is.size - 1) {
    std::vector<int> data(250, 7), results(250);
    const auto bcast = [&](const communicator& c) {
      c.bcast(send_recv_buf(data), send_recv_count(250), root(here_is.rank), algorithm("native"));
    };
    const std::string remedy = "the node has no memory for a slot of 1000 bytes", ended = "an earlier call";
    expect_error([&] { bcast(one); }, remedy);
    expect_error([&] { bcast(one); }, ended);
    expect_error(
        [&] { other.allreduce(send_buf(data), recv_buf(results), op(std::plus<>{}), algorithm("native")); },
        remedy);
    expect_error([&] { use_lines(other); }, ended);
    std::vector<int> all(250 * static_cast<std::size_t>(here_is.size));
    expect_error([&] { third.allgather(send_buf(data), recv_buf(all), algorithm("native")); }, remedy);
    expect_error([&] { third.barrier(algorithm("native")); }, ended);
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  use_lines(world);
}

}  // namespace

int main(int argc, char** argv) { run_test(argc, argv, run_out_of_pages); }
