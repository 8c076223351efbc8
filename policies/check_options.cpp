#include "policies/recipe_complaints.hpp"

namespace troupe::policies {

namespace {

using std::string;

/// Looks at options, and at the numbers that they say.
struct option_checker : recipe_complaints {
  result<void> check_option(const option_spec& x) const {
    const auto where = "option " + in_quotes(x.name);
    const bool counts =
      x.kind == option_kind::number || x.kind == option_kind::whole;
    if (x.says.empty() || (counts && x.unit.empty()))
      return refuse(where
                    + " has no description, or a number no unit; say what it "
                      "is for, and what it counts or multiplies");
    if (x.kind == option_kind::choice && x.words.size() < 2)
      return refuse(where + " has no choice; two words or more would do");
    if (!fits(x, x.value))
      return refuse(where + " has the default " + std::to_string(x.value)
                    + "; it must be " + takes(x));
    return {};
  }

  /// What a block says by itself is what its option says by default.
  result<void> check_number(const string& what, const string& name,
                            std::uint32_t otherwise) const {
    if (name.empty())
      return {};
    const auto* x = find_option(method, name);
    return x && x->value == otherwise
             ? result<void>{}
             : refuse(what + " of " + std::to_string(otherwise)
                      + " is said by option " + in_quotes(name)
                      + ", which is missing or has another default");
  }

  /// Whether there is such an option, and it is 0 by default.
  bool is_off_or_on(const string& name) const {
    const auto* by = find_option(method, name);
    return by && by->value == 0
           && (by->kind == option_kind::flag
               || (by->kind == option_kind::choice && by->words.size() == 2));
  }

  /// What an option has weigh by examples weighs one by default.
  result<void> check_examples(const string& where, const block_spec& x) const {
    if (x.examples_option.empty()
        || (is_off_or_on(x.examples_option) && x.weight == weight_rule::one))
      return {};
    return refuse(where + " weighs by examples where "
                  + in_quotes(x.examples_option)
                  + " says so; a weight of one, and a flag or a choice of two "
                    "that is 0 by default, would do");
  }

  /// A block that an option makes personal is shared by default, and legs fetch
  /// something else beside it.
  result<void> check_personal(const string& where, const block_spec& x) const {
    if (x.personal_option.empty())
      return {};
    return is_off_or_on(x.personal_option) && x.where == scope::shared
             ? result<void>{}
             : refuse(where + " is made personal by "
                      + in_quotes(x.personal_option)
                      + "; a shared block, and a flag or a choice of two that "
                        "is 0 by default, would do");
  }

  result<void> check_own() const {
    return method.own.option.empty() || is_off_or_on(method.own.option)
             ? result<void>{}
             : refuse("clients keep " + in_quotes(method.own.family) + " where "
                      + in_quotes(method.own.option)
                      + " says so; a flag or a choice of two that is 0 by "
                        "default would do");
  }

  /// What a flag adds is not there by default.
  result<void> check_more() const {
    if (method.more.blocks.empty() && method.more.flag.empty())
      return {};
    const auto* by = find_option(method, method.more.flag);
    return by && by->kind == option_kind::flag && by->value == 0
               && !method.legs.empty()
             ? result<void>{}
             : refuse("it has more blocks by " + in_quotes(method.more.flag)
                      + "; a flag that is off by default would do");
  }

  result<void> check_options() const {
    if (auto names = check_names(method.options, "option"); !names)
      return names;
    for (const auto& x : method.options)
      if (auto ok = check_option(x); !ok)
        return ok;
    for (const auto& x : method.blocks) {
      const auto where = "block " + in_quotes(x.name);
      if (auto ok =
            check_number(where + ": its count", x.count_option, x.count);
          !ok)
        return ok;
      if (auto ok = check_number(where + ": its rank", x.rank_option, x.rank);
          !ok)
        return ok;
      if (auto ok = check_personal(where, x); !ok)
        return ok;
      if (auto ok = check_examples(where, x); !ok)
        return ok;
    }
    for (const auto& x : method.disclosures)
      if (auto ok = check_number("disclosure " + in_quotes(x.name)
                                   + ": its largest count",
                                 x.count_option, x.count_max);
          !ok)
        return ok;
    return check_options_of_legs()
      .and_then([this] { return check_options_of_roles(); })
      .and_then([this] { return check_own(); })
      .and_then([this] { return check_more(); });
  }

  result<void> check_options_of_legs() const {
    for (std::size_t i = 0; i < method.legs.size(); ++i)
      for (const auto& x : method.legs[i].fetch) {
        const auto where =
          "leg " + std::to_string(i + 1) + " fetches " + in_quotes(x.family);
        if (auto ok = check_number(where + ": its bound", x.chosen_option,
                                   x.chosen_max);
            !ok)
          return ok;
      }
    return {};
  }

  result<void> check_options_of_roles() const {
    for (const auto& x : method.roles) {
      const auto where = "role " + in_quotes(x.name);
      if (auto ok =
            check_number(where + ": its quota", x.quota_option, x.quota);
          !ok)
        return ok;
      if (auto ok = check_number(where + ": its number of members",
                                 x.members_option, x.members);
          !ok)
        return ok;
    }
    return {};
  }
};

} // namespace

result<void> check_options(const recipe& method) {
  return option_checker{{method}}.check_options();
}

} // namespace troupe::policies
