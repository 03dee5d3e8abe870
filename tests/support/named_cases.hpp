// SPDX-License-Identifier: Apache-2.0
//
// The named cases that one rank runs, in the same order on all ranks. With --only NAME it runs the
// case NAME and all cases whose names continue with a '/'.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "support/failure_report.hpp"
#include "tutti/error.hpp"

namespace tests {

/// The exception of a failed case.
class failed_case : public std::runtime_error {
 public:
  failed_case(std::string name, const std::string& what)
      : std::runtime_error(name + ": " + what), name_(std::move(name)) {}
  const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
};

class cases {
 public:
  explicit cases(std::string only = selected_case()) : only_(std::move(only)) {}

  /// `name`: a text, or a function that returns one and is called only if necessary.
  template <class Name, class Body>
  void operator()(Name&& name, Body&& body) {
    if (!only_.empty() && !is_selected(text(name))) return;
    ++ran_;
    try {
      body();
    } catch (const tutti::peer_error&) {
      throw;  // this rank has not failed
    } catch (const std::exception& e) {
      throw failed_case(text(name), e.what());
    }
  }

  /// Called at the end: an unknown name must not count as success.
  void expect_some() const {
    if (ran_ == 0) throw std::runtime_error("there is no case \"" + only_ + "\"");
  }

 private:
  template <class Name>
  static std::string text(Name&& name) {
    if constexpr (requires { name(); })
      return name();
    else
      return std::string(name);
  }
  bool is_selected(std::string_view name) const {
    return name.starts_with(only_) && (name.size() == only_.size() || name[only_.size()] == '/');
  }

  std::string only_;
  std::size_t ran_ = 0;
};

}  // namespace tests
