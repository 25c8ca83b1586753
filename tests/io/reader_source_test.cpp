#include <gmock/gmock.h>

#include "io/checkpoint.h"
#include "io/host_reader.h"
#include "io/memory_source.h"
#include "io/source_set.h"
#include "io/temp_dir.h"
#include "support/golden.h"

namespace remora::test {
namespace {

using io::SourceSet;
using io::StateDict;
using testing::AllOf;
using testing::HasSubstr;

TEST(ReaderSource, EachFailingReaderCallIsAnErrorAndNothingStaysOpen) {
  const std::string small = read_file(data_path("codec/wrapped_mini_dict.pth"));
  // A negative status, a short read, more than asked.
  for (const int64_t result : {int64_t{-6}, int64_t{0}, INT64_MAX}) {
    for (int64_t n = 0;; ++n) {
      Host host{{{"model.pth", small}}, n, result};
      std::string error = error_of([&] {
        SourceSet set;
        set.set_reader(host.reader());
        const StateDict dict = io::read_checkpoint(set);
        for (const auto& [name, stored] : dict.tensors()) stored.load();
      });
      EXPECT_EQ(host.closed, host.opened) << n;
      if (host.calls <= n) break;  // no call was left to fail
      EXPECT_THAT(error, AllOf(HasSubstr("REMORA_E_CALLBACK"), HasSubstr("(reader)"))) << n;
    }
  }
}

TEST(ReaderSource, ReadersThatLieOrLackCallbacksAreRefused) {
  SourceSet set;
  EXPECT_THAT(error_of([&] { set.set_reader({}); }), HasSubstr("REMORA_E_INVALID_ARGUMENT"));
  Host host;
  io::Reader reader = host.reader();
  reader.open = [](void*, const char*, void**, uint64_t* size) {
    *size = UINT64_MAX;
    return 0;
  };
  reader.close = nullptr;
  set.set_reader(reader);
  EXPECT_THAT(error_of([&] { set.open("x"); }), HasSubstr("cannot be"));
}

}  // namespace
}  // namespace remora::test
