#include "tests/support/recipes/skeleton.hpp"

#include <algorithm>
#include <cmath>

#include "core/assert.hpp"

namespace troupe::test {

namespace {

class skeleton_trainer final : public models::one_by_one_trainer {
public:
  skeleton_trainer(const models::layout& blocks, skeleton_play how)
    : blocks_(blocks),
      how_(std::move(how)) {
    // nop
  }

  result<models::choice> choose(const models::visit_input& x) override {
    TROUPE_ASSERT(how_.choose);
    return how_.choose(x, blocks_);
  }

  result<models::trained> train_one(const models::visit_input& x) override {
    models::trained out{
      .parts = {}, .disclosures = {}, .next = *x.state, .loss = 0, .steps = 1};
    ++out.next.visits;
    if (how_.keep)
      how_.keep(x, out);
    for (const auto& from : x.fetched)
      if (is_offered(x, from.block))
        add_part(x, from, out);
    return out;
  }

  result<models::evaluated>
  evaluate(const models::evaluation_input& x) override {
    models::evaluated out;
    for (const auto& from : x.versions)
      out.global.count += from.values->size();
    return out;
  }

  std::uint64_t examples(client_id x) const override {
    return examples_of(x);
  }

  std::uint64_t steps(const models::visit_input&) const override {
    return 1;
  }

private:
  /// A choice among a family is one of what is offered of it.
  bool is_offered(const models::visit_input& x, block_id block) const {
    const auto& family = blocks_.find(block)->family;
    const bool was_chosen = std::ranges::any_of(
      x.chosen, [&](auto id) { return blocks_.find(id)->family == family; });
    return !was_chosen || std::ranges::find(x.chosen, block) != x.chosen.end();
  }

  void add_part(const models::visit_input& x, const models::fetched_block& from,
                models::trained& out) const {
    const auto& block = *blocks_.find(from.block);
    auto delta = how_.step ? how_.step(x, from) : pull(x, from);
    const double share =
      how_.share_of ? how_.share_of(out.next, block.instance) : 1;
    const double weight = weight_of(block, x.visit.client, share, from, delta);
    const bool has_share = block.weight == weight_rule::examples_times_share
                           || block.weight == weight_rule::one_times_share;
    if (has_share && share < share_min)
      return;
    for (const float v : delta)
      out.loss += static_cast<double>(v) * static_cast<double>(v);
    const auto rows =
      block.rank == 0
        ? 0
        : static_cast<std::uint32_t>(delta.size() * block.rank / block.size);
    out.parts.push_back({.block = from.block,
                         .rank = rows == block.rank ? 0 : rows,
                         .weight = weight,
                         .delta = troupe::share(std::move(delta))});
  }

  static double weight_of(const models::block_layout& block, client_id who,
                          double share, const models::fetched_block& from,
                          std::span<const float> delta) {
    const auto n = static_cast<double>(examples_of(who));
    switch (block.weight) {
      case weight_rule::examples:
        return n;
      case weight_rule::one:
        return 1;
      case weight_rule::examples_times_share:
        return n * share;
      case weight_rule::one_times_share:
        return share;
      case weight_rule::rank_norm:
        break;
    }
    double sum = 0;
    for (std::size_t j = 0; j < delta.size(); ++j) {
      const auto v =
        static_cast<double>((*from.values)[j]) + static_cast<double>(delta[j]);
      sum += v * v;
    }
    return std::sqrt(sum);
  }

  const models::layout& blocks_;
  skeleton_play how_;
};

} // namespace

models::tensor_list vector_of(std::int64_t size) {
  return {{.name = "w", .shape = {size}}};
}

models::tensor_list matrix_of(std::int64_t rows, std::int64_t columns) {
  return {{.name = "w", .shape = {rows, columns}}};
}

sim_method::trainer_maker played(skeleton_play how) {
  return [how = std::move(how)](const models::layout& blocks) {
    return std::make_unique<skeleton_trainer>(blocks, how);
  };
}

personal_values marked(std::vector<float> own) {
  own.insert(own.begin(), std::begin(personal_marks), std::end(personal_marks));
  return personal_values{std::move(own)};
}

std::vector<float> own_values(const models::client_state& x,
                              const std::string& name, std::size_t size) {
  const auto found = x.blocks.find(name);
  if (found == x.blocks.end())
    return std::vector<float>(size);
  const auto all = found->second.own_view().subspan(std::size(personal_marks));
  TROUPE_ASSERT(all.size() == size);
  return {all.begin(), all.end()};
}

} // namespace troupe::test
