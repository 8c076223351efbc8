#include "models/language/base.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "core/bf16.hpp"
#include "core/text.hpp"
#include "models/aligned.hpp"
#include "models/language/rearranged.hpp"
#include "models/language/tensor_table.hpp"
#include "models/language/unread.hpp"
#include "models/language/weight_files.hpp"

namespace troupe::models {

namespace {

std::string_view name_of(base_storage x) noexcept {
  switch (x) {
    case base_storage::f32:
      return "f32";
    case base_storage::bf16:
      return "bf16";
    case base_storage::as_stored:
      return "as_stored";
  }
  return "?";
}

std::string shape_of(std::span<const std::int64_t> extents) {
  std::string out;
  for (const auto x : extents)
    out += (out.empty() ? "" : "x") + std::to_string(x);
  return out;
}

digest digest_of_text(std::string_view x) {
  return digest_of(std::as_bytes(std::span{x}));
}

/// Of each tensor its bytes and its type; what the model is, and how it is
/// kept.
class content_sum {
public:
  void add(const std::string& name, stored_type type,
           std::span<const std::int64_t> shape,
           std::span<const std::byte> bytes) {
    parts_[name] = digest_of(bytes);
    parts_[name + "/type"] =
      digest_of_text(std::string{facts_of(type).name} + ' ' + shape_of(shape));
  }

  digest of(const language_spec& spec, base_storage how) {
    parts_["spec"] = digest_of_text(config_of(spec).dump());
    parts_["storage"] = digest_of_text(name_of(how));
    return digest_of(parts_);
  }

private:
  std::map<std::string, digest> parts_;
};

bool is_finite(std::span<const float> xs) noexcept {
  // Where all bits of the exponent are set, adding to it carries into the top
  // bit.
  std::uint32_t bad = 0;
  for (const float x : xs)
    bad |= (std::bit_cast<std::uint32_t>(x) & 0x7f800000u) + 0x00800000u;
  return (bad & 0x80000000u) == 0;
}

/// Bytes that are floats.
std::span<float> floats_in(std::span<std::byte> x) noexcept {
  return {reinterpret_cast<float*>(x.data()), x.size() / sizeof(float)};
}

class kept_base final : public language_base {
public:
  explicit kept_base(const language_spec& spec)
    : spec_(spec),
      tensors_(tensors_of(spec)) {
    // nop
  }

  const language_spec& spec() const noexcept override {
    return spec_;
  }

  const tensor_list& tensors() const noexcept override {
    return tensors_;
  }

  base_tensor at(std::size_t place) const noexcept override {
    return at_[place];
  }

  const digest& content() const noexcept override {
    return content_;
  }

  bool is_made() const noexcept override {
    return is_made_;
  }

  std::uint64_t bytes() const noexcept override {
    std::uint64_t sum = values_.size() * sizeof(float);
    for (const auto& x : rooms_)
      sum += x.size();
    return sum;
  }

  /// All of them at once.
  void take(std::vector<float> values, bool is_made) {
    values_ = std::move(values);
    is_made_ = is_made;
    at_ = lying_in(values_, tensors_);
    content_sum sum;
    for (std::size_t i = 0; i < at_.size(); ++i)
      sum.add(tensors_[i].name, at_[i].type, tensors_[i].shape, at_[i].bytes);
    content_ = sum.of(spec_, base_storage::f32);
  }

  /// The next tensor, in the order of `tensors_of`. Its rows lie as they are to
  /// be used. Returns whether all of it is finite.
  bool take(stored_type type, const rearranged_bytes& x, base_storage how) {
    const auto place = at_.size();
    const bool is_vector = tensors_[place].shape.size() == 1;
    if (how == base_storage::as_stored && !is_vector) {
      keep_as_it_is(type, x);
      return has_finite_rows(place);
    }
    at_.push_back({}); // What is read by rows knows the extents by its place.
    const auto size = tensors_[place].size();
    if (how != base_storage::bf16 || is_vector) {
      const auto room = floats_in(make_room(size * sizeof(float)));
      dequantise(type, x.bytes(), room);
      at_[place] = {stored_type::f32, std::as_bytes(room)};
      return is_finite(room);
    }
    const auto room = make_room(size * sizeof(std::uint16_t));
    at_[place] = {stored_type::bf16, room};
    return round_rows(type, x.bytes(), columns(place), room);
  }

  void has_content(const digest& x, std::shared_ptr<const weight_files> files) {
    content_ = x;
    files_ = std::move(files);
  }

private:
  using byte_room = std::vector<std::byte, cache_aligned<std::byte>>;

  std::span<std::byte> make_room(std::size_t bytes) {
    return rooms_.emplace_back(bytes);
  }

  /// In the file, but for what had to be moved there, and floats that begin
  /// where none may.
  void keep_as_it_is(stored_type type, const rearranged_bytes& x) {
    const auto bytes = x.bytes();
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    if (!x.is_copy() && address % alignof(float) == 0) {
      at_.push_back({type, bytes});
      return;
    }
    const auto to = make_room(bytes.size());
    std::ranges::copy(bytes, to.begin());
    at_.push_back({type, to});
  }

  /// Of what is kept in any type: a block's scale counts in all its values.
  bool has_finite_rows(std::size_t place) const {
    std::vector<float> row(columns(place));
    for (std::size_t i = 0; i < rows(place); ++i) {
      read_rows(place, i, row);
      if (!is_finite(row))
        return false;
    }
    return true;
  }

