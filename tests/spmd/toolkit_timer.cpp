// SPDX-License-Identifier: Apache-2.0
//
// Tests timers and counters: sums, nesting, appended runs, ranks that measure different things,
// both text formats, errors.
#include <chrono>
#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/timer.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

using clock = std::chrono::steady_clock;

void work(double seconds) {
  const auto begun = clock::now();
  while (std::chrono::duration<double>(clock::now() - begun).count() < seconds) {
  }
}

std::string outline(const measurements& all) {
  std::string text;
  for (const measurement& m : all.entries())
    text += std::string(m.depth, '.') + m.name + (m.is_timer ? "! " : " ");
  return text;
}

void counters(communicator& world) {
  const int p = world.size(), me = world.rank();
  timer t(world);
  t.start("a");
  // The number of calls and the amount differ between ranks.
  for (int i = 0; i <= me; ++i) t.count("bytes", 10);
  t.stop();
  t.count("bytes");  // at the top level: another counter
  const measurements all = t.aggregate(timer::per_rank);
  check.equal(outline(all), std::string("a! .bytes bytes "));
  const measurement* m = all.find({"a", "bytes"});
  check.that(m != nullptr && m->depth == 1 && !m->is_timer && m->each.empty());
  check.equal(m->total.min, 10.0);
  check.equal(m->total.max, 10.0 * p);
  check.equal(m->total.sum, 5.0 * p * (p + 1));
  check.equal(m->total.mean, 5.0 * (p + 1));
  check.equal(m->total.ranks, p);
  check.equal(m->calls.sum, p * (p + 1) / 2.0);
  check.equal(m->total_of.size(), static_cast<std::size_t>(p));
  for (int r = 0; r < p; ++r) check.equal(m->total_of[static_cast<std::size_t>(r)], 10.0 * (r + 1));
  check.equal(all.find({"bytes"})->total.sum, 1.0 * p);
  check.that(all.find({}) == nullptr && all.find({"bytes", "bytes"}) == nullptr &&
             all.find({"b"}) == nullptr);
  check.that(t.aggregate().find({"bytes"})->total_of.empty());
  check.equal(timer(world).aggregate().entries().size(), std::size_t{0});
}

void times(communicator& world) {
  timer t(world);
  const auto begun = clock::now();
  for (int i = 0; i < 3; ++i) {
    const auto outer = t.scoped("outer");
    t.start("inner");
    work(0.0002);
    t.stop_and_append();
    t.start("inner");  // summed but not appended
    t.stop();
  }
  const double most = std::chrono::duration<double>(clock::now() - begun).count();
  const measurements all = t.aggregate();
  const measurement *outer = all.find({"outer"}), *inner = all.find({"outer", "inner"});
  check.equal(outer->calls.min, 3.0);
  check.equal(inner->calls.max, 6.0);
  check.that(inner->total.min >= 3 * 0.0002);
  check.that(outer->total.mean >= inner->total.mean && outer->total.max >= inner->total.max);
  check.that(outer->total.max <= world.allreduce_single(send_buf(most), op(ops::max<>{})) + 1e-6);
  check.that(outer->total.min <= outer->total.mean + 1e-12 && outer->total.mean <= outer->total.max + 1e-12);
  check.equal(inner->each.size(), std::size_t{3});
  for (const measurement::spread& s : inner->each) check.that(s.min >= 0.0002 && s.ranks == world.size());
  check.that(outer->each.empty());
}

// Rank r also measures what lower ranks do not.
void different(communicator& world) {
  const int p = world.size(), me = world.rank();
  timer t(world);
  t.start("all");
  if (me % 2 == 1) t.count("odd", me);
  t.count("common", 2);
  t.stop();
  for (int r = 1; r <= me; ++r) {
    t.start("after " + std::to_string(r));
    if (r == me) t.start("last"), t.stop_and_append();
    t.stop();
  }
  if (me == p - 1) t.start("all"), t.stop_and_append();
  for (int twice = 0; twice < 2; ++twice) {
    const measurements all = t.aggregate(timer::per_rank);
    std::string expected = p > 1 ? "all! .common .odd " : "all! .common ";
    for (int r = 1; r < p; ++r) expected += "after " + std::to_string(r) + "! .last! ";
    check.equal(outline(all), expected);
    check.equal(all.find({"all"})->total.ranks, p);
    check.equal(all.find({"all"})->each.size(), std::size_t{1});
    check.equal(all.find({"all"})->each[0].ranks, 1);
    check.equal(all.find({"all", "common"})->total.mean, 2.0);
    if (p > 1) {
      const measurement* odd = all.find({"all", "odd"});
      check.equal(odd->total.ranks, p / 2);
      check.equal(odd->total.min, 1.0);
      check.that(std::isnan(odd->total_of[0]) && odd->total_of[1] == 1);
    }
    for (int r = 1; r < p; ++r) {
      const std::string name = "after " + std::to_string(r);
      check.equal(all.find({name})->total.ranks, p - r);
      check.equal(all.find({name, "last"})->each[0].ranks, 1);
    }
  }
}

