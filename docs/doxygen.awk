# SPDX-License-Identifier: Apache-2.0
#
# awk -f doxygen.awk HEADER: prints the header as doxygen must read it. It makes three habits of
# these headers explicit:
#
# - A declaration without a comment may follow one with a comment, without a blank line between
#   them. It gets the same comment.
# - Declarations below `// For the library`, `// For calls` or the like are not part of the
#   interface. They end at the next blank line or access specifier.
# - The table of parameters (TUTTI_PARAMETERS, detail/parameter_table.hpp) generates functions.
#   They become declarations, with the table's text.
BEGIN {
  file = ARGV[1]
  table = file
  sub(/\/[^\/]*$/, "/detail/parameter_table.hpp", table)
}

function out_factories(name, text, function_name) {
  printf "/// %s: written into `container`, which is resized as `Policy` allows; part of the result where it was moved in.\n", text
  printf "template <resize_policy Policy = no_resize, class C> constexpr auto %s(C&& container);\n\n", function_name
  printf "/// %s: made by the call, of type C, and part of the result.\n", text
  printf "template <class C> constexpr auto %s();\n\n", function_name
}
function factories(name, kind, text,   out) {
  out = text
  sub(/; left out.*/, "", out)
  if (kind == "in_buffer" || kind == "send_buffer" || kind == "counts") {
    printf "/// %s.\ntemplate <class C> constexpr auto %s(C&& container);\n\n", text, name
    printf "/// %s.\ntemplate <class T> auto %s(std::initializer_list<T> list);\n\n", text, name
  }
  if (kind == "send_buffer")
    printf "/// %s; handed back as a part of the result. An rvalue: `%s_out(std::move(v))`.\ntemplate <class C> constexpr auto %s_out(C&& container);\n\n", text, name, name
  if (kind == "out_buffer" || kind == "in_out_buffer") out_factories(name, out, name)
  if (kind == "out_buffer" || kind == "counts") out_factories(name, out, name "_out")
  if (kind == "count") {
    printf "/// %s.\nconstexpr auto %s(std::integral auto n);\n\n", text, name
    printf "/// %s: written into n.\ntemplate <std::integral C> constexpr auto %s_out(C& n);\n\n", out, name
    printf "/// %s: part of the result.\ntemplate <std::integral C = int> constexpr auto %s_out();\n\n", out, name
  }
  if (kind == "type") {
    printf "/// %s.\nconstexpr auto %s(layout type);\n\n", text, name
    printf "/// %s: written into `type`.\nconstexpr auto %s_out(layout& type);\n\n", out, name
    printf "/// %s: part of the result.\nconstexpr auto %s_out();\n\n", out, name
  }
}
# Prints the declarations that the rows of the table generate in this file.
function generated(   line, name, kind, text) {
  while ((getline line < table) > 0) {
    if (line !~ /^  X\(/) continue
    name = kind = text = line
    sub(/^  X\(/, "", name)
    sub(/,.*/, "", name)
    sub(/^[^,]*, */, "", kind)
    sub(/,.*/, "", kind)
    sub(/^[^"]*"/, "", text)
    sub(/"\).*/, "", text)
    gsub(/\\"/, "\"", text)
    if (file ~ /result\.hpp$/)
      printf "  /// Moves `%s` out of the result.\n  constexpr auto extract_%s();\n", name, name
    else
      factories(name, kind, toupper(substr(text, 1, 1)) substr(text, 2))
  }
  close(table)
}

# Macros over the table, with their lines that go on.
/^#(define|undef) TUTTI_/ || in_macro {
  in_macro = /\\$/
  next
}
/^ *TUTTI_PARAMETERS\(TUTTI_ROW\)/ && file !~ /table\.hpp$/ {
  if (file ~ /(parameters|result)\.hpp$/) generated()
  next
}
/^ *\/\/ For (the library|front ends|calls|the frame)/ {
  print "/// \\cond"
  hidden = 1
  comment = ""
}
hidden && (/^ *$/ || /^ *};$/ || /^ *(public|private|protected):$/) {
  print "/// \\endcond"
  hidden = 0
}
{
  indent = match($0, /[^ ]/) - 1
  if ($0 ~ /^ *\/\/\//) {
    if (!in_comment) comment = ""
    in_comment = 1
    comment = comment $0 "\n"
    comment_indent = indent
    print
    next
  }
  if ($0 ~ /^ *$/ || $0 ~ /^ *(public|private|protected):/) comment = ""
  else if (comment != "" && !in_comment && after_one && indent == comment_indent && $0 !~ /^ *([})#]|\/\/|requires|using)/ &&
           $0 !~ /\/\/\/</)
    printf "%s", comment
  # Headers comment on copying and moving only if they differ from those of the standard library.
  else if (!in_comment && ($0 ~ /^ *(explicit )?[a-z_]+\((const )?[a-z_]+ ?&&?( other)?\)/ || $0 ~ /operator=\(/))
    print "/// Has the semantics of the standard library."
  in_comment = 0
  # If a declaration ends here, the next line at its indentation begins another one.
  after_one = indent == comment_indent && $0 ~ /([;}]|[;}] *\/\/.*)$/
  print
}
