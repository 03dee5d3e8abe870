// SPDX-License-Identifier: Apache-2.0
#include "tutti/error.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/report_text.hpp"

namespace tutti {

using namespace detail;

// The texts are reference-counted, because copying an exception must not throw.
struct error::texts {
  std::string operation, parameter, location, all;
  std::size_t location_index;  // in `all`, the location is inserted at this index
  std::atomic<int> references{1};

  void locate(const std::source_location& at) {
    location = location_text(at);
    if (!location.empty()) all.insert(location_index, " at " + location);
  }
};

error::error(std::string_view operation, int rank, std::string_view parameter, std::string_view problem,
             std::string_view remedy, const std::source_location& at)
    : texts_(nullptr), rank_(rank) {
  auto made = std::make_unique<texts>();
  made->operation = operation;
  made->parameter = parameter;
  std::string& all = made->all;
  all.append(report_prefix).append(operation);
  if (rank >= 0) all.append(" on rank ").append(std::to_string(rank));
  made->location_index = all.size();
  all.append(": ");
  if (!parameter.empty()) all.append(parameter).append(": ");
  all.append(without_prefix(problem));
  if (!remedy.empty()) all.append("; ").append(remedy);
  made->locate(at);
  texts_ = made.release();
}

error::error(const error& other) noexcept : std::exception(other), texts_(other.texts_), rank_(other.rank_) {
  texts_->references.fetch_add(1, std::memory_order_relaxed);
}

error& error::operator=(const error& other) noexcept {
  error copy(other);
  std::swap(texts_, copy.texts_);
  std::swap(rank_, copy.rank_);
  return *this;
}

error::~error() {
  if (texts_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete texts_;
}

// Copies made before this call keep the text without the location.
void error::locate(const std::source_location& at) {
  if (at.line() == 0 || !texts_->location.empty()) return;
  auto made = std::make_unique<texts>();
  made->operation = texts_->operation;
  made->parameter = texts_->parameter;
  made->all = texts_->all;
  made->location_index = texts_->location_index;
  made->locate(at);
  if (texts_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete texts_;
  texts_ = made.release();
}

const char* error::what() const noexcept { return texts_->all.c_str(); }
std::string_view error::operation() const noexcept { return texts_->operation; }
std::string_view error::parameter() const noexcept { return texts_->parameter; }
std::string_view error::location() const noexcept { return texts_->location; }

}  // namespace tutti
