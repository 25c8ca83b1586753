#include "io/pickle.h"

#include <gmock/gmock.h>

#include "io/archive_builder.h"
#include "io/memory_source.h"

namespace remora::test {
namespace {

using io::PickleTree;
using testing::HasSubstr;
using Kind = PickleTree::Kind;

constexpr std::string_view kAllowed[] = {"collections OrderedDict", "pkg call"};

PickleTree read(const std::string& body) {
  const std::string bytes = pickle::kProto2 + body;
  return io::read_pickle({bytes.begin(), bytes.end()}, "p", kAllowed);
}
std::string error_for(const std::string& body) {
  return error_of([&] { read(body); });
}

int64_t number(const std::string& body) {
  const PickleTree tree = read(body + ".");
  EXPECT_EQ(tree.root().kind, Kind::kInt);
  return tree.root().number;
}

TEST(Pickle, WholeNumbersOfEveryWidth) {
  EXPECT_EQ(number("K\xff"), 255);
  EXPECT_EQ(number("M\xff\xff"), 65535);
  EXPECT_EQ(number("J\xff\xff\xff\xff"), -1);
  EXPECT_EQ(number(std::string("\x8a\x00", 2)), 0);
  EXPECT_EQ(number("\x8a\x01\xff"), -1);
  EXPECT_EQ(number(std::string("\x8a\x02\xff\x00", 4)), 255);
  EXPECT_EQ(number(pickle::integer(INT64_MIN)), INT64_MIN);
  EXPECT_EQ(number(pickle::integer(INT64_MAX)), INT64_MAX);
}

TEST(Pickle, NumbersThatDoNotFitAreKeptAsSuch) {
  EXPECT_EQ(read("\x8a\xff" + std::string(255, '\x7f') + ".").root().kind, Kind::kOtherNumber);
  EXPECT_EQ(read("G\x3f\xf0......" + std::string(".")).root().kind, Kind::kOtherNumber);
}

TEST(Pickle, ContainersKeepTheirOrder) {
  const PickleTree tree = read(pickle::dict({pickle::text("b"), pickle::list({"N", "\x88"}),
                                             pickle::text("a"), pickle::tuple({"\x89"})}) +
                               ".");
  const PickleTree::Value& dict = tree.root();
  ASSERT_EQ(dict.items.size(), 4u);
  EXPECT_EQ(tree[dict.items[0]].text, "b");
  EXPECT_EQ(tree[dict.items[1]].kind, Kind::kList);
  EXPECT_EQ(tree[dict.items[1]].items.size(), 2u);
  EXPECT_EQ(tree[dict.items[2]].text, "a");
  EXPECT_EQ(tree[tree[dict.items[3]].items[0]].kind, Kind::kBool);
}

TEST(Pickle, SingleItemAndMemoForms) {
  // Protocol 4's frame, short text and memo; one append; one set; tuples of one to three.
  const PickleTree tree = read(std::string("\x80\x04\x95\x01\0\0\0\0\0\0\0", 11) +
                               "}\x94\x8c\x01k\x94]\x94Na(\x8c\x01y" + "h\x01\x85h\x01h\x01\x86" +
                               "h\x01h\x01h\x01\x87tas.");
  const PickleTree::Value& list = tree[tree.root().items[1]];
  ASSERT_EQ(list.items.size(), 2u);
  const PickleTree::Value& tuple = tree[list.items[1]];
  ASSERT_EQ(tuple.items.size(), 4u);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(tree[tuple.items[i]].items.size(), i);
    EXPECT_EQ(tree[tree[tuple.items[i]].items[0]].text, "k");
  }
}

TEST(Pickle, CallsAreDescribedNotMade) {
  const PickleTree tree = read(pickle::reduce(pickle::global("pkg", "call"), {"K\x07"}) + ".");
  ASSERT_EQ(tree.root().kind, Kind::kCall);
  EXPECT_EQ(tree[tree.root().items[0]].text, "pkg call");
  EXPECT_EQ(tree[tree[tree.root().items[1]].items[0]].number, 7);
}

TEST(Pickle, AnOrderedDictIsADictAndItsAttributesAreDropped) {
  const std::string ordered = pickle::reduce(pickle::global("collections", "OrderedDict"), {});
  const PickleTree tree = read(ordered + "(" + pickle::text("k") + "Nu" +
                               pickle::dict({pickle::text("_metadata"), "N"}) + "b.");
  EXPECT_EQ(tree.root().kind, Kind::kDict);
  EXPECT_EQ(tree.root().items.size(), 2u);
  EXPECT_THAT(error_for(pickle::reduce(pickle::global("collections", "OrderedDict"), {"N"}) + "."),
              HasSubstr("arguments"));
}

TEST(Pickle, WrongStacksAreErrors) {
  const std::pair<std::string, std::string> cases[] = {
      {".", "unfinished"},
      {"NN.", "unfinished"},
      {"(N.", "unfinished"},
      {"t.", "mark"},
      {"Nu.", "mark"},
      {"]Ne.", "mark"},
      {"a.", "not there"},
      {"Na.", "not there"},
      {"NNs.", "not there"},
      {"\x86.", "not there"},
      {"N\x86.", "not there"},
      {"N(\x85.", "not there"},
      {"N(q\x01.", "not there"},
      {"}(Nu.", "no value"},
      {"NNa.", "no container"},
      {"]NNs.", "no container"},
      {"}Na.", "no container"},
      {"Q.", "not there"},
      {"NNb.", "no container"},
      {"]Nb.", "no container"},
      {"N)R.", "cannot be called"},
      {"h\x05.", "memo entry 5"},
      {std::string("j\xff\xff\xff\xff."), "memo entry 4294967295"},
      {"cpkg\ncall\nNR.", "cannot be called"}};
  for (const auto& [body, reason] : cases) {
    EXPECT_THAT(error_for(body),
                testing::AllOf(HasSubstr("REMORA_E_FORMAT: p: pickle byte "), HasSubstr(reason)))
        << testing::PrintToString(body);
  }
}

TEST(Pickle, EarlyEndsAreErrors) {
  for (const std::string& body :
       {std::string(), std::string("N"), std::string("K"), std::string("J\1\2"),
        std::string("X\xff\xff\xff\xffshort"), std::string("X\1"), std::string("\x8a\xff\1"),
        std::string("cmodule"), std::string("cmodule\nname"), std::string("G\1\2"),
        std::string("\x95\xff\xff\xff\xff\xff\xff\xff\xffN."), std::string("\x8c\x09x")}) {
    EXPECT_THAT(error_for(body), HasSubstr("REMORA_E_FORMAT")) << testing::PrintToString(body);
  }
}

TEST(Pickle, EveryOpcodeThatIsNotListedIsRefused) {
  const std::string listed("(.JKMNQRXabcehjq]rst)u}G\x80\x85\x86\x87\x88\x89\x8a\x8c\x94\x95");
  for (int code = 0; code < 256; ++code) {
    const auto op = static_cast<char>(code);
    if (listed.find(op) != std::string::npos) continue;
    EXPECT_THAT(error_for(std::string("N") + op + "."),
                HasSubstr(concat("opcode ", code, " is not read")));
  }
  EXPECT_THAT(error_for("\x80\x05N."), HasSubstr("protocol 5"));
  const std::string text = "(lp0\n.";
  EXPECT_THAT(error_of([&] {
                io::read_pickle({text.begin(), text.end()}, "p", kAllowed);
              }),
              HasSubstr("protocol 2"));
}

TEST(Pickle, DeepNestingCostsNoStack) {
  const std::string deep = std::string(200000, '(') + "N" + std::string(200000, 't');
  EXPECT_EQ(read(deep + ".").root().kind, Kind::kTuple);
}

}  // namespace
}  // namespace remora::test
