#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/aligned.hpp"
#include "models/embeddings.hpp"
#include "models/objective.hpp"
#include "models/outputs.hpp"

namespace troupe::test {

/// Of a row, and as many classes.
inline constexpr std::size_t blind_values = 3;

/// Rows of three kinds, and nobody knows what they are.
inline const std::vector<std::array<float, blind_values>> blind_rows{
  {1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/// A linear model of three classes over rows that have no labels. A row's
/// embedding is the row.
class blind_model : public models::objective,
                    public models::model_outputs,
                    public models::model_embeddings {
public:
  const models::tensor_list& parameter_list() const noexcept override {
    return list_;
  }

  const models::tensor_list& buffer_list() const noexcept override {
    return none_;
  }

  std::span<float> parameters() noexcept override {
    return parameters_;
  }

  std::span<float> gradient() noexcept override {
    return gradient_;
  }

  std::span<float> buffers() noexcept override {
    return {};
  }

  result<double> backward(std::span<const std::uint32_t>,
                          std::uint64_t) override {
    return fail(errc::unsupported, "a stranger learns nothing");
  }

  result<models::scores> evaluate(models::split,
                                  std::span<const std::uint32_t>) override {
    return fail(errc::unsupported, "a stranger has no labels");
  }

  models::model_outputs* outputs() noexcept override {
    return this;
  }

  models::model_embeddings* embeddings() noexcept override {
    return this;
  }

  std::vector<float> initial_parameters(std::uint64_t) override {
    return std::vector<float>(blind_values * blind_values);
  }

  std::vector<float> initial_buffers() override {
    return {};
  }

  models::output_kind kind() const noexcept override {
    return models::output_kind::logits;
  }

  std::size_t size() const noexcept override {
    return blind_values;
  }

  result<void> say(models::split, std::span<const std::uint32_t> asked,
                   std::span<float> out) override {
    for (std::size_t i = 0; i < asked.size(); ++i)
      for (std::size_t c = 0; c < blind_values; ++c) {
        float sum = 0;
        for (std::size_t d = 0; d < blind_values; ++d)
          sum += parameters_[c * blind_values + d] * blind_rows[asked[i]][d];
        out[i * blind_values + c] = sum;
      }
    return {};
  }

  result<models::utterance> speak(std::span<const std::uint32_t>,
                                  std::uint64_t) override {
    return fail(errc::unsupported, "a stranger learns nothing");
  }

  models::judgement judge(models::split, std::span<const std::uint32_t>,
                          std::span<const float>,
                          std::span<float>) const override {
    ADD_FAILURE() << "labels were looked at";
    return {};
  }

  result<void> embed(models::split, std::uint32_t row,
                     std::span<float> out) override {
    std::ranges::copy(blind_rows[row], out.begin());
    return {};
  }

  std::size_t width() const noexcept override {
    return blind_values;
  }

private:
  models::tensor_list list_{{"weight", {3, 3}}};
  models::tensor_list none_;
  models::aligned_floats parameters_ = models::aligned_floats(9);
  models::aligned_floats gradient_ = models::aligned_floats(9);
};

} // namespace troupe::test
