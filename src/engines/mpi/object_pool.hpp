// SPDX-License-Identifier: Apache-2.0
//
// A pool of reusable objects with stable addresses, for messages that were found and are not
// consumed yet.
#pragma once

#include <memory>
#include <vector>

namespace tutti::mpi {

template <class T>
class object_pool {
 public:
  T& acquire() {
    if (unused_.empty()) [[unlikely]] {
      all_.push_back(std::make_unique<T>());
      unused_.reserve(all_.size());
      return *all_.back();
    }
    T& one = *unused_.back();
    unused_.pop_back();
    return one;
  }
  void release(T& one) noexcept { unused_.push_back(&one); }
  const std::vector<std::unique_ptr<T>>& all() const noexcept { return all_; }

 private:
  std::vector<std::unique_ptr<T>> all_;
  std::vector<T*> unused_;
};

}  // namespace tutti::mpi
