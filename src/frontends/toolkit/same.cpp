// SPDX-License-Identifier: Apache-2.0
#include "tutti/same.hpp"

#include <algorithm>
#include <vector>

#include "communicator/internal_calls.hpp"

namespace tutti::detail {

bool same_range(const communicator& ranks, const void* data, std::size_t n, std::size_t bytes,
                equal_function equal) {
  struct length {
    std::size_t n;
    std::size_t same;
    bool operator==(const length&) const = default;
  };
  const auto agree = [](const length& a, const length& b) {
    return length{a.n, static_cast<std::size_t>(a.same != 0 && b.same != 0 && a.n == b.n)};
  };
  if (ranks.allreduce_single(send_buf(length{n, 1}), op(agree, ops::commutative)).same == 0) return false;
  const deferred_rejections steps(count_of_deferrals(impl_of(ranks)));
  if (n == 0) return true;

  const std::byte* mine = static_cast<const std::byte*>(data);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 20) / bytes);  // elements
  const bool root = ranks.is_root();
  std::vector<std::byte> received(root ? 0 : std::min(chunk, n) * bytes);
  // The root compares its elements with themselves, so NaN counts as different there too.
  bool same = true;
  for (std::size_t at = 0; at < n; at += chunk) {
    const std::size_t size = std::min(chunk, n - at);
    const std::byte* local = mine + at * bytes;
    call c;
    c.what = collective::bcast;
    c.label = "is_same_on_all_ranks";
    c.count = size * bytes;
    c.input = c.output = root ? const_cast<std::byte*>(local) : received.data();
    run_call(detail::impl_of(ranks), c);
    same = same && equal(local, c.output, size);
  }
  return ranks.allreduce_single(send_buf(same), op(std::logical_and<>{}));
}

}  // namespace tutti::detail
