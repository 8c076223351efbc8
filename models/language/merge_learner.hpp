#pragma once

// Which pairs of tokens a byte-level BPE merges: always the one that stands
// most often beside each other in all pieces, until there are tokens enough.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/language/tokenizer.hpp"

namespace troupe::models {

/// Pieces, and how often each was seen.
using piece_counts = std::map<std::string, std::uint64_t, std::less<>>;

class merge_learner {
public:
  struct options {
    std::size_t size = 256;               ///< Tokens in the end, at most.
    std::uint64_t least = 2;              ///< Of a pair's count.
    std::set<std::string> forbidden = {}; ///< Bytes that become no token.
  };

  using merge = std::pair<token_id, token_id>;

  merge_learner(const piece_counts& pieces, options how);

  /// Until there are so many tokens, or nothing is left that counts.
  void learn();

  /// The bytes of each token; the first 256 are the bytes themselves.
  const std::vector<std::string>& tokens() const noexcept {
    return tokens_;
  }

  /// In the order in which they were learned.
  const std::vector<merge>& merges() const noexcept {
    return merges_;
  }

private:
  struct word {
    std::vector<token_id> ids;
    std::uint64_t count = 0;
  };

  struct facts {
    std::uint64_t count = 0;
    std::vector<std::uint32_t> words; ///< Where it may stand; some twice.
  };

  struct candidate {
    std::uint64_t count = 0;
    merge pair;
  };

  bool is_worse(const candidate& x, const candidate& than) const;
  void push(merge x);
  merge pop();
  token_id token_for(const std::string& bytes);
  void apply(merge x, token_id made);
  void rewrite(std::uint32_t at, merge x, token_id made);

  options how_;
  std::vector<std::string> tokens_;
  std::map<std::string, token_id, std::less<>> ids_;
  std::vector<word> words_;
  std::map<merge, facts> pairs_;
  std::vector<candidate> heap_;
  std::vector<merge> merges_;
  std::set<merge> merged_;
  std::set<merge> grown_; ///< By the merge that is being applied.
};

} // namespace troupe::models