void texts(communicator& world) {
  const int p = world.size();
  timer t(world);
  t.start("sort \"it\"");
  t.count("elements", 12345);
  if (world.is_root()) t.count("files");
  t.stop_and_append();
  const measurements all = t.aggregate(timer::per_rank);
  std::ostringstream printed;
  all.print(printed);
  check.equal(printed.str(), all.text());
  std::istringstream lines(all.text());
  std::string head, first, line;
  std::getline(lines, head);
  std::getline(lines, first);
  check.equal(head.size(), first.size());
  check.that(head.find("mean") != std::string::npos && first.rfind("sort \"it\" [s]", 0) == 0);
  const std::string text = all.text();
  check.that(text.find("\n  elements") != std::string::npos && text.find("12345") != std::string::npos);
  if (p > 1) check.that(text.find("1 of " + std::to_string(p)) != std::string::npos, text);

  const auto read = nlohmann::json::parse(all.json());
  check.equal(read["ranks"].get<int>(), p);
  const auto& sort = read["measurements"][0];
  check.equal(sort["name"].get<std::string>(), std::string("sort \"it\""));
  check.equal(sort["kind"].get<std::string>(), std::string("timer"));
  check.equal(sort["each"].size(), std::size_t{1});
  check.equal(sort["inside"][0]["total"]["sum"].get<double>(), 12345.0 * p);
  check.equal(sort["inside"][1]["total"]["ranks"].get<int>(), 1);
  if (p > 1) check.that(sort["inside"][1]["total_of"][1].is_null());
  check.equal(sort["inside"][1]["kind"].get<std::string>(), std::string("counter"));
  check.that(nlohmann::json::parse(measurements().json())["measurements"].empty());
}

// No rank's time begins before the last rank has arrived.
void synchronized(communicator& world) {
  timer t(world);
  if (world.is_root()) work(0.002);
  const auto came = clock::now().time_since_epoch().count();
  t.start_synchronized("together");
  const auto began = clock::now().time_since_epoch().count();
  t.stop();
  check.that(began >= world.allreduce_single(send_buf(came), op(ops::max<>{})));
  check.equal(t.aggregate().find({"together"})->calls.sum, 1.0 * world.size());
}

void misuse(communicator& world) {
  timer t(world);
  check.throws<usage_error>([&] { t.stop(); }, {"timer::stop", "no timer runs"});
  check.throws<usage_error>([&] { t.stop_and_append(); }, {"timer::stop_and_append", "no timer runs"});
  t.start("x");
  check.throws<usage_error>([&] { (void)t.aggregate(); }, {"timer::aggregate", "\"x\" runs"});
  check.throws<usage_error>([&] { t.clear(); }, {"timer::clear", "\"x\" runs"});
  t.stop();
  try {
    const auto s = t.scoped("outer");
    t.start("left open");
    throw std::runtime_error("passes by");
  } catch (const std::runtime_error&) {
  }
  check.equal(outline(t.aggregate()), std::string("x! outer! .left open! "));
  timer other = std::move(t);
  other.clear();
  check.equal(other.aggregate().entries().size(), std::size_t{0});
  other.start("again"), other.stop();
  check.equal(outline(other.aggregate()), std::string("again! "));
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("counters", [&] { counters(world); });
    cases("times", [&] { times(world); });
    cases("different", [&] { different(world); });
    cases("texts", [&] { texts(world); });
    cases("synchronized", [&] { synchronized(world); });
    cases("misuse", [&] { misuse(world); });
  });
}
