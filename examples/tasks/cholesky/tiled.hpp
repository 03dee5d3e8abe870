// SPDX-License-Identifier: Apache-2.0
//
// The tiled Cholesky factorization A = L L^T: the kernels, which call BLAS and LAPACK, and the
// order of their calls. The caller decides where and when they run: at once, or as tasks.
//
// A tile is stored by columns. Of a symmetric matrix only the tiles on and below the diagonal are
// stored, and the factor overwrites them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dtrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* beta, double* c, const int* ldc);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
[[gnu::weak]] void openblas_set_num_threads(int n);  // only OpenBLAS has it
}

namespace cholesky {

/// One task runs a tile, so BLAS must not start threads of its own.
inline void one_thread_each() {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
}

using tile = std::span<double>;
using const_tile = std::span<const double>;

inline int side(const_tile t) {
  return static_cast<int>(std::lround(std::sqrt(static_cast<double>(t.size()))));
}
inline constexpr double one = 1, minus_one = -1;

/// Factorizes a tile of the diagonal in place.
struct potrf_kernel {
  static constexpr const char* name = "potrf";
  void operator()(tile a) const {
    const int n = side(a);
    int info = 0;
    dpotrf_("L", &n, a.data(), &n, &info);
    if (info != 0) throw std::domain_error("potrf: the matrix is not positive definite");
  }
};
inline constexpr potrf_kernel potrf;

/// b = b L^-T, where L is the factor of the diagonal tile above it.
struct trsm_kernel {
  static constexpr const char* name = "trsm";
  void operator()(tile b, const_tile l) const {
    const int n = side(b);
    dtrsm_("R", "L", "T", "N", &n, &n, &one, l.data(), &n, b.data(), &n);
  }
};
inline constexpr trsm_kernel trsm;

/// c -= a a^T, for a tile on the diagonal.
struct syrk_kernel {
  static constexpr const char* name = "syrk";
  void operator()(tile c, const_tile a) const {
    const int n = side(c);
    dsyrk_("L", "N", &n, &n, &minus_one, a.data(), &n, &one, c.data(), &n);
  }
};
inline constexpr syrk_kernel syrk;

/// c -= a b^T, for a tile below the diagonal.
struct gemm_kernel {
  static constexpr const char* name = "gemm";
  void operator()(tile c, const_tile a, const_tile b) const {
    const int n = side(c);
    dgemm_("N", "T", &n, &n, &n, &minus_one, a.data(), &n, b.data(), &n, &one, c.data(), &n);
  }
};
inline constexpr gemm_kernel gemm;

/// The position of a tile in the matrix of tiles; row >= column.
struct place {
  int row, column;
};

/// Factorizes tiles x tiles tiles, right-looking. Calls `run(kernel, written, read ...)` for each
/// step; all arguments after the kernel are places.
template <class Run>
void factorize(int tiles, Run&& run) {
  for (int k = 0; k < tiles; ++k) {
    run(potrf, place{k, k});
    for (int i = k + 1; i < tiles; ++i) run(trsm, place{i, k}, place{k, k});
    for (int i = k + 1; i < tiles; ++i) {
      run(syrk, place{i, i}, place{i, k});
      for (int j = k + 1; j < i; ++j) run(gemm, place{i, j}, place{i, k}, place{j, k});
    }
  }
}

/// Returns the rank that owns a tile: block-cyclic over a grid of ranks that is as square as
/// possible.
inline int owner(place at, int p) {
  int rows = 1;
  for (int r = 1; r * r <= p; ++r)
    if (p % r == 0) rows = r;
  const int columns = p / rows;
  return at.row % rows * columns + at.column % columns;
}

inline double operations(int order) { return std::pow(static_cast<double>(order), 3) / 3; }

/// Element (i, j) of a symmetric matrix of this order. It is a value between 0 and 1, plus `order`
/// on the diagonal. So the matrix is positive definite.
inline double element(int i, int j, int order) {
  const int low = i < j ? i : j, high = i < j ? j : i;
  std::uint64_t x = (static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint32_t>(high)) + 1;
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
  return static_cast<double>(x >> 11) * 0x1p-53 + (i == j ? order : 0);
}

/// Fills a tile with the elements of the matrix at that place.
inline void fill(tile t, place at, int order) {
  const int n = side(t);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      t[static_cast<std::size_t>(j) * n + i] = element(at.row * n + i, at.column * n + j, order);
}

/// The tiles on and below the diagonal, by rows.
template <class T>
class triangle {
 public:
  explicit triangle(int tiles) : all_(static_cast<std::size_t>(tiles) * (tiles + 1) / 2) {}
  T& operator[](place p) { return all_[static_cast<std::size_t>(p.row) * (p.row + 1) / 2 + p.column]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<T> all_;
};

template <class Do>
void for_each_place(int tiles, Do&& run) {
  for (int row = 0; row < tiles; ++row)
    for (int column = 0; column <= row; ++column) run(place{row, column});
}

using matrix = triangle<std::vector<double>>;

inline matrix filled(int tiles, int length) {
  matrix a(tiles);
  for_each_place(tiles, [&](place at) {
    a[at].resize(static_cast<std::size_t>(length) * length);
    fill(a[at], at, tiles * length);
  });
  return a;
}

/// Runs the kernels one after the other.
inline void factorize(matrix& a, int tiles) {
  factorize(tiles, [&](auto kernel, place written, auto... read) { kernel(a[written], a[read]...); });
}

/// Returns the scaled residual |A - L L^T| / (|A| n eps), in the Frobenius norm.
inline double residual(matrix& l, int tiles) {
  const int length = side(l[{0, 0}]), order = tiles * length;
  double off = 0, norm = 0;
  std::vector<double> a(static_cast<std::size_t>(length) * length);
  // The kernels do not write above the diagonal of a diagonal tile, so those elements must be
  // cleared.
  matrix low = l;
  for (int k = 0; k < tiles; ++k)
    for (int j = 0; j < length; ++j)
      for (int i = 0; i < j; ++i) low[{k, k}][static_cast<std::size_t>(j) * length + i] = 0;
  for_each_place(tiles, [&](place at) {
    fill(a, at, order);
    const double twice = at.row == at.column ? 1 : 2;
    for (double x : a) norm += twice * x * x;
    for (int k = 0; k <= at.column; ++k) gemm(a, low[{at.row, k}], low[{at.column, k}]);
    for (double x : a) off += twice * x * x;
  });
  return std::sqrt(off / norm) / (order * 0x1p-53);
}

}  // namespace cholesky
