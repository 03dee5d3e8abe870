// SPDX-License-Identifier: Apache-2.0
//
// Runs the jobs of tasks/task_jobs.hpp with StarPU-MPI's tasks, Debian's version, over Open MPI:
// `mpirun.openmpi -n 2 tasks_starpu`. It is built if pkg-config finds starpumpi-1.3. A rank has
// `workers` threads that run kernels. Its own thread inserts tasks, and a thread of StarPU
// communicates.
//
// The variables are those with which it was fastest here. Workers are not bound to cores, because
// both ranks would take the first one.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#include <array>
#include <cstdlib>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>
#include <starpu_mpi.h>

#include "tasks/task_program.hpp"

namespace {

using data = starpu_data_handle_t;

// A kernel for StarPU: its function and the access modes of its buffers.
template <class Function, std::size_t Buffers>
starpu_codelet codelet(Function run, std::array<starpu_data_access_mode, Buffers> modes) {
  starpu_codelet c;
  starpu_codelet_init(&c);
  c.cpu_funcs[0] = run;
  c.nbuffers = static_cast<int>(Buffers);
  for (std::size_t i = 0; i < Buffers; ++i) c.modes[i] = modes[i];
  return c;
}
double* doubles(void* buffer) { return reinterpret_cast<double*>(STARPU_VECTOR_GET_PTR(buffer)); }
std::size_t count(void* buffer) { return STARPU_VECTOR_GET_NX(buffer); }

// `where`: null if another rank has the contents.
data vector_data(double* where, std::size_t length, int tag, int owner) {
  data h = nullptr;
  starpu_vector_data_register(&h, where != nullptr ? STARPU_MAIN_RAM : -1, reinterpret_cast<uintptr_t>(where),
                              static_cast<uint32_t>(length), sizeof(double));
  starpu_mpi_data_register(h, tag, owner);
  return h;
}

void require(int code) {
  if (code != 0) throw std::runtime_error(fmt::format("StarPU-MPI: error {}", code));
}

class starpu_side {
 public:
  static constexpr int trips = 20;

  explicit starpu_side(int workers) : workers_(workers) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = workers;
    require(starpu_mpi_init_conf(nullptr, nullptr, 0, MPI_COMM_WORLD, &conf));
  }
  ~starpu_side() { starpu_mpi_shutdown(); }
  int rank() const { return rank_; }
  int size() const { return size_; }
  int workers() const { return workers_; }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
  double max(double mine) {
    double largest = 0;
    MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
  }

  class empty_tasks {
   public:
    empty_tasks(starpu_side& side, bool with_data) : rank_(side.rank_) {
      for (unsigned& v : values_) {
        if (!with_data) break;
        data_.emplace_back();
        starpu_variable_data_register(&data_.back(), STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(&v),
                                      sizeof v);
        starpu_mpi_data_register(data_.back(), static_cast<int>(data_.size()), rank_);
      }
    }
    ~empty_tasks() {
      for (data h : data_) starpu_data_unregister(h);
    }
    void insert(int n) {
      if (data_.empty())
        for (int i = 0; i < n; ++i)
          starpu_mpi_task_insert(MPI_COMM_WORLD, &nothing_, STARPU_EXECUTE_ON_NODE, rank_, 0);
      else
        for (int i = 0; i < n; ++i)
          starpu_mpi_task_insert(MPI_COMM_WORLD, &one_, STARPU_RW,
                                 data_[static_cast<std::size_t>(i) % data_.size()], 0);
    }
    void finish() { starpu_task_wait_for_all(); }

   private:
    int rank_;
    std::vector<unsigned> values_ = std::vector<unsigned>(100);
    std::vector<data> data_;
    starpu_codelet nothing_ = codelet([](void**, void*) {}, std::array<starpu_data_access_mode, 0>{});
    starpu_codelet one_ = codelet([](void**, void*) {}, std::array{STARPU_RW});
  };

