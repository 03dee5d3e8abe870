// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/error.hpp"

#include <atomic>
#include <string>
#include <utility>

namespace tutti {

// Counted, since an exception must be copied without one.
struct error::texts {
  std::string operation, parameter, all;
  std::atomic<int> holders{1};
};

error::error(std::string_view operation, int rank, std::string_view parameter, std::string_view problem,
             std::string_view remedy)
    : texts_(new texts{std::string(operation), std::string(parameter), {}}), rank_(rank) {
  std::string& all = texts_->all;
  all.append("tutti: ").append(operation);
  if (rank >= 0) all.append(" on rank ").append(std::to_string(rank));
  all.append(": ");
  if (!parameter.empty()) all.append(parameter).append(": ");
  all.append(problem);
  if (!remedy.empty()) all.append("; ").append(remedy);
}

error::error(const error& other) noexcept : std::exception(other), texts_(other.texts_), rank_(other.rank_) {
  texts_->holders.fetch_add(1, std::memory_order_relaxed);
}

error& error::operator=(const error& other) noexcept {
  error copy(other);
  std::swap(texts_, copy.texts_);
  std::swap(rank_, copy.rank_);
  return *this;
}

error::~error() {
  if (texts_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete texts_;
}

const char* error::what() const noexcept { return texts_->all.c_str(); }
std::string_view error::operation() const noexcept { return texts_->operation; }
std::string_view error::parameter() const noexcept { return texts_->parameter; }

}  // namespace tutti
