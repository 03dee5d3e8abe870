// SPDX-License-Identifier: Apache-2.0
//
// A Fourier transform in one superstep. The numbers are distributed cyclically, before and after:
// process s holds the numbers s, s + p, s + 2p, ... So a process with n numbers holds the input of
// n / p transforms of p numbers. One exchange then brings together the input of one transform of n
// numbers on each process.
//
// Sources: Cooley, Tukey 1965; Inda, Bisseling 2001 (the cyclic distribution).
#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include <tutti/bsp.hpp>

namespace {

namespace bsp = tutti::bsp;
using number = std::complex<double>;

/// Returns the k-th power of the n-th root of unity.
number root_of_unity(std::size_t n, std::size_t k) {
  return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
}

/// Transforms any number of values on one process, by the least prime factor of the length.
std::vector<number> transform(const std::vector<number>& x) {
  const std::size_t n = x.size();
  std::size_t q = 2;
  while (q < n && n % q != 0) ++q;
  if (n < 2) return x;
  std::vector<number> result(n), part(n / q);
  for (std::size_t r = 0; r < q; ++r) {
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = x[q * i + r];
    const std::vector<number> of_part = q < n ? transform(part) : part;
    for (std::size_t k = 0; k < n; ++k) result[k] += root_of_unity(n, r * k) * of_part[k % part.size()];
  }
  return result;
}

/// Transforms n numbers per process; n is a multiple of p.
void transform(bsp::context& ctx, std::vector<number>& x) {
  const auto p = static_cast<std::size_t>(ctx.nprocs()), s = static_cast<std::size_t>(ctx.pid());
  const std::size_t n = x.size(), block = n / p;
  std::vector<number> sent(n), received(n), column(p);
  for (std::size_t i = 0; i < block; ++i) {
    for (std::size_t k = 0; k < p; ++k) column[k] = x[k * block + i];
    column = transform(column);
    for (std::size_t k = 0; k < p; ++k)
      sent[k * block + i] = column[k] * root_of_unity(n * p, (s + p * i) * k);
  }
  ctx.alltoall(sent, received);
  ctx.sync();
  for (std::size_t k = 0; k < p; ++k)
    for (std::size_t i = 0; i < block; ++i) x[k + p * i] = received[k * block + i];
  x = transform(x);
}

number sample(std::size_t j) { return {std::sin(0.1 * static_cast<double>(j * j % 1009)), 1.0 / (1.0 + j)}; }

/// One value of the transform, by its definition.
number frequency(std::size_t n, std::size_t k) {
  number sum = 0;
  for (std::size_t j = 0; j < n; ++j) sum += sample(j) * root_of_unity(n, j * k);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  return bsp::run(argc, argv, [](bsp::context& ctx) {
    const auto p = static_cast<std::size_t>(ctx.nprocs()), s = static_cast<std::size_t>(ctx.pid());
    std::vector<number> x(16 * p);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = sample(s + p * i);
    transform(ctx, x);
    double error = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      error = std::max(error, std::abs(x[i] - frequency(x.size() * p, s + p * i)));
    ctx.allreduce(error, tutti::ops::max<>{});
    ctx.sync();
    if (!(error < 1e-9 * static_cast<double>(x.size() * p)))
      throw std::runtime_error("fft: differs from the definition");
    if (s == 0) fmt::print("fft of {} numbers on {} processes: equal to the definition\n", x.size() * p, p);
  });
}
