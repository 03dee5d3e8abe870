// SPDX-License-Identifier: Apache-2.0
#include "base/compute/kernels.hpp"

#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Selects wider vectors at load time if the processor has them. Sanitizer code runs before the
// loader has resolved these choices. So builds with sanitizers use the default loops.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define TUTTI_WIDE __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define TUTTI_WIDE
#endif

namespace tutti::compute {
namespace {

struct sum {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct product {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a * b);
  }
};
struct min {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct max {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
struct bit_and {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct bit_or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct bit_xor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct logical_and {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a && b);
  }
};
struct logical_or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a || b);
  }
};
struct logical_xor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(!a != !b);
  }
};

// Integer sums and products wrap as the hardware does, because signed overflow would be undefined.
template <class T>
using wrapping = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::make_unsigned<T>,
                                    std::type_identity<T>>;

template <class Op, class T>
struct loop {
  TUTTI_WIDE static void run(const void* left, const void* right, void* result, std::size_t n, void*) {
    auto* a = static_cast<const T*>(left);
    auto* b = static_cast<const T*>(right);
    auto* c = static_cast<T*>(result);
    if (n == 1) {
      *c = Op::template of<T>(*a, *b);
      return;
    }
    if (c == b) {  // both loops state that there is no overlap, so the compiler omits the check
#pragma GCC ivdep
      for (std::size_t i = 0; i < n; ++i) c[i] = Op::template of<T>(a[i], c[i]);
    } else {
#pragma GCC ivdep
      for (std::size_t i = 0; i < n; ++i) c[i] = Op::template of<T>(a[i], b[i]);
    }
  }
};

template <class Op, class T>
constexpr bool fits = std::is_same_v<Op, bit_and> || std::is_same_v<Op, bit_or> || std::is_same_v<Op, bit_xor>
                          ? std::is_integral_v<T>
                          : true;

template <class Op>
combine_function by_kind(element_kind kind) noexcept {
  const auto pick = []<class T>(std::type_identity<T>) -> combine_function {
    // Unsigned arithmetic gives the same bits for sums and products without undefined overflow.
    if constexpr (!fits<Op, T>)
      return nullptr;
    else if constexpr (std::is_same_v<Op, sum> || std::is_same_v<Op, product>)
      return &loop<Op, typename wrapping<T>::type>::run;
    else
      return &loop<Op, T>::run;
  };
  switch (kind) {
    case element_kind::i8:
      return pick(std::type_identity<std::int8_t>{});
    case element_kind::i16:
      return pick(std::type_identity<std::int16_t>{});
    case element_kind::i32:
      return pick(std::type_identity<std::int32_t>{});
    case element_kind::i64:
      return pick(std::type_identity<std::int64_t>{});
    case element_kind::u8:
      return pick(std::type_identity<std::uint8_t>{});
    case element_kind::u16:
      return pick(std::type_identity<std::uint16_t>{});
    case element_kind::u32:
      return pick(std::type_identity<std::uint32_t>{});
    case element_kind::u64:
      return pick(std::type_identity<std::uint64_t>{});
    case element_kind::f32:
      return pick(std::type_identity<float>{});
    case element_kind::f64:
      return pick(std::type_identity<double>{});
    case element_kind::f80:
      return pick(std::type_identity<long double>{});
    case element_kind::boolean:
      return pick(std::type_identity<bool>{});
    case element_kind::opaque:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

combine_function kernel(builtin_op op, element_kind kind) noexcept {
  switch (op) {
    case builtin_op::user:
      return nullptr;
    case builtin_op::sum:
      return by_kind<sum>(kind);
    case builtin_op::product:
      return by_kind<product>(kind);
    case builtin_op::min:
      return by_kind<min>(kind);
    case builtin_op::max:
      return by_kind<max>(kind);
    case builtin_op::bit_and:
      return by_kind<bit_and>(kind);
    case builtin_op::bit_or:
      return by_kind<bit_or>(kind);
    case builtin_op::bit_xor:
      return by_kind<bit_xor>(kind);
    case builtin_op::logical_and:
      return by_kind<logical_and>(kind);
    case builtin_op::logical_or:
      return by_kind<logical_or>(kind);
    case builtin_op::logical_xor:
      return by_kind<logical_xor>(kind);
  }
  return nullptr;
}

void copy_streaming(void* to, const void* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  auto* d = static_cast<std::byte*>(to);
  auto* s = static_cast<const std::byte*>(from);
  const std::size_t head = (16 - (reinterpret_cast<std::uintptr_t>(d) & 15)) & 15;
  if (bytes < 64 + head) {
    copy(to, from, bytes);
    return;
  }
  std::memcpy(d, s, head);
  d += head, s += head, bytes -= head;
  for (; bytes >= 64; d += 64, s += 64, bytes -= 64) {
    const auto* in = reinterpret_cast<const __m128i*>(s);
    auto* out = reinterpret_cast<__m128i*>(d);
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                  e = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, e);
  }
  std::memcpy(d, s, bytes);
  _mm_sfence();
#else
  copy(to, from, bytes);
#endif
}

}  // namespace tutti::compute
