#include "io/json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "io/memory_source.h"

namespace remora::test {
namespace {

using io::JsonObject;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

JsonObject object_of(std::string_view text) {
  return JsonObject(*memory_source("c.json", text), 1 << 20);
}
std::string error_for(std::string_view text) {
  return error_of([&] { io::parse_json(*memory_source("c.json", text), 1 << 20); });
}

TEST(Json, ErrorsNameFileByteAndReason) {
  EXPECT_EQ(error_for("{\"a\": nul}").substr(0, 60),
            "REMORA_E_FORMAT: c.json: not readable as JSON: at byte 9: sy");
  for (const std::string text :
       {"", "{", "{\"a\":1,}", "{} {}", "\xff", "{\"a\":\"\xc3\"}", "1e999", "{'a':1}", "nan"}) {
    EXPECT_THAT(error_for(text), AllOf(HasSubstr("REMORA_E_FORMAT: c.json: not readable as JSON"),
                                       testing::Not(HasSubstr("json.exception"))))
        << text;
  }
  EXPECT_THAT(error_for("version https://git-lfs.github.com/spec/v1"), HasSubstr("git lfs pull"));
}

TEST(Json, SizeAndDepthAreBounded) {
  EXPECT_THAT(error_of([] { io::parse_json(*memory_source("c.json", "{\"a\":1}"), 6); }),
              AllOf(HasSubstr("c.json"), HasSubstr("at most 6")));
  EXPECT_THAT(error_for(std::string(100000, '[')), HasSubstr("nested deeper"));
  EXPECT_EQ(error_for(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_EQ(error_for("[\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"]"), "")
      << "brackets inside strings do not nest";
}

TEST(JsonObject, ReadsEachTypeAndFallsBackOnAbsentAndNull) {
  const JsonObject json =
      object_of(R"({"n":7,"x":0.5,"b":true,"s":"text","list":[1,-2],"names":["a"],"null":null,)"
                R"("inner":{"deep":{"k":3}}})");
  EXPECT_EQ(json.integer("n"), 7);
  EXPECT_EQ(json.integer("absent", 4, {}), 4);
  EXPECT_EQ(json.integer("null", 4, {}), 4);
  EXPECT_EQ(json.number("x"), 0.5);
  EXPECT_EQ(json.number("n"), 7.0);
  EXPECT_TRUE(json.boolean("b"));
  EXPECT_TRUE(json.boolean("absent", true));
  EXPECT_EQ(json.string("s"), "text");
  EXPECT_EQ(json.string("null", "fallback"), "fallback");
  EXPECT_THAT(json.integers("list"), ElementsAre(1, -2));
  EXPECT_THAT(json.strings("names"), ElementsAre("a"));
  EXPECT_EQ(json.object("inner").object("deep").integer("k"), 3);
  EXPECT_TRUE(json.has("null"));
  EXPECT_TRUE(json.is_null("null"));
  EXPECT_FALSE(json.is_null("absent"));
  EXPECT_FALSE(json.optional_object("absent"));
  EXPECT_FALSE(json.optional_object("null"));
  EXPECT_EQ(json.optional_object("inner")->keys().size(), 1u);
}

TEST(JsonObject, AnInnerObjectOutlivesTheOuterOne) {
  const JsonObject inner = object_of(R"({"a":{"k":3}})").object("a");
  EXPECT_EQ(inner.integer("k"), 3);
}

TEST(JsonObject, ErrorsNameTheDottedFieldWhatItIsAndWhatWasExpected) {
  const JsonObject json =
      object_of(R"({"text_config":{"dim":-1,"name":"x","big":18446744073709551615,"half":1.5,)"
                R"("list":[1,"2"],"nested":[[1]]}})");
  const JsonObject inner = json.object("text_config");
  EXPECT_EQ(
      error_of([&] {
        inner.integer("dim", {1, 65536});
      }),
      "REMORA_E_FORMAT: c.json: text_config.dim is -1, expected a whole number from 1 to 65536");
  EXPECT_EQ(error_of([&] {
              inner.integer("absent", {1, 2});
            }),
            "REMORA_E_FORMAT: c.json: text_config.absent is missing, expected a whole number from "
            "1 to 2");
  EXPECT_THAT(error_of([&] { inner.integer("big"); }), HasSubstr("is 18446744073709551615"));
  EXPECT_THAT(error_of([&] { inner.integer("half"); }), HasSubstr("is 1.5"));
  EXPECT_THAT(error_of([&] { inner.integer("name", 1, {}); }), HasSubstr("is \"x\""));
  EXPECT_THAT(error_of([&] { inner.number("name"); }), HasSubstr("text_config.name"));
  EXPECT_THAT(error_of([&] { inner.number("half", {0, 1}); }), HasSubstr("from 0 to 1"));
  EXPECT_THAT(error_of([&] { inner.boolean("dim"); }), HasSubstr("true or false"));
  EXPECT_THAT(error_of([&] { inner.string("dim"); }), HasSubstr("a string"));
  EXPECT_THAT(error_of([&] { inner.integers("list"); }), HasSubstr("text_config.list[1] is \"2\""));
  EXPECT_THAT(error_of([&] { inner.integers("nested"); }), HasSubstr("text_config.nested[0]"));
  EXPECT_THAT(error_of([&] { inner.integers("list", {}, 1); }), HasSubstr("at most 1"));
  EXPECT_THAT(error_of([&] { inner.strings("list"); }), HasSubstr("text_config.list[0] is 1"));
  EXPECT_THAT(error_of([&] { inner.object("list"); }), HasSubstr("an array of 2"));
  EXPECT_THAT(error_of([&] { inner.optional_object("dim"); }), HasSubstr("an object"));
  EXPECT_THAT(error_of([&] { object_of("[1]"); }), HasSubstr("c.json: is an array of 1"));
}

}  // namespace
}  // namespace remora::test