  /// To sixteen bits of each value.
  static bool round_rows(stored_type type, std::span<const std::byte> from,
                         std::size_t columns, std::span<std::byte> to) {
    std::vector<float> row(columns);
    bool finite = true;
    const auto row_bytes = bytes_of(type, columns);
    for (; !from.empty(); from = from.subspan(row_bytes)) {
      dequantise(type, from.first(row_bytes), row);
      for (auto& x : row) {
        const auto rounded = to_bf16(x);
        x = from_bf16(rounded);
        std::memcpy(to.data(), &rounded, sizeof rounded);
        to = to.subspan(sizeof rounded);
      }
      finite = finite && is_finite(row);
    }
    return finite;
  }

  language_spec spec_;
  tensor_list tensors_;
  std::vector<base_tensor> at_;
  std::vector<float> values_;
  std::vector<byte_room>
    rooms_; // A vector that moves leaves its bytes in place.
  std::shared_ptr<const weight_files> files_; // What `at_` may look into.
  digest content_{};
  bool is_made_ = false;
};

/// A table of one row may lie in GGUF as a vector.
bool has_shape(const stored_tensor& x, const std::vector<std::int64_t>& wanted,
               weights_format from) {
  if (from == weights_format::gguf && wanted.size() == 2 && wanted.front() == 1
      && x.shape.size() == 1)
    return x.shape.front() == wanted.back();
  return x.shape == wanted;
}

result<std::shared_ptr<const language_base>>
refused(const weight_files& in, const std::string& name, std::string what) {
  return fail(errc::invalid_data,
              in.origin() + ": " + in_quotes(name) + ' ' + std::move(what));
}

result<std::shared_ptr<const language_base>>
read_base(const std::filesystem::path& path, base_storage how) {
  const auto opened = weight_files::open(path);
  if (!opened)
    return tl::unexpected{opened.error()};
  const auto& files = **opened;
  const auto spec = read_spec(files);
  if (!spec)
    return tl::unexpected{spec.error()};
  auto base = std::make_shared<kept_base>(*spec);
  content_sum sum;
  std::set<std::string> read;
  for (const auto& tensor : table_of(*spec).tensors) {
    const auto source = tensor.source(files.format());
    const auto& name = source.name.empty() ? tensor.what.name : source.name;
    const auto* stored = find_source(files, source);
    if (stored == nullptr && is_left_out(files, source))
      return refused(files, name,
                     "is of whole numbers or bools, which are no weights; F32, "
                     "F16 or BF16 would do");
    if (stored == nullptr)
      return refused(files, name,
                     "is not there, which " + describe(*spec)
                       + " has; all files of one model would do");
    auto shape = tensor.what.shape;
    if (source.transposed)
      std::ranges::reverse(shape);
    if (!has_shape(*stored, shape, files.format()))
      return refused(files, stored->name,
                     "is " + shape_of(stored->shape) + " and not "
                       + shape_of(shape)
                       + ", as the model's description says; files of one "
                         "model would do");
    read.insert(stored->name);
    const auto& facts = facts_of(stored->type);
    const auto columns = static_cast<std::size_t>(tensor.what.shape.back());
    const bool is_moved =
      source.transposed || (source.interleaved > 0 && shape.size() == 1);
    if (columns % facts.block_values != 0
        || (is_moved && facts.block_values > 1))
      return refused(files, stored->name,
                     "is of type " + std::string{facts.name}
                       + ", whose blocks do not fit its rows of "
                       + std::to_string(columns) + "; F16 would do");
    sum.add(tensor.what.name, stored->type, stored->shape, stored->bytes);
    if (!base->take(stored->type, rearranged_bytes{*stored, source}, how))
      return refused(files, stored->name,
                     "has values that are not finite as "
                       + std::string{how == base_storage::as_stored
                                       ? facts.name
                                       : name_of(how)}
                       + "; weights of a model that has not diverged would do");
  }
  if (auto ok = check_unread(files, *spec, read); !ok)
    return tl::unexpected{ok.error()};
  base->has_content(sum.of(*spec, how),
                    how == base_storage::as_stored ? *opened : nullptr);
  return std::shared_ptr<const language_base>{std::move(base)};
}

/// What is open in this process. Who computes has it for as long as it likes.
struct open_bases {
  std::mutex guard;
  std::map<std::pair<std::string, base_storage>,
           std::weak_ptr<const language_base>>
    all;
};

open_bases& bases_here() {
  static open_bases instance;
  return instance;
}

} // namespace

result<std::shared_ptr<const language_base>>
open_base(const std::filesystem::path& path, base_storage how) {
  std::error_code none;
  auto place = std::filesystem::weakly_canonical(path, none);
  if (none)
    place = path;
  auto& here = bases_here();
  // Two who ask at once wait for one reading.
  const std::scoped_lock lock{here.guard};
  std::erase_if(here.all, [](const auto& x) { return x.second.expired(); });
  const std::pair key{place.string(), how};
  if (const auto found = here.all.find(key); found != here.all.end())
    if (auto open = found->second.lock())
      return open;
  auto base = read_base(path, how);
  if (base)
    here.all[key] = *base;
  return base;
}

std::shared_ptr<const language_base> make_base(const language_spec& x,
                                               std::uint64_t seed) {
  auto base = std::make_shared<kept_base>(x);
  base->take(initial_weights(x, seed), true);
  return base;
}

std::shared_ptr<const language_base> make_base(const language_spec& x,
                                               std::vector<float> values) {
  auto base = std::make_shared<kept_base>(x);
  base->take(std::move(values), false);
  return base;
}

} // namespace troupe::models
