#include "models/language/spec_keys.hpp"

#include <cmath>

#include "core/text.hpp"

namespace troupe::models {

namespace {

/// Above it no model has anything.
constexpr double whole_max = 1 << 30;

std::string shown(double x) {
  if (x == std::floor(x) && std::abs(x) < 1e15)
    return std::to_string(static_cast<std::int64_t>(x));
  return std::to_string(x);
}

/// For people.
std::string shown(const said_value& x) {
  if (const auto* number = std::get_if<double>(&x))
    return "is " + shown(*number);
  if (const auto* flag = std::get_if<bool>(&x))
    return *flag ? "is true" : "is false";
  if (const auto* text = std::get_if<std::string>(&x))
    return "is " + in_quotes(shortened(*text));
  return std::holds_alternative<std::monostate>(x) ? "is not there"
                                                   : "is of another kind";
}

} // namespace

void spec_keys::refuse(std::string_view key, std::string_view found,
                       std::string_view would_do) {
  if (!wrong_)
    wrong_ = error{errc::invalid_data, origin_ + ": '" + std::string{key} + "' "
                                         + std::string{found} + "; "
                                         + std::string{would_do} + " would do"};
}

std::uint32_t spec_keys::whole(std::string_view key, std::uint32_t least,
                               std::uint32_t otherwise) {
  const auto said = look_(key);
  const auto* x = std::get_if<double>(&said);
  if (x != nullptr && *x == std::floor(*x) && *x >= least && *x <= whole_max)
    return static_cast<std::uint32_t>(*x);
  refuse(key, shown(said),
         "a whole number from " + std::to_string(least) + " to "
           + shown(whole_max));
  return otherwise;
}

std::uint32_t spec_keys::count(std::string_view key) {
  return whole(key, 1, 1);
}

std::uint32_t spec_keys::count_or(std::string_view key,
                                  std::uint32_t otherwise) {
  return has(key) ? whole(key, 0, otherwise) : otherwise;
}

double spec_keys::number(std::string_view key) {
  const auto said = look_(key);
  if (const auto* x = std::get_if<double>(&said); x && std::isfinite(*x))
    return *x;
  refuse(key, shown(said), "a number");
  return 1;
}

double spec_keys::number_or(std::string_view key, double otherwise) {
  return has(key) ? number(key) : otherwise;
}

bool spec_keys::flag_or(std::string_view key, bool otherwise) {
  const auto said = look_(key);
  if (std::holds_alternative<std::monostate>(said))
    return otherwise;
  if (const auto* x = std::get_if<bool>(&said))
    return *x;
  refuse(key, shown(said), "true or false");
  return otherwise;
}

std::string spec_keys::text_or(std::string_view key,
                               std::string_view otherwise) {
  const auto said = look_(key);
  if (std::holds_alternative<std::monostate>(said))
    return std::string{otherwise};
  if (const auto* x = std::get_if<std::string>(&said))
    return *x;
  refuse(key, shown(said), "a text");
  return std::string{otherwise};
}

std::optional<std::uint32_t> spec_keys::token(std::string_view key) const {
  const auto said = look_(key);
  const auto* x = std::get_if<double>(&said);
  if (x == nullptr || *x != std::floor(*x) || *x < 0 || *x > whole_max)
    return std::nullopt;
  return static_cast<std::uint32_t>(*x);
}

void spec_keys::must_be(std::string_view key, bool wanted) {
  if (flag_or(key, wanted) != wanted)
    refuse(key, wanted ? "is false" : "is true",
           std::string{"a model in which it is "}
             + (wanted ? "true" : "false"));
}

result<language_spec> spec_keys::end(const language_spec& x) const {
  if (wrong_)
    return tl::unexpected{*wrong_};
  return check_spec(x, origin_).map([&] { return x; });
}

activation_kind activation_of(spec_keys& keys, std::string_view key,
                              std::string_view otherwise) {
  const auto name = keys.text_or(key, otherwise);
  if (name == "gelu" || name == "gelu_python")
    return activation_kind::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast")
    return activation_kind::gelu_tanh;
  if (name == "silu" || name == "swish")
    return activation_kind::silu;
  if (name == "relu")
    return activation_kind::relu;
  keys.refuse(key, "is " + in_quotes(shortened(name)),
              "\"gelu\", \"gelu_new\", \"silu\" or \"relu\"");
  return activation_kind::gelu;
}

} // namespace troupe::models
