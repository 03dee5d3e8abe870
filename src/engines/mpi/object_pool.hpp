// SPDX-License-Identifier: Apache-2.0
//
// A pool of reusable objects with stable addresses, for messages that were found and are not
// consumed yet.
#pragma once

#include <memory>
#include <vector>

namespace tutti::mpi {

template <class Place>
class object_pool {
 public:
  Place& take() {
    if (unused_.empty()) [[unlikely]] {
      all_.push_back(std::make_unique<Place>());
      unused_.reserve(all_.size());
      return *all_.back();
    }
    Place& one = *unused_.back();
    unused_.pop_back();
    return one;
  }
  void give_back(Place& one) noexcept { unused_.push_back(&one); }
  const std::vector<std::unique_ptr<Place>>& all() const noexcept { return all_; }

 private:
  std::vector<std::unique_ptr<Place>> all_;
  std::vector<Place*> unused_;
};

}  // namespace tutti::mpi