  class stencil {
   public:
    stencil(starpu_side& side, bench::plate& p, bool cached) : size_(side.size_) {
      if (!cached) starpu_mpi_cache_set(0);
      for (int x = 0; x < bench::plate::side; ++x)
        for (int y = 0; y < bench::plate::side; ++y) {
          double* const mine = p.at(x, y).empty() ? nullptr : p.at(x, y).data();
          tiles_.push_back(
              vector_data(mine, bench::plate::length, static_cast<int>(tiles_.size()), p.owner(x, y)));
        }
      before_ = sent();
    }
    ~stencil() {
      for (data h : tiles_) starpu_data_unregister(h);
    }
    void iterate() {
      bench::for_each_point([&](int x, int y) {
        require(starpu_mpi_task_insert(MPI_COMM_WORLD, &kernel_, STARPU_RW, at(x, y), STARPU_R, at(x - 1, y),
                                       STARPU_R, at(x + 1, y), STARPU_R, at(x, y - 1), STARPU_R, at(x, y + 1),
                                       0));
      });
      starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    }
    std::uint64_t bytes() const { return sent() - before_; }

   private:
    data at(int x, int y) { return tiles_[static_cast<std::size_t>(x * bench::plate::side + y)]; }
    std::uint64_t sent() const {
      std::vector<std::size_t> to(static_cast<std::size_t>(size_));
      starpu_mpi_comm_amounts_retrieve(to.data());
      std::uint64_t all = 0;
      for (const std::size_t n : to) all += n;
      return all;
    }
    int size_;
    std::uint64_t before_ = 0;
    std::vector<data> tiles_;
    starpu_codelet kernel_ = codelet(
        [](void** b, void*) {
          bench::stencil5(doubles(b[0]), doubles(b[1]), doubles(b[2]), doubles(b[3]), doubles(b[4]));
        },
        std::array{STARPU_RW, STARPU_R, STARPU_R, STARPU_R, STARPU_R});
  };

  class ping_pong {
   public:
    explicit ping_pong(starpu_side& side) : peer_(1 - side.rank_) {
      starpu_variable_data_register(&h_, STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(&value_),
                                    sizeof value_);
    }
    ~ping_pong() { starpu_data_unregister(h_); }
    void blocking() {
      if (peer_ == 1) starpu_mpi_send(h_, peer_, 0, MPI_COMM_WORLD);
      starpu_mpi_recv(h_, peer_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (peer_ == 0) starpu_mpi_send(h_, peer_, 0, MPI_COMM_WORLD);
    }
    void detached(int trips) {
      for (int t = 0; t < trips; ++t) {
        if (peer_ == 1) starpu_mpi_isend_detached(h_, peer_, t, MPI_COMM_WORLD, nullptr, nullptr);
        starpu_mpi_irecv_detached(h_, peer_, t, MPI_COMM_WORLD, nullptr, nullptr);
        if (peer_ == 0) starpu_mpi_isend_detached(h_, peer_, t, MPI_COMM_WORLD, nullptr, nullptr);
      }
      starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    }

   private:
    int peer_;
    unsigned value_ = 0;
    data h_ = nullptr;
  };

