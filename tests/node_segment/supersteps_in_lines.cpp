// SPDX-License-Identifier: Apache-2.0
//
// supersteps_in_lines [off]: supersteps over MPI of processes that share a node. Their sync
// summaries travel in the lines of the node's memory, with small puts and a small reduction. So a
// superstep makes no other call. Some members use the lines while others make the call, in one step
// or in several. If a member makes another call, all members report an error, and the next calls
// work. "off" sets TUTTI_SHM=off, so that no process has lines.
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "memory_world.hpp"
#include "transport/shm/line_exchange.hpp"
#include "tutti/detail/bsp_abi.hpp"

namespace {

using namespace tests;
using namespace tutti;
using namespace tutti::detail;

using word = std::uint64_t;
using operand = std::array<word, 6>;
static_assert(sizeof(operand) == shm::line_exchange::bytes);

operand add(const operand& a, const operand& b) {
  operand sum{};
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}
void add_operands(const void* left, const void* right, void* result, std::size_t, void*) {
  *static_cast<operand*>(result) =
      add(*static_cast<const operand*>(left), *static_cast<const operand*>(right));
}
operand operand_of(word rank, word round) {
  operand made{};
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = 1000 * round + 10 * rank + i;
  return made;
}

operand add_in_lines(shm::line_exchange& lines, const operand& mine) {
  lines.exchange(here, [&](std::byte* at) { std::memcpy(at, &mine, sizeof mine); });
  operand sum{};
  for (int r = 0; r < here_is.size; ++r) {
    operand other;
    std::memcpy(&other, lines.of(r), sizeof other);
    sum = add(sum, other);
  }
  return sum;
}

operand add_by_call(context& c, const operand& mine, bool in_steps) {
  operand sum{};
  call made;
  made.what = collective::allreduce;
  made.type.size = sizeof(operand);
  made.count = 1;
  made.input = &mine;
  made.output = &sum;
  made.op.combine = add_operands;
  made.op.commutative = true;
  if (!in_steps) {
    c.native(made, here);
    return sum;
  }
  native_state state;
  c.native_begin(made, state);
  c.native_progress(state, true, here);
  return sum;
}

// Each member chooses every time.
void run_mixed(context& c, word first_round) {
  std::optional<shm::line_exchange> lines = c.lines();
  require(lines.has_value(), "members that share a node have no lines");
  for (word round = first_round; round < first_round + 300; ++round) {
    operand expected{};
    for (int r = 0; r < here_is.size; ++r) expected = add(expected, operand_of(static_cast<word>(r), round));
    const auto me = static_cast<word>(here_is.rank);
    const operand mine = operand_of(me, round);
    const word way = (round * (me + 1) + round / 7) % 3;
    const operand sum = way == 0 ? add_in_lines(*lines, mine) : add_by_call(c, mine, way == 1);
    require(sum == expected, "round " + std::to_string(round) + " has a wrong sum");
  }
}

void run_mismatch(context& c) {
  std::optional<shm::line_exchange> lines = c.lines();
  std::string report;
  try {
    if (here_is.rank == 0)
      c.native(call(), here);  // a barrier
    else
      add_in_lines(*lines, {});
  } catch (const mismatch_error& e) {
    report = e.what();
  }
  require(report.find("allreduce of 48 bytes") != std::string::npos, "the mismatch is missing: " + report);
  run_mixed(c, 500);
}

void run_contexts() {
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  const auto job = ep.open(all_ranks(), 0, nullptr);
  run_mixed(*job, 0);
  run_mixed(*ep.open_locally(all_ranks(), {1, 9}), 0);
  run_mismatch(*ep.open_locally(all_ranks(), {2, 9}));
  if (ep.memory().shares_buffers()) {
    ep.memory().set_min_bytes_in_shared_buffers(sizeof(operand));
    require(!ep.open_locally(all_ranks(), {3, 9})->lines(), "calls of several rounds have lines");
  }
  ep.end();
}

// --- supersteps

class section {
 public:
  explicit section(communicator& all)
      : all_(all),
        me_(all.rank()),
        size_(all.size()),
        process_(bsp::abi::open(impl_of(all), true)),
        received_(3, 0) {
    bsp::abi::register_memory(*process_, true, received_.data(), received_.size() * sizeof(word), into_);
    bsp::abi::register_memory(*process_, true, &element_, sizeof element_, of_element_);
    bsp::abi::make_process_set(*process_, 0, size_ - 1, 1, {1, sizeof(word), sizeof(word)}, everyone_);
    bsp::abi::sync(*process_);
  }
  ~section() {
    bsp::abi::leave(*process_);
    bsp::abi::close(process_);
  }
  section(const section&) = delete;
  section& operator=(const section&) = delete;

