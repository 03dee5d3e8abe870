// SPDX-License-Identifier: Apache-2.0
#include "communicator/packed_blocks.hpp"

#include <algorithm>

namespace tutti::detail {

void packed_blocks::open(side& s, const layout* types, counts_view& counts, counts_view& displs) {
  s.types = types;
  if (types == nullptr || !counts.given()) return;
  const std::size_t n = counts.size();
  s.items.resize(n), s.displs.resize(n), s.bytes.resize(n), s.packed_displs.resize(n);
  bool gaps = false;
  std::size_t at = 0, packed = 0;
  for (std::size_t i = 0; i < n; ++i) {
    s.items[i] = counts[i];
    s.displs[i] = displs.given() ? displs[i] : at;
    s.bytes[i] = counts[i] * types[i].size();
    s.packed_displs[i] = packed;
    at += counts[i] * types[i].extent();
    packed += s.bytes[i];
    gaps = gaps || !types[i].is_contiguous();
  }
  if (gaps) s.packed.reset(new std::byte[std::max<std::size_t>(packed, 1)]);
  counts = {s.bytes.data(), n};
  displs = gaps ? counts_view{s.packed_displs.data(), n} : counts_view{s.displs.data(), n};
}

packed_blocks::packed_blocks(const call& c)
    : input_(static_cast<const std::byte*>(c.input)), output_(static_cast<std::byte*>(c.output)), made_(c) {
  made_.in_types = made_.out_types = nullptr;
  if (!c.in_place) open(in_, c.in_types, made_.in_counts, made_.in_displs);
  open(out_, c.out_types, made_.out_counts, made_.out_displs);
  if (in_.packed) made_.input = in_.packed.get();
  if (out_.packed) made_.output = out_.packed.get();
  if (c.in_place) {
    made_.input = made_.output;
    made_.in_counts = made_.out_counts;
    made_.in_displs = made_.out_displs;
  }
}

void packed_blocks::pack() const noexcept {
  const side& s = made_.in_place ? out_ : in_;
  if (!s.packed) return;
  const std::byte* from = made_.in_place ? output_ : input_;
  for (std::size_t i = 0; i < s.items.size(); ++i)
    s.types[i].pack(from + s.displs[i], s.items[i], s.packed.get() + s.packed_displs[i]);
}

void packed_blocks::unpack() const noexcept {
  if (!out_.packed) return;
  for (std::size_t i = 0; i < out_.items.size(); ++i)
    out_.types[i].unpack(out_.packed.get() + out_.packed_displs[i], out_.items[i], output_ + out_.displs[i]);
}

}  // namespace tutti::detail
