// SPDX-License-Identifier: Apache-2.0
//
// KaMPIng's timers and counters over tutti's (timer.hpp). They print tutti's table or JSON.
#pragma once

#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/kamping/communicator.hpp"
#include "tutti/timer.hpp"

namespace kamping::measurements {

/// The aggregation over the ranks. The printers print all of them in any case, except gather,
/// which costs an allgather for each name.
enum class GlobalAggregationMode { min, max, sum, gather };

/// Prints on one rank as JSON: {"config": {name: text}, "data": the result of
/// tutti::measurements::json()}.
template <class Duration = double>
class SimpleJsonPrinter {
 public:
  using config = std::vector<std::pair<std::string, std::string>>;
  SimpleJsonPrinter() : SimpleJsonPrinter(std::cout) {}
  explicit SimpleJsonPrinter(std::ostream& to, config information = {})
      : to_(to), config_(std::move(information)) {}
  void print(const tutti::measurements& all) {
    to_ << "{\n\"config\": {";
    const char* separator = "";
    for (const auto& [name, text] : config_) {
      to_ << separator << '"' << escaped(name) << "\": \"" << escaped(text) << '"';
      separator = ", ";
    }
    to_ << "},\n\"data\": " << all.json() << "}\n";
  }

 private:
  static std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
      if (c == '"' || c == '\\') safe += '\\';
      safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return safe;
  }

  std::ostream& to_;
  config config_;
};

/// Prints on one rank one line per number: outer.inner.max=0.25
class FlatPrinter {
 public:
  FlatPrinter() : FlatPrinter(std::cout) {}
  explicit FlatPrinter(std::ostream& to) : to_(to) {}
  void print(const tutti::measurements& all) {
    std::vector<std::string> path;
    for (const tutti::measurement& m : all.entries()) {
      path.resize(static_cast<std::size_t>(m.depth));
      path.push_back(m.name);
      std::string name;
      for (const std::string& part : path) name += part + '.';
      to_ << name << "min=" << m.total.min << '\n' << name << "max=" << m.total.max << '\n';
      to_ << name << "sum=" << m.total.sum << '\n';
      for (std::size_t r = 0; r < m.total_of.size(); ++r) to_ << name << r << '=' << m.total_of[r] << '\n';
    }
  }

 private:
  std::ostream& to_;
};

namespace internal {

/// The common base of timers and counters. It requests the communicator only after MPI is
/// initialized.
template <class Comm>
class measuring {
 public:
  measuring() = default;
  explicit measuring(const Comm& comm) : comm_(comm) {}

  void clear() { tree().clear(); }
  void enable() noexcept { enabled_ = true; }
  void disable() noexcept { enabled_ = false; }
  /// Collective: the measurements of all ranks.
  tutti::measurements aggregate(std::source_location at = std::source_location::current()) {
    return kamping::internal::translating([&] {
      return tree().aggregate(gathers_ ? tutti::timer::extent::per_rank : tutti::timer::extent::over_ranks,
                              at);
    });
  }
  /// Collective; prints at the root.
  template <class Printer>
  void aggregate_and_print(Printer&& printer, std::source_location at = std::source_location::current()) {
    const tutti::measurements all = aggregate(at);
    if (comm_->is_root()) printer.print(all);
  }

 protected:
  tutti::timer& tree() {
    if (!comm_) comm_.emplace();
    if (!tree_) tree_.emplace(comm_->tutti_communicator());
    return *tree_;
  }
  void note(const std::vector<GlobalAggregationMode>& modes) {
    for (const GlobalAggregationMode m : modes) gathers_ = gathers_ || m == GlobalAggregationMode::gather;
  }
  template <class F>
  void when_enabled(F&& f) {
    if (enabled_) kamping::internal::translating(f);
  }

 private:
  std::optional<Comm> comm_;
  std::optional<tutti::timer> tree_;
  bool enabled_ = true, gathers_ = false;
};

}  // namespace internal

/// Measures parts of a program, nested.
template <class Comm = Communicator<>>
class Timer : public internal::measuring<Comm> {
 public:
  using internal::measuring<Comm>::measuring;
  void start(const std::string& key) {
    this->when_enabled([&] { this->tree().start(key); });
  }
  /// Collective: starts after a barrier.
  void synchronize_and_start(const std::string& key) {
    this->when_enabled([&] { this->tree().start_synchronized(key); });
  }
  void stop(const std::vector<GlobalAggregationMode>& modes = {}) {
    this->note(modes);
    this->when_enabled([&] { this->tree().stop(); });
  }
  void stop_and_add(const std::vector<GlobalAggregationMode>& modes = {}) { stop(modes); }
  void stop_and_append(const std::vector<GlobalAggregationMode>& modes = {}) {
    this->note(modes);
    this->when_enabled([&] { this->tree().stop_and_append(); });
  }
};

/// Counts. Appended amounts are summed.
template <class Comm = Communicator<>>
class Counter : public internal::measuring<Comm> {
 public:
  using internal::measuring<Comm>::measuring;
  template <class Amount>
  void add(const std::string& key, Amount amount, const std::vector<GlobalAggregationMode>& modes = {}) {
    this->note(modes);
    this->when_enabled([&] { this->tree().count(key, static_cast<double>(amount)); });
  }
  template <class Amount>
  void append(const std::string& key, Amount amount, const std::vector<GlobalAggregationMode>& modes = {}) {
    add(key, amount, modes);
  }
};

/// The timer of this process over the world, which all KaMPIng code shares; over MPI it is that of
/// one rank.
inline Timer<>& timer() {
  static Timer<> one;
  return one;
}
inline Counter<>& counter() {
  static Counter<> one;
  return one;
}

}  // namespace kamping::measurements