  /// A superstep in which each process puts `n` values, one to each of the next processes.
  void put(std::size_t n, word value) {
    received_.assign(3, 0);
    const std::vector<word> sent(n, value + static_cast<word>(me_));
    for (std::size_t i = 0; i < n; ++i)
      bsp::abi::put(*process_, &sent[i], (me_ + 1 + static_cast<int>(i)) % size_, into_, i * sizeof(word),
                    sizeof(word));
    sync();
    for (std::size_t i = 0; i < received_.size(); ++i) {
      const int from = (me_ + 3 * size_ - 1 - static_cast<int>(i)) % size_;
      require(received_[i] == (i < n ? value + static_cast<word>(from) : 0),
              "put " + std::to_string(i) + " of " + std::to_string(n) + " is wrong");
    }
  }
  void reduce() {
    element_ = static_cast<word>(me_ + 1);
    operation sum;  // one of the library, so that no process needs to report whether it has thrown
    sum.which = builtin_op::sum;
    sum.commutative = true;
    sum.combine = [](const void* left, const void* right, void* result, std::size_t n, void*) {
      for (std::size_t i = 0; i < n; ++i)
        static_cast<word*>(result)[i] =
            static_cast<const word*>(left)[i] + static_cast<const word*>(right)[i];
    };
    bsp::abi::reduce(*process_, everyone_, &element_, of_element_, 1, element_of<word>(), sum, -1, true);
    sync();
    require(element_ == static_cast<word>(size_ * (size_ + 1) / 2), "a reduction is wrong");
  }
  void sync() { bsp::abi::sync(*process_); }

  std::uint64_t exchanges() const { return endpoint_of(all_).memory().exchanges_in_lines(); }
  /// Whether a superstep has exchanged headers of messages.
  bool had_messages() const { return all_.last_algorithm(collective::alltoall)[0] != '\0'; }
  void require_in_lines(const char* what, const std::function<void()>& superstep) {
    const std::uint64_t before = exchanges();
    superstep();
    require(exchanges() == before + 1, std::string(what) + " is not in lines");
    require(!had_messages(), std::string(what) + " has messages");
  }

 private:
  communicator& all_;
  int me_, size_;
  bsp::process* process_;
  std::vector<word> received_;
  word element_ = 0;
  bsp::slot into_ = bsp::no_slot, of_element_ = bsp::no_slot;
  bsp::process_set_id everyone_ = 0;
};

void run_in_lines(communicator& all) {
  section s(all);
  for (word i = 0; i < 100; ++i) {
    s.require_in_lines("an empty superstep", [&] { s.sync(); });
    s.require_in_lines("a put", [&] { s.put(1, 10 * i); });
    if (here_is.size > 2) s.require_in_lines("two puts", [&] { s.put(2, 10 * i + 1); });
    s.require_in_lines("a reduction", [&] { s.reduce(); });
  }
  s.put(3, 7);
  require(s.had_messages(), "three puts have travelled in a summary");
}

// Process 0 has another collective in progress, so it makes the call. The others use the lines.
void run_busy(communicator& all, communicator& other) {
  section s(all);
  for (word i = 0; i < 100; ++i) {
    const std::vector<int> one(1, 1);
    std::vector<int> sum(1);
    auto begin = [&] { return other.iallreduce(send_buf(one), recv_buf(sum), op(std::plus<>{})); };
    const std::uint64_t before = s.exchanges();
    std::optional<decltype(begin())> pending;
    if (here_is.rank == 0) pending.emplace(begin());
    s.put(i % 4, 10 * i + 1);
    s.reduce();
    require(s.exchanges() == before + (here_is.rank == 0 ? 0 : 2),
            "a busy process uses lines, or others do not");
    if (!pending) pending.emplace(begin());
    pending->wait();
    require(sum[0] == here_is.size, "an iallreduce is wrong");
    s.put(i % 4, 10 * i + 2);
  }
}

void run_without_lines(communicator& all) {
  section s(all);
  for (word i = 0; i < 10; ++i) {
    s.sync();
    s.put(i % 4, 10 * i);
    s.reduce();
  }
  require(s.exchanges() == 0, "there are lines without memory");
}

void run_supersteps(bool has_memory) {
  communicator world = adopt_for_memory();
  communicator one = world.duplicate(), two = world.duplicate();
  { section first(world); }  // the first section measures what a superstep costs, with messages
  if (!has_memory) return run_without_lines(one);
  run_in_lines(one);
  run_busy(two, world);
}

}  // namespace

int main(int argc, char** argv) {
  const bool has_memory = argc < 2 || std::strcmp(argv[1], "off") != 0;
  if (!has_memory) setenv("TUTTI_SHM", "off", 1);
  tests::run_test(argc, argv, [&] {
    if (has_memory) run_contexts();
    run_supersteps(has_memory);
  });
}
