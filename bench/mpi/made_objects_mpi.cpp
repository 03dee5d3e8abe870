// SPDX-License-Identifier: Apache-2.0
//
// Measures short collectives with a datatype or an operator that is made for the call and freed
// after it, as in the BLACS of ScaLAPACK. The program does not know tutti. It checks the results.
//
//   mpirun -n 2 made_objects_openmpi
//   tutti preload -- mpirun -n 2 made_objects_openmpi
//
// A time is that of one call on the slowest rank, with what it makes and frees: the least of the
// medians of several batches.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>

namespace {

struct figure {
  std::string name;
  double ns = 0;
};

void require(bool good, const char* what) {
  if (good) return;
  fmt::print(stderr, "made_objects: wrong result of {}\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

double measure(MPI_Comm comm, int repetitions, int batches, const std::function<void(int)>& operation) {
  constexpr int samples = 15;
  double best = 0;
  for (int b = 0; b < batches; ++b) {
    std::vector<double> times;
    for (int s = 0; s < samples; ++s) {
      MPI_Barrier(comm);
      const double begin = MPI_Wtime();
      for (int i = 0; i < repetitions; ++i) operation(i);
      double mine = MPI_Wtime() - begin, slowest = 0;
      MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
      times.push_back(slowest * 1e9 / repetitions);
    }
    std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
    if (b == 0 || times[samples / 2] < best) best = times[samples / 2];
  }
  return best;
}

void larger(void* in, void* inout, int* n, MPI_Datatype* /*type*/) {
  const auto* a = static_cast<const double*>(in);
  auto* b = static_cast<double*>(inout);
  for (int i = 0; i < *n; ++i) b[i] = std::max(a[i], b[i]);
}

class calls {
 public:
  calls() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  calls(const calls&) = delete;
  calls& operator=(const calls&) = delete;
  ~calls() { MPI_Comm_free(&comm_); }

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  void allreduce(MPI_Op op, int seed) {
    const double mine = rank_ + seed;
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, comm_);
    require(all == (op == MPI_SUM ? size_ * (size_ - 1) / 2.0 + size_ * static_cast<double>(seed)
                                  : size_ - 1.0 + seed),
            "allreduce");
  }
  void reduce(MPI_Op op, int seed) {
    const double mine = rank_ + seed;
    double all = 0;
    const int root = seed % size_;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, op, root, comm_);
    require(rank_ != root || all == size_ - 1.0 + seed, "reduce");
  }
  /// Three columns of two doubles, eight doubles apart.
  void bcast(MPI_Datatype type, int seed) {
    const int root = seed % size_;
    matrix_[17] = rank_ == root ? seed : -1;
    MPI_Bcast(matrix_, 1, type, root, comm_);
    require(matrix_[17] == seed, "bcast");
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  double matrix_[24] = {};
};

template <class Use>
void with_operator(Use use) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(larger, 1, &op);
  use(op);
  MPI_Op_free(&op);
}

MPI_Datatype make_columns() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 2, 8, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

std::vector<figure> measure_all(calls& on, int repetitions, int batches) {
  std::vector<figure> all;
  const auto add = [&](const char* name, const std::function<void(int)>& operation) {
    all.push_back({name, measure(on.comm(), repetitions, batches, operation)});
  };
  add("allreduce, MPI_SUM", [&](int i) { on.allreduce(MPI_SUM, i); });
  add("allreduce, operator of the call",
      [&](int i) { with_operator([&](MPI_Op op) { on.allreduce(op, i); }); });
  add("reduce, operator of the call", [&](int i) { with_operator([&](MPI_Op op) { on.reduce(op, i); }); });
  add("operator without a call, allreduce, MPI_SUM", [&](int i) {
    with_operator([](MPI_Op) {});
    on.allreduce(MPI_SUM, i);
  });
  MPI_Datatype kept = make_columns();
  add("bcast, datatype of all calls", [&](int i) { on.bcast(kept, i); });
  MPI_Type_free(&kept);
  add("bcast, datatype of the call", [&](int i) {
    MPI_Datatype type = make_columns();
    on.bcast(type, i);
    MPI_Type_free(&type);
  });
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  int repetitions = 2000, batches = 15;
  bool json = false;
  CLI::App app(
      "Measures short collectives whose datatype or operator is made for the call.\n\nExample: tutti preload "
      "-- mpirun -n 2 made_objects_openmpi --json");
  app.add_option("--repetitions", repetitions, "calls between two readings of the clock")
      ->check(CLI::PositiveNumber);
  app.add_option("--batches", batches, "number of batches, of which the best counts")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", json, "print JSON");
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  {
    calls on;
    const std::vector<figure> figures = measure_all(on, repetitions, batches);
    if (on.rank() == 0 && json) {
      nlohmann::json out{{"ranks", on.size()}, {"figures", nlohmann::json::array()}};
      for (const figure& f : figures) out["figures"].push_back({{"name", f.name}, {"ns", f.ns}});
      fmt::print("{}\n", out.dump(2));
    } else if (on.rank() == 0) {
      fmt::print("{:<45} {:>6}\n", fmt::format("p = {}", on.size()), "ns");
      for (const figure& f : figures) fmt::print("{:<45} {:>6.0f}\n", f.name, f.ns);
    }
  }
  MPI_Finalize();
}
