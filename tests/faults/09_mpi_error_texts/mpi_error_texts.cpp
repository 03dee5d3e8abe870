// SPDX-License-Identifier: Apache-2.0
//
// Calls whose error MPI reports by a chain of causes of more than 512 characters: mpi_error_texts CASE.
#include <string_view>
#include <vector>

#include <tutti/tutti.hpp>

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  return tutti::run(argc, argv, [&](tutti::communicator& world) {
    using namespace tutti;
    const auto p = static_cast<std::size_t>(world.size()), self = static_cast<std::size_t>(world.rank());
    const int sends = world.rank() == 1 ? 5 : 2;
    if (what == "counts") {  // rank 1 sends more than the others expect
      std::vector<int> gives(p, sends), takes(p, 2);
      takes[self] = sends;
      world.alltoallv(send_buf(std::vector<int>(p * 5)), send_counts(gives), recv_counts(takes));
    } else if (what == "blocks") {
      const std::size_t block = world.rank() == 1 ? 500 : 200;
      world.alltoall(send_buf(std::vector<int>(p * block)), algorithm("native"));
    }
  });
}
