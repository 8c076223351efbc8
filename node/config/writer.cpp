#include <array>
#include <charconv>
#include <cstdio>

#include "node/config/config.hpp"
#include "node/config/schema.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

std::string basic_string(std::string_view x) {
  std::string result = "\"";
  for (const char c : x) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04X",
                    static_cast<unsigned>(c));
      result += code.data();
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// The shortest text that reads back as the same number, marked as a float.
std::string real(double x) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x).ptr;
  std::string result{text.data(), end};
  if (result.find_first_of(".e") == std::string::npos)
    result += ".0";
  return result;
}

class writer : public schema_visitor {
public:
  std::string text_;

  void begin(const key& section) override {
    path_ += (path_.empty() ? "" : ".") + std::string{section.name};
    text_ += "\n[" + path_ + "]\n";
  }

  void end() override {
    const auto dot = path_.rfind('.');
    path_.erase(dot == std::string::npos ? 0 : dot);
  }

  void flag(const key& k, bool& x) override {
    line(k, x ? "true" : "false");
  }

  void text(const key& k, std::string& x) override {
    if (path_.empty() && k.name == "method")
      method_ = policies::find_recipe(x);
    line(k, basic_string(x));
  }

  void number(const key& k, double& x, number_range) override {
    line(k, real(x));
  }

  void numbers(const key& section, options& x) override {
    if (x.empty())
      return;
    begin(section);
    for (const auto& [name, value] : x)
      line({name}, written(name, value));
    end();
  }

  void counts(const key& k, std::vector<std::uint32_t>& x,
              count_range) override {
    std::string list;
    for (const auto y : x)
      list += (list.empty() ? "" : ", ") + std::to_string(y);
    line(k, '[' + list + ']');
  }

  void texts(const key& k, std::vector<std::string>& x) override {
    std::string list;
    for (const auto& y : x)
      list += (list.empty() ? "" : ", ") + basic_string(y);
    line(k, '[' + list + ']');
  }

  void reals(const key& k, std::vector<double>& x, number_range) override {
    std::string list;
    for (const auto y : x)
      list += (list.empty() ? "" : ", ") + real(y);
    line(k, '[' + list + ']');
  }

  bool has(const key& k, bool now) override {
    return now && k.used;
  }

protected:
  void visit_count(const key& k, std::uint64_t& x, count_range) override {
    line(k, std::to_string(x));
  }

  void visit_choice(const key& k, std::size_t& index,
                    std::span<const std::string_view> names) override {
    line(k, basic_string(names[index]));
  }

private:
  std::string written(const std::string& name, double value) const {
    const auto* x = method_ ? find_option(*method_, name) : nullptr;
    if (x && x->kind == option_kind::flag)
      return value != 0 ? "true" : "false";
    if (x && x->kind == option_kind::choice && fits(*x, value))
      return basic_string(x->words.at(static_cast<std::size_t>(value)));
    if (x && x->kind == option_kind::whole)
      return std::to_string(static_cast<std::int64_t>(value));
    return real(value);
  }

  void line(const key& k, const std::string& value) {
    if (k.used)
      text_ += std::string{k.name} + " = " + value + '\n';
  }

  std::string path_;
  const recipe* method_ = nullptr;
};

} // namespace

std::string write_config(const experiment& x) {
  writer visit;
  auto copy = x; // A visitor may change what it visits; this one does not.
  visit_keys(visit, copy);
  return std::move(visit.text_);
}

bool same(const experiment& x, const experiment& y) {
  return write_config(x) == write_config(y);
}

} // namespace troupe::node
