#include "core/program_version.hpp"

#include <cstdint>
#include <cstring>
#include <span>

#include <elf.h>
#include <link.h>

namespace troupe {

namespace {

constexpr std::size_t aligned(std::size_t x) noexcept {
  return (x + 3) / 4 * 4;
}

/// The linker's digest in a segment of notes; empty where there is none.
std::string build_id_in(std::span<const char> notes) {
  ElfW(Nhdr) head{};
  while (notes.size() >= sizeof head) {
    std::memcpy(&head, notes.data(), sizeof head);
    notes = notes.subspan(sizeof head);
    const auto name = aligned(head.n_namesz);
    const auto size = aligned(head.n_descsz);
    if (notes.size() < name + size)
      break;
    if (head.n_type == NT_GNU_BUILD_ID) {
      std::string text;
      for (const auto x : notes.subspan(name, head.n_descsz))
        for (const auto digit : {(x >> 4) & 15, x & 15})
          text += "0123456789abcdef"[digit];
      return text;
    }
    notes = notes.subspan(name + size);
  }
  return {};
}

// The executable is the first of all that are loaded.
int take_first(dl_phdr_info* x, std::size_t, void* to) {
  for (const auto& segment : std::span{x->dlpi_phdr, x->dlpi_phnum})
    if (segment.p_type == PT_NOTE) {
      const auto* first =
        reinterpret_cast<const char*>(x->dlpi_addr + segment.p_vaddr);
      auto found = build_id_in({first, segment.p_memsz});
      if (!found.empty())
        *static_cast<std::string*>(to) = std::move(found);
    }
  return 1;
}

} // namespace

std::string program_version() {
  return TROUPE_VERSION;
}

std::string build_name() {
  static const auto name = [] {
    std::string id;
    dl_iterate_phdr(take_first, &id);
    return program_version() + (id.empty() ? "" : " " + id.substr(0, 16));
  }();
  return name;
}

} // namespace troupe
