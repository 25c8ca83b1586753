// A .pth file, and the same bytes as the pickle inside one.
#include "fuzz.h"

#include "io/memory_source.h"
#include "io/pickle.h"
#include "io/pth.h"
#include "io/pth_tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace remora;
  io::StateDict dict;
  fuzz::accepts(
      [&] { dict = io::read_pth(test::memory_source("m.pth", fuzz::text_of(data, size))); });
  for (const auto& [name, stored] : dict.tensors()) {
    fuzz::require(stored.byte_size() <= size, "a tensor lies inside the file");
    stored.load();
  }
  fuzz::accepts([&] {
    const std::string_view text = fuzz::text_of(data, size);
    io::read_pickle({text.begin(), text.end()}, "m.pth", io::PthTensors::globals());
  });
  return 0;
}
