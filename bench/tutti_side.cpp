// SPDX-License-Identifier: Apache-2.0
//
// Measures tutti's collectives with the protocol that also measures the MPIs' own. compare starts
// it once for each engine.
#include <atomic>
#include <iostream>
#include <string>

#include "protocol.hpp"
#include "tutti/tutti.hpp"

namespace {

class tutti_world {
 public:
  explicit tutti_world(tutti::communicator& world) : world_(world), control_(world.duplicate()) {}

  int rank() const { return world_.rank(); }
  int size() const { return world_.size(); }
  void barrier() { control_.barrier(); }
  double max(double mine) {
    return control_.allreduce_single(tutti::send_buf(mine), tutti::op(tutti::ops::max<>{}));
  }

  template <class Measure>
  bool with(bench::collective which, const bench::buffers& b, Measure&& measure) {
    using namespace tutti;
    using enum bench::collective;
    communicator& w = world_;
    const std::span<double> in(b.in, b.count), out(b.out, b.count);
    const std::span<double> in_block(b.in, b.block), out_block(b.out, b.block);
    const auto plus = std::plus<>{};
    switch (which) {
      case barrier:
        measure([&] { w.barrier(); });
        return true;
      case bcast:
        measure([&] { w.bcast(send_recv_buf(in), send_recv_count(b.count)); });
        return true;
      case reduce:
        measure([&] { w.reduce(send_buf(in), recv_buf(out), op(plus)); });
        return true;
      case allreduce:
        measure([&] { w.allreduce(send_buf(in), recv_buf(out), op(plus)); });
        return true;
      case gather:
        measure([&] { w.gather(send_buf(in_block), recv_buf(out)); });
        return true;
      case scatter:
        measure([&] {
          w.scatter(send_buf(rank() == 0 ? in : in.first(0)), recv_buf(out_block), recv_count(b.block));
        });
        return true;
      case allgather:
        measure([&] { w.allgather(send_buf(in_block), recv_buf(out)); });
        return true;
      case alltoall:
        measure([&] { w.alltoall(send_buf(in), recv_buf(out)); });
        return true;
      case scan:
        measure([&] { w.scan(send_buf(in), recv_buf(out), op(plus)); });
        return true;
      case exscan:
        measure([&] { w.exscan(send_buf(in), recv_buf(out), op(plus)); });
        return true;
      case reduce_scatter:
      case reduce_scatter_block:
        measure([&] { w.reduce_scatter_block(send_buf(in), recv_buf(out_block), op(plus)); });
        return true;
      case bcast_barrier:
        measure([&] {
          w.bcast(send_recv_buf(in), send_recv_count(b.count));
          w.barrier();
        });
        return true;
    }
    return false;
  }

  static double* allocate_shared(std::size_t bytes) {
    return tutti::shared_allocator<double>().allocate(bytes / sizeof(double));
  }
  static void free_shared(double* memory) { tutti::shared_allocator<double>().deallocate(memory, 0); }

  std::string algorithm(bench::collective which, const bench::buffers&) {
    using enum bench::collective;
    const auto one = which == bcast_barrier    ? tutti::collective::bcast
                     : which == reduce_scatter ? tutti::collective::reduce_scatter_block
                                               : named(bench::name(which));
    return world_.last_algorithm(one);
  }

 private:
  static tutti::collective named(std::string_view name) {
    for (std::size_t i = 0; i < tutti::collective_names.size(); ++i)
      if (tutti::collective_names[i] == name) return static_cast<tutti::collective>(i);
    return tutti::collective::barrier;
  }

  tutti::communicator world_, control_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options =
      bench::parse(argc, argv, "Measures tutti's collectives on the engine that TUTTI_ENGINE names.");
  const char* engine = std::getenv("TUTTI_ENGINE");
  std::atomic<bool> good{true};
  const int status = tutti::run(argc, argv, [&](tutti::communicator& world) {
    tutti_world side(world);
    if (!bench::run(side, engine != nullptr ? engine : "tutti", options, std::cout)) good = false;
  });
  return status != 0 ? status : good ? 0 : 1;
}
