// SPDX-License-Identifier: Apache-2.0
//
// Draws a simulated call as a Gantt chart: time runs to the right, and each rank is a row. A round
// is a bar: the overheads of its sends, the time until all its transfers are complete, its local
// work. Work on received messages, their overheads and reductions, covers the wait for transfers;
// so does what other rounds of a composition do. A line marks each message of the critical path.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "simulation_report.hpp"
#include "text.hpp"

namespace tutti::tool {
namespace {

using simulation::path_step;
using simulation::simulated_message;
using simulation::simulated_round;

constexpr double left = 64, chart_width = 1000, header = 70, footer = 46;

constexpr const char* style = R"(<style>
  .paper { fill: #ffffff } .lane { fill: #f4f6f8 } .grid { stroke: #d0d7de; stroke-width: 0.6 }
  text { font-family: "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; fill: #1f2328; font-size: 11px }
  .name { font-size: 17px; font-weight: bold } .call { font-size: 12px } .axis { fill: #57606a }
  .sends { fill: #0969da } .transfers { fill: #9ecbff } .work { fill: #bc4c00 }
  .critical { stroke: #cf222e; stroke-width: 1.4; fill: none } .round { stroke: #ffffff; stroke-width: 0.4 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .lane { fill: #161b22 } .grid { stroke: #30363d } text { fill: #e6edf3 }
    .axis { fill: #9ea7b0 } .sends { fill: #58a6ff } .transfers { fill: #1b3a5c } .work { fill: #f0883e }
    .critical { stroke: #ff7b72 } .round { stroke: #0d1117 }
  }
</style>
)";

class chart {
 public:
  explicit chart(const simulation_report& r) : r_(r) {
    row_ = std::clamp(640.0 / r.ranks, 3.0, 20.0);
    scale_ = r.result.seconds > 0 ? chart_width / r.result.seconds : 0;
  }

  std::string draw() {
    const double width = left + chart_width + 24, bottom = header + row_ * r_.ranks;
    const std::string title = fmt::format("{}, {} ranks", r_.name, r_.ranks);
    const std::string call =
        fmt::format("{} bytes on {}: {}", r_.bytes, r_.machine, time_text(r_.result.seconds));
    std::string all = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">{2}</title>\n"
        "<desc id=\"desc\">{3}. Each row is a rank, and each bar one of its rounds.</desc>\n",
        width, bottom + footer, escaped(title), escaped(call));
    all += style;
    all +=
        fmt::format("<rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", width, bottom + footer);
    all += fmt::format(
        "<text class=\"name\" x=\"16\" y=\"28\">{}</text>\n<text class=\"call\" x=\"16\" "
        "y=\"48\">{}</text>\n",
        escaped(title), escaped(call));
    for (int rank = 0; rank < r_.ranks; rank += 2)
      all += fmt::format("<rect class=\"lane\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/>\n",
                         left, y(rank), chart_width, row_);
    all += axis(bottom);
    for (const simulated_round& one : r_.result.rounds)
      all += bars(one, {{"transfers", one.sent, one.received}});
    const std::vector<std::vector<bar>> processed = processed_by_round();
    for (std::size_t i = 0; i < processed.size(); ++i) {
      const simulated_round& one = r_.result.rounds[i];
      std::vector<bar> busy{{"sends", one.begin, one.sent}, {"work", one.received, one.end}};
      busy.insert(busy.end(), processed[i].begin(), processed[i].end());
      all += bars(one, busy);
    }
    for (const path_step& s : r_.result.critical_path())
      if (s.to >= 0)
        all += fmt::format(
            "<path class=\"critical\" d=\"M{:.2f} {:.1f}L{:.2f} {:.1f}\"><title>{} to {}: {} bytes, {} to "
            "{}</title></path>\n",
            x(s.begin), y(s.rank) + row_ / 2, x(s.end), y(s.to) + row_ / 2, s.rank, s.to, s.bytes,
            time_text(s.begin), time_text(s.end));
    return all + key(bottom + 34) + "</svg>\n";
  }

 private:
  double x(double seconds) const { return left + seconds * scale_; }
  double y(int rank) const { return header + row_ * rank; }

  // Vertical lines at round times, and the ranks at the left.
  std::string axis(double bottom) const {
    std::string all;
    const double end = r_.result.seconds;
    if (end > 0) {
      double step = std::pow(10, std::floor(std::log10(end / 4)));
      for (const double factor : {2.0, 2.5, 2.0})
        if (end / step > 10) step *= factor;
      for (double t = 0; t <= end * 1.0001; t += step)
        all += fmt::format(
            "<path class=\"grid\" d=\"M{0:.2f} {1}V{2:.1f}\"/><text class=\"axis\" x=\"{0:.2f}\" "
            "y=\"{3:.1f}\" "
            "text-anchor=\"middle\">{4}</text>\n",
            x(t), header - 4, bottom, bottom + 14, time_text(t));
    }
    const int every = std::max(1, static_cast<int>(std::ceil(12 / row_)));
    for (int rank = 0; rank < r_.ranks; rank += every)
      all += fmt::format("<text class=\"axis\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                         left - 6, y(rank) + std::min(row_, 12.0) - 1, rank);
    return all;
  }

  struct bar {
    const char* kind;
    double from, to;
  };

  // The work on received messages, by round. Work without a gap is one bar.
  std::vector<std::vector<bar>> processed_by_round() const {
    std::vector<std::vector<bar>> all(r_.result.rounds.size());
    for (const simulated_message& m : r_.result.sent)
      if (m.received_in >= 0 && m.process_end > m.process_begin)
        all[static_cast<std::size_t>(m.received_in)].push_back({"work", m.process_begin, m.process_end});
    for (std::vector<bar>& round : all) {
      std::sort(round.begin(), round.end(), [](const bar& a, const bar& b) { return a.from < b.from; });
      std::vector<bar> joined;
      for (const bar& one : round)
        if (!joined.empty() && one.from <= joined.back().to)
          joined.back().to = std::max(joined.back().to, one.to);
        else
          joined.push_back(one);
      round = std::move(joined);
    }
    return all;
  }

  std::string bars(const simulated_round& one, const std::vector<bar>& all) const {
    const double height = row_ - std::min(2.0, row_ / 4);
    std::string text;
    for (const bar& b : all)
      if (b.to > b.from)
        text +=
            fmt::format("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\"/>",
                        b.kind, x(b.from), y(one.rank), (b.to - b.from) * scale_, height);
    if (text.empty()) return text;
    return fmt::format("<g class=\"round\"><title>rank {}, round {}: {} to {}</title>{}</g>\n", one.rank,
                       one.number, time_text(one.begin), time_text(one.end), text);
  }

  static std::string key(double at) {
    std::string all;
    double x = left;
    for (const auto& [kind, text] : {std::pair("sends", "begins its sends"),
                                     {"transfers", "waits for transfers"},
                                     {"work", "receives, copies or reduces"}}) {
      all += fmt::format(
          "<rect class=\"{}\" x=\"{}\" y=\"{:.1f}\" width=\"12\" height=\"10\"/><text x=\"{}\" "
          "y=\"{:.1f}\">{}</text>\n",
          kind, x, at - 9, x + 18, at, text);
      x += 180;
    }
    return all + fmt::format(
                     "<path class=\"critical\" d=\"M{} {:.1f}h20\"/><text x=\"{}\" y=\"{:.1f}\">message of "
                     "the critical path</text>\n",
                     x, at - 4, x + 26, at);
  }

  const simulation_report& r_;
  double row_, scale_;
};

}  // namespace

std::string as_gantt_chart(const simulation_report& r) { return chart(r).draw(); }

}  // namespace tutti::tool
