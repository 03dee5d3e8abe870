// SPDX-License-Identifier: Apache-2.0
//
// The jobs of task_jobs.hpp with tutti's tasks, on any engine.
#pragma once

#include <numeric>
#include <span>

#include <tutti/tasks.hpp>
#include <tutti/tutti.hpp>

#include "tasks/task_jobs.hpp"

namespace bench {

class tutti_side {
 public:
  static constexpr int trips = 100;

  tutti_side(tutti::communicator& world, int workers)
      : world_(world), control_(world.duplicate()), workers_(workers) {}
  int rank() const { return world_.rank(); }
  int size() const { return world_.size(); }
  int workers() const { return workers_; }
  void barrier() { control_.barrier(); }
  double max(double mine) {
    return control_.allreduce_single(tutti::send_buf(mine), tutti::op(tutti::ops::max<>{}));
  }

  class empty_tasks {
   public:
    empty_tasks(tutti_side& side, bool with_data) : rt_(side.world_, side.options()) {
      for (unsigned& v : values_)
        if (with_data) data_.push_back(rt_.data(v, side.rank(), tutti::tasks::with_tag(data_.size())));
    }
    void insert(int n) {
      if (data_.empty())
        for (int i = 0; i < n; ++i) rt_.insert([] {});
      else
        for (int i = 0; i < n; ++i)
          rt_.insert([](unsigned&) {}, read_write(data_[static_cast<std::size_t>(i) % data_.size()]));
    }
    void finish() { rt_.wait_all(); }

   private:
    std::vector<unsigned> values_ = std::vector<unsigned>(100);
    tutti::tasks::runtime rt_;
    std::vector<tutti::tasks::handle<unsigned>> data_;
  };

  class stencil {
   public:
    stencil(tutti_side& side, plate& p, bool cached) : rt_(side.world_, side.options()) {
      rt_.cache(cached);
      for (int x = 0; x < plate::side; ++x)
        for (int y = 0; y < plate::side; ++y) {
          const int owner = p.owner(x, y);
          tiles_.push_back(owner == side.rank() ? rt_.data(p.at(x, y), owner)
                                                : rt_.data<std::span<double>>(owner, plate::length));
        }
    }
    void iterate() {
      using const_tile = std::span<const double>;
      for_each_point([&](int x, int y) {
        rt_.insert([](std::span<double> xy, const_tile w, const_tile e, const_tile n,
                      const_tile s) { stencil5(xy.data(), w.data(), e.data(), n.data(), s.data()); },
                   read_write(at(x, y)), read(at(x - 1, y)), read(at(x + 1, y)), read(at(x, y - 1)),
                   read(at(x, y + 1)));
      });
      rt_.wait_all();
    }
    std::uint64_t bytes() const {
      const auto sent = rt_.statistics().bytes_sent;
      return std::accumulate(sent.begin(), sent.end(), std::uint64_t{0});
    }

   private:
    tutti::tasks::handle<std::span<double>>& at(int x, int y) {
      return tiles_[static_cast<std::size_t>(x * plate::side + y)];
    }
    tutti::tasks::runtime rt_;
    std::vector<tutti::tasks::handle<std::span<double>>> tiles_;
  };

  class ping_pong {
   public:
    explicit ping_pong(tutti_side& side)
        : peer_(1 - side.rank()),
          rt_(side.world_, side.options()),
          h_(rt_.data(value_, side.rank(), tutti::tasks::with_tag(side.rank()))) {}
    void blocking() {
      if (peer_ == 1) rt_.send(h_, peer_, 0);
      rt_.recv(h_, peer_, 0);
      if (peer_ == 0) rt_.send(h_, peer_, 0);
    }
    void detached(int trips) {
      for (int t = 0; t < trips; ++t) {
        if (peer_ == 1) rt_.isend_detached(h_, peer_, t);
        rt_.irecv_detached(h_, peer_, t);
        if (peer_ == 0) rt_.isend_detached(h_, peer_, t);
      }
      rt_.wait_all();
    }

   private:
    int peer_;
    unsigned value_ = 0;
    tutti::tasks::runtime rt_;
    tutti::tasks::handle<unsigned> h_;
  };

  class factorization {
   public:
    factorization(tutti_side& side, const task_settings& s)
        : settings_(s), mine_(s.tiles), rt_(side.world_, side.options()), a_(s.tiles) {
      const std::size_t elements = static_cast<std::size_t>(s.length) * static_cast<std::size_t>(s.length);
      cholesky::for_each_place(s.tiles, [&](cholesky::place at) {
        const int owner = cholesky::owner(at, side.size());
        if (owner == side.rank()) {
          mine_[at].resize(elements);
          a_[at] = rt_.data(mine_[at], owner);
        } else {
          a_[at] = rt_.data<std::span<double>>(owner, elements);
        }
      });
    }
    void fill() {
      const int order = settings_.tiles * settings_.length;
      cholesky::for_each_place(settings_.tiles, [&](cholesky::place at) {
        rt_.insert([at, order](cholesky::tile t) { cholesky::fill(t, at, order); }, write(a_[at]));
      });
      rt_.wait_all();
    }
    void factorize() {
      using namespace tutti::tasks;
      cholesky::factorize(settings_.tiles, [&](auto kernel, cholesky::place written, auto... given) {
        rt_.insert(kernel, name(kernel.name), read_write(a_[written]), read(a_[given])...);
      });
      rt_.wait_all();
    }
    const double* tile(cholesky::place at) { return mine_[at].empty() ? nullptr : mine_[at].data(); }

   private:
    const task_settings settings_;
    cholesky::matrix mine_;
    tutti::tasks::runtime rt_;
    cholesky::triangle<tutti::tasks::handle<std::span<double>>> a_;
  };

 private:
  tutti::tasks::options options() const { return {.workers = workers_}; }
  tutti::communicator& world_;
  tutti::communicator control_;
  int workers_;
};

}  // namespace bench
