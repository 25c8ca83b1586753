// A .safetensors file: its header, and every tensor that it describes.
#include "fuzz.h"

#include "io/memory_source.h"
#include "io/state_dict.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace remora;
  for (const bool mapped : {true, false}) {
    io::StateDict dict;
    fuzz::accepts([&] {
      io::read_safetensors(test::memory_source("m.safetensors", fuzz::text_of(data, size), mapped),
                           dict);
    });
    for (const auto& [name, stored] : dict.tensors()) {
      fuzz::require(stored.byte_size() <= size, "a tensor lies inside the file");
      stored.load().contiguous();
    }
  }
  return 0;
}
