// SPDX-License-Identifier: Apache-2.0
#include "tuning/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "proof/abstract_call.hpp"
#include "proof/formula.hpp"

namespace tutti::tuning {
namespace {

// More segments of a block cost more than they gain.
constexpr std::size_t max_segments = 1024;

// The values to try besides the default.
std::vector<std::uint32_t> values_of(const algorithm_parameter_range& p, int ranks, std::size_t bytes) {
  std::vector<std::uint32_t> values;
  switch (p.which) {
    case algorithm_parameter::k:
    case algorithm_parameter::radix:
      values = {2, 3, 4, 8, 16};
      std::erase_if(values, [&](std::uint32_t v) { return v > static_cast<std::uint32_t>(ranks); });
      break;
    case algorithm_parameter::segment:
      values = {4096, 16384, 65536, 262144};
      std::erase_if(values, [&](std::uint32_t v) { return v >= bytes || bytes / v > max_segments; });
      break;
    case algorithm_parameter::window:
      values = {1, 4, 16};
      std::erase_if(values, [&](std::uint32_t v) { return v >= static_cast<std::uint32_t>(ranks); });
      break;
    case algorithm_parameter::blocks:
      values = {2, 4, 8, 16, 32, 64};
      std::erase_if(values, [&](std::uint32_t v) { return v * 64 > bytes; });
      break;
    default:
      break;
  }
  std::erase_if(values, [&](std::uint32_t v) { return v == p.default_value || v < p.min || v > p.max; });
  return values;
}

// Calls `each` with the default parameters and, if `parameters` is set, with other values of one
// parameter at a time.
template <class Choice, class Entry, class Each>
void for_each_choice(const Entry* e, int ranks, std::size_t bytes, bool parameters, const Each& each) {
  each(Choice(e));
  if (!parameters) return;
  for (const algorithm_parameter_range& p : e->parameters)
    for (const std::uint32_t value : values_of(p, ranks, bytes)) {
      Choice other(e);
      other.parameter_values[static_cast<std::size_t>(p.which)] = value;
      each(other);
    }
}

bool is_expressible(const leaf& l) { return demands_of(l).beyond.empty(); }

}  // namespace

claims claims_of(const choice& c, const agreed_signature& s, std::size_t block) {
  proof::case_options w;
  w.what = s.what;
  w.ranks = s.ranks;
  w.in_place = s.in_place;
  w.ordered = !s.commutative;
  w.parameter_values = c.parameter_values;
  w.count = block;
  w.element_bytes = s.element_size;
  w.blocks = proof::blocks_are::even;
  const proof::variables given = proof::variables_of(proof::make_abstract_call(w));
  return {proof::evaluate_claim(c.pure->rounds, given).value,
          proof::evaluate_claim(c.pure->bytes, given).value};
}

speed fit(const claims& first, double first_us, const claims& second, double second_us) noexcept {
  constexpr double min_alpha = 1e-3, min_beta = 1e-7;
  const double determinant = first.rounds * second.bytes - second.rounds * first.bytes;
  speed v;
  if (std::abs(determinant) > 1e-9) {
    v.alpha = (first_us * second.bytes - second_us * first.bytes) / determinant;
    v.beta = (first.rounds * second_us - second.rounds * first_us) / determinant;
  }
  v.alpha = std::isfinite(v.alpha) ? std::max(v.alpha, min_alpha) : min_alpha;
  v.beta = std::isfinite(v.beta) ? std::max(v.beta, min_beta) : min_beta;
  return v;
}

std::string label(const leaf& l) {
  std::string text(name_of(l));
  const catalogue_entry* const entry = l.named();
  if (entry == nullptr) return text;
  char before = ':';
  for (const algorithm_parameter_range& p : entry->parameters) {
    const std::uint32_t value = l.parameter_values()[static_cast<std::size_t>(p.which)];
    if (value == p.default_value) continue;
    text += before + std::string(name_of(p.which)) + "=" + std::to_string(value);
    before = ',';
  }
  return text;
}

bool precedes(const leaf& a, const leaf& b) {
  const auto key = [](const leaf& l) {
    std::string name = label(l);
    const bool has_parameters = name.find(':') != name.npos;
    return std::tuple(l.what, has_parameters, std::move(name));
  };
  return key(a) < key(b);
}

std::vector<candidate> pure_candidates(const selection_context& s, std::size_t block, bool parameters,
                                       const speed& v) {
  std::vector<candidate> all;
  if (s.native) all.push_back({leaf::native(), "native", 0});
  const auto add = [&](const choice& c) {
    leaf l;
    l.what = leaf::kind::algorithm;
    l.chosen = c;
    if (!permits(l, s) || !is_expressible(l)) return;
    all.push_back({l, label(l), predicted(claims_of(c, s.call, block), v)});
  };
  for (const pure_algorithm* a : catalogue())
    if (a->what == s.call.what)
      for_each_choice<choice>(a, s.call.ranks, block * s.call.element_size, parameters, add);
  return all;
}

std::vector<candidate> composed_candidates(const selection_context& s, std::size_t block, bool parameters) {
  std::vector<candidate> all;
  const auto add = [&](const composed_choice& c) {
    leaf l;
    l.what = leaf::kind::composed;
    l.composed = c;
    if (permits(l, s) && is_expressible(l)) all.push_back({l, label(l), 0});
  };
  for (const composed_algorithm* a : composition_catalogue())
    if (a->what == s.call.what)
      for_each_choice<composed_choice>(a, s.call.ranks, block * s.call.element_size, parameters, add);
  return all;
}

void prune(std::vector<candidate>& all, double factor, const leaf& always) {
  double best = std::numeric_limits<double>::infinity();
  for (const candidate& c : all)
    if (c.use.what == leaf::kind::algorithm) best = std::min(best, c.predicted);
  const std::string always_name = label(always);
  std::erase_if(all, [&](const candidate& c) {
    return c.use.what == leaf::kind::algorithm && c.predicted > factor * best && c.name != always_name;
  });
}

}  // namespace tutti::tuning
