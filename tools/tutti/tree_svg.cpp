// SPDX-License-Identifier: Apache-2.0
//
// Draws decision trees as SVG: a block for each collective, with its regions from top to bottom in
// the order of evaluation. The thresholds and choices of a region are to its right, one row for
// each leaf. The same choice has the same color everywhere.
#include "tree_svg.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "text.hpp"
#include "tree_words.hpp"

namespace tutti::tool {
namespace {

constexpr double row = 26, line = 14, left = 16, region_width = 330, split_width = 96, label_width = 92,
                 gap = 22, leaf_height = 20;
constexpr double char_width = 6.3;  // width of a character of a label
constexpr std::size_t region_chars = 48;

constexpr const char* style = R"(<style>
  .paper { fill: #ffffff } .band { fill: #f4f6f8 }
  text { font-family: "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; fill: #1f2328; font-size: 11px }
  .name { font-size: 17px; font-weight: bold } .collective { font-size: 14px; font-weight: bold }
  .quiet { fill: #57606a } .number { font-weight: bold; fill: #57606a }
  .region { fill: #ffffff; stroke: #8c959f } .split { fill: #ffffff; stroke: #57606a }
  .link { fill: none; stroke: #8c959f; stroke-width: 1.3 } .leaf { stroke: #57606a; stroke-width: 0.8 }
  .plain { fill: #e7eaee } .c0 { fill: #cfe3fb } .c1 { fill: #fde0c5 } .c2 { fill: #d2f0d6 } .c3 { fill: #f9d2dc }
  .c4 { fill: #e3d9f7 } .c5 { fill: #fbf0bf } .c6 { fill: #c9eeee } .c7 { fill: #ecdcc8 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .band { fill: #161b22 } text { fill: #e6edf3 } .quiet, .number { fill: #9ea7b0 }
    .region, .split { fill: #0d1117 } .link { stroke: #6e7681 }
    .plain { fill: #30363d } .c0 { fill: #1b3a5c } .c1 { fill: #5a3514 } .c2 { fill: #1d4526 } .c3 { fill: #5a2233 }
    .c4 { fill: #3d2f66 } .c5 { fill: #4f4410 } .c6 { fill: #174747 } .c7 { fill: #4a3824 }
  }
</style>
)";

// The notation of documents: 65536 is 64K.
std::string short_number(std::uint64_t n) {
  for (const auto& [shift, unit] : {std::pair(30, "G"), {20, "M"}, {10, "K"}})
    if (n != 0 && n % (std::uint64_t{1} << shift) == 0) return fmt::format("{}{}", n >> shift, unit);
  return std::to_string(n);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  const std::string all = wrapped(text, 0, region_chars);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    lines.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

class tree_drawing {
 public:
  tree_drawing(const document& d, std::string_view title, std::string_view only)
      : d_(d), title_(title), only_(only) {}

  std::string draw() {
    double y = 48;
    for (const tree_half half : {tree_half::composition, tree_half::pure}) y = draw_half(half, y);
    const double width = std::max(widest_ + left, 560.0), height = y + 12;
    std::string all = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">{2}</title>\n"
        "<desc id=\"desc\">Decision trees: the first region of a collective that matches a call "
        "applies.</desc>\n",
        width, height, escaped(title_));
    all += style;
    all += fmt::format("<rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", width, height);
    for (std::size_t i = 0; i < bands_.size(); i += 2)
      all += fmt::format("<rect class=\"band\" x=\"0\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.1f}\"/>\n",
                         bands_[i].first, width, bands_[i].second);
    all += fmt::format("<text class=\"name\" x=\"{}\" y=\"30\">{}</text>\n", left, escaped(title_));
    return all + body_ + "</svg>\n";
  }

 private:
  double draw_half(tree_half half, double y) {
    const bool pure = half == tree_half::pure;
    std::string quiet;  // collectives whose tree chooses no composition
    bool any = false;
    for (std::size_t c = 0; c < collective_names.size(); ++c) {
      const std::vector<tree_region>& regions = d_.of(half)[c];
      const std::string_view name = collective_names[c];
      if (regions.empty() || (!only_.empty() && name != only_)) continue;
      if (!any && pure) y = heading("pure: which algorithm runs", y);
      if (!pure && regions.size() == 1 && regions[0].then.is_leaf() &&
          regions[0].then.use.what == leaf::kind::pure) {
        quiet += (quiet.empty() ? "" : ", ") + std::string(name);
        continue;
      }
      if (!any && !pure) y = heading("composition: which inner calls a call makes", y);
      any = true;
      y = draw_collective(name, regions, static_cast<collective>(c), y);
    }
    if (quiet.empty()) return y;
    if (!any) y = heading("composition: which inner calls a call makes", y);
    for (const std::string& one : lines_of("always the pure tree: " + quiet)) {
      text("quiet", left, y + 10, one);
      y += line + 2;
    }
    return y + 10;
  }

  double heading(std::string_view words, double y) {
    text("collective quiet", left, y + 12, std::string(words));
    return y + 26;
  }

  double draw_collective(std::string_view name, const std::vector<tree_region>& regions, collective what,
                         double y) {
    const double top = y;
    text("collective", left, y + 18, std::string(name));
    y += 28;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const tree_region& r = regions[i];
      const std::vector<std::string> words = lines_of(r.when.mask != 0 ? words_for(r.when, d_.conditions)
                                                      : i == 0         ? "every call"
                                                                       : "every other call");
      const double box = static_cast<double>(words.size()) * line + 8;
      const double height = std::max(height_of(r.then), box + 4), middle = y + height / 2;
      body_ += fmt::format("<g><title>{}{}</title>", escaped(place_of(r.from)),
                           r.when.mask == 0 ? "" : ": " + escaped(to_string(r.when, d_.conditions)));
      text("number", left, middle + 4, std::to_string(i + 1));
      body_ += fmt::format(
          "<rect class=\"region\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" rx=\"4\"/>", left + 18,
          middle - box / 2, region_width, box);
      for (std::size_t k = 0; k < words.size(); ++k)
        text("", left + 26, middle - box / 2 + line * static_cast<double>(k + 1) + 1, words[k]);
      body_ += "</g>\n";
      draw_node(r.then, what, left + 18 + region_width, middle, y + (height - height_of(r.then)) / 2, "");
      y += height + 4;
    }
    bands_.push_back({top, y + 6 - top});
    return y + 12;
  }

  static double height_of(const tree_node& n) {
    if (n.is_leaf()) return row;
    double all = 0;
    for (const tree_step& s : n.steps) all += height_of(s.then);
    return all;
  }

  // Draws a node whose rows begin at `top`, and the link to it from (x, from).
  void draw_node(const tree_node& n, collective what, double x, double from, double top,
                 const std::string& label) {
    const double middle = top + height_of(n) / 2;
    const double at = x + gap + (label.empty() ? 0 : label_width);
    body_ += fmt::format(
        "<path class=\"link\" d=\"M{0:.1f} {1:.1f}C{2:.1f} {1:.1f} {0:.1f} {3:.1f} {2:.1f} "
        "{3:.1f}H{4:.1f}\"/>",
        x, from, x + gap, middle, at);
    if (!label.empty()) text("quiet", x + gap + 2, middle - 4, label);
    if (n.is_leaf()) return draw_leaf(n.use, what, at, middle);
    body_ += fmt::format(
        "<rect class=\"split\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"10\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
        at, middle - leaf_height / 2, split_width, leaf_height, at + split_width / 2, middle + 4,
        name_of(n.by));
    double y = top;
    for (const tree_step& s : n.steps) {
      const std::string words = s.upper_bound != tree_step::open ? "up to " + short_number(s.upper_bound)
                                : &s == n.steps.data()           ? "any"
                                                       : "above " + short_number((&s - 1)->upper_bound);
      draw_node(s.then, what, at + split_width, middle, y, words);
      y += height_of(s.then);
    }
  }

  void draw_leaf(const leaf& l, collective what, double at, double middle) {
    const std::string words = words_for(l);
    const double width = static_cast<double>(words.size()) * char_width + 16;
    const catalogue_entry* const entry = l.named();
    body_ += fmt::format(
        "<g><title>{}: {}{}</title><rect class=\"leaf {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{}\" rx=\"3\"/>",
        escaped(place_of(l.from)), name_of(what),
        entry != nullptr ? " by " + escaped(to_string(l)) + ". " + escaped(entry->idea) : "", color_of(entry),
        at, middle - leaf_height / 2, width, leaf_height);
    text("", at + 8, middle + 4, words);
    body_ += "</g>\n";
    widest_ = std::max(widest_, at + width);
  }

  // Assigns colors in the order of appearance, so that few are similar.
  std::string color_of(const catalogue_entry* entry) {
    if (entry == nullptr) return "plain";
    const auto known = std::find(colored_.begin(), colored_.end(), entry->short_name());
    const auto i = static_cast<std::size_t>(known - colored_.begin());
    if (known == colored_.end()) colored_.push_back(entry->short_name());
    return fmt::format("c{}", i % 8);
  }

  void text(std::string_view style_class, double x, double y, const std::string& words) {
    body_ += fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                         style_class.empty() ? "" : fmt::format(" class=\"{}\"", style_class), x, y,
                         escaped(words));
    widest_ = std::max(widest_, x + static_cast<double>(words.size()) * char_width);
  }

  const document& d_;
  std::string title_, only_;
  std::string body_;
  double widest_ = 0;
  std::vector<std::string_view> colored_;
  std::vector<std::pair<double, double>> bands_;
};

}  // namespace

std::string tree_as_svg(const document& d, std::string_view title, std::string_view only) {
  return tree_drawing(d, title, only).draw();
}

}  // namespace tutti::tool