  class factorization {
   public:
    factorization(starpu_side& side, const bench::task_settings& s)
        : settings_(s), mine_(s.tiles), a_(s.tiles) {
      const std::size_t elements = static_cast<std::size_t>(s.length) * static_cast<std::size_t>(s.length);
      cholesky::for_each_place(s.tiles, [&](cholesky::place at) {
        const int owner = cholesky::owner(at, side.size_);
        if (owner == side.rank_) mine_[at].resize(elements);
        a_[at] = vector_data(owner == side.rank_ ? mine_[at].data() : nullptr, elements,
                             at.row * s.tiles + at.column, owner);
      });
    }
    ~factorization() {
      for (data h : a_) starpu_data_unregister(h);
    }
    void fill() {
      const int order = settings_.tiles * settings_.length;
      cholesky::for_each_place(settings_.tiles, [&](cholesky::place at) {
        require(starpu_mpi_task_insert(MPI_COMM_WORLD, &fill_, STARPU_VALUE, &at, sizeof at, STARPU_VALUE,
                                       &order, sizeof order, STARPU_W, a_[at], 0));
      });
      starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    }
    void factorize() {
      cholesky::factorize(settings_.tiles, [&](auto kernel, cholesky::place written, auto... given) {
        insert(codelet_of(kernel), a_[written], a_[given]...);
      });
      starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    }
    // StarPU guarantees the contents only after unregistration, but it keeps owned data where it
    // was registered.
    const double* tile(cholesky::place at) {
      if (mine_[at].empty()) return nullptr;
      starpu_data_acquire(a_[at], STARPU_R);
      starpu_data_release(a_[at]);
      return mine_[at].data();
    }

   private:
    void insert(starpu_codelet& c, data w) {
      require(starpu_mpi_task_insert(MPI_COMM_WORLD, &c, STARPU_RW, w, 0));
    }
    void insert(starpu_codelet& c, data w, data r) {
      require(starpu_mpi_task_insert(MPI_COMM_WORLD, &c, STARPU_RW, w, STARPU_R, r, 0));
    }
    void insert(starpu_codelet& c, data w, data r, data s) {
      require(starpu_mpi_task_insert(MPI_COMM_WORLD, &c, STARPU_RW, w, STARPU_R, r, STARPU_R, s, 0));
    }
    template <class Kernel>
    starpu_codelet& codelet_of(Kernel) {
      if constexpr (std::is_same_v<Kernel, cholesky::potrf_kernel>)
        return potrf_;
      else if constexpr (std::is_same_v<Kernel, cholesky::trsm_kernel>)
        return trsm_;
      else if constexpr (std::is_same_v<Kernel, cholesky::syrk_kernel>)
        return syrk_;
      else
        return gemm_;
    }
    static cholesky::tile tile_of(void* b) { return {doubles(b), count(b)}; }

    const bench::task_settings settings_;
    cholesky::matrix mine_;
    cholesky::triangle<data> a_;
    starpu_codelet fill_ = codelet(
        [](void** b, void* arguments) {
          cholesky::place at{};
          int order = 0;
          starpu_codelet_unpack_args(arguments, &at, &order);
          cholesky::fill(tile_of(b[0]), at, order);
        },
        std::array{STARPU_W});
    starpu_codelet potrf_ =
        codelet([](void** b, void*) { cholesky::potrf(tile_of(b[0])); }, std::array{STARPU_RW});
    starpu_codelet trsm_ = codelet([](void** b, void*) { cholesky::trsm(tile_of(b[0]), tile_of(b[1])); },
                                   std::array{STARPU_RW, STARPU_R});
    starpu_codelet syrk_ = codelet([](void** b, void*) { cholesky::syrk(tile_of(b[0]), tile_of(b[1])); },
                                   std::array{STARPU_RW, STARPU_R});
    starpu_codelet gemm_ =
        codelet([](void** b, void*) { cholesky::gemm(tile_of(b[0]), tile_of(b[1]), tile_of(b[2])); },
                std::array{STARPU_RW, STARPU_R, STARPU_R});
  };

 private:
  int rank_ = 0, size_ = 1, workers_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::task_program program(
      "Measures jobs of tasks over StarPU-MPI.\n\nExample: mpirun.openmpi -n 2 tasks_starpu");
  if (const auto code = program.parse(argc, argv)) return *code;
  for (const auto& [name, value] : {std::pair{"STARPU_WORKERS_NOBIND", "1"},
                                    {"STARPU_MPI_NOBIND", "1"},
                                    {"STARPU_COMM_STATS", "1"},
                                    {"STARPU_SILENT", "1"}})
    setenv(name, value, 0);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  {
    starpu_side side(program.workers);
    program.run(side, "StarPU-MPI");
  }
  MPI_Finalize();
}
