// What is known when a model is imported.
#include "tools/gc-import/Constant.h"

#include <gtest/gtest.h>

namespace {

using namespace gc::importer;

ConstantPtr counted(const Shape &shape, DType dtype = DType::F32) {
  auto result = std::make_shared<Constant>(Constant{dtype, shape, {}});
  for (int64_t i = 0; i < product(shape); ++i)
    result->values.push_back(static_cast<double>(i));
  return result;
}

Argument number(double value) {
  Argument argument;
  argument.kind = Argument::Kind::Number;
  argument.numbers = {value};
  return argument;
}

TEST(Constant, PermutesSlicesAndExpands) {
  ConstantPtr x = counted({2, 3});
  EXPECT_EQ(permuteConstant(*x, {1, 0})->values, (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(sliceConstant(*x, 1, 1, 2)->values, (std::vector<double>{1, 2, 4, 5}));
  EXPECT_EQ(expandConstant(*counted({2, 1}), {2, 2, 2})->values,
            (std::vector<double>{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(concatConstants({x, counted({2, 1})}, 1)->values,
            (std::vector<double>{0, 1, 2, 0, 3, 4, 5, 1}));
}

TEST(Constant, BroadcastsShapes) {
  EXPECT_EQ(broadcastShape({2, 1, 3}, {4, 1}), (Shape{2, 4, 3}));
  EXPECT_FALSE(broadcastShape({2, 3}, {2, 2}));
}

TEST(Constant, CastsAsTypesHoldNumbers) {
  EXPECT_EQ(castConstant(*filled(DType::F32, {1}, 2.75), DType::I64)->values[0], 2);
  EXPECT_EQ(castConstant(*filled(DType::F64, {1}, -3), DType::Bool)->values[0], 1);
  EXPECT_EQ(filled(DType::F32, {1}, 0.1)->values[0], static_cast<double>(0.1f));
}

TEST(Constant, FoldsACausalMask) {
  // arange(3)[:, None] >= arange(3)[None, :]
  Node node{"aten.ge.Tensor", {}, {"mask"}, "", false};
  FoldCall call{node, node.target, {}, DType::Bool, {3, 3}};
  call.tensors["self"] = {counted({3, 1}, DType::I64)};
  call.tensors["other"] = {counted({1, 3}, DType::I64)};
  ConstantPtr mask = foldNode(call);
  ASSERT_TRUE(mask);
  EXPECT_EQ(mask->values, (std::vector<double>{1, 0, 0, 1, 1, 0, 1, 1, 1}));
}

TEST(Constant, FoldsIndices) {
  Node node{"aten.index.Tensor", {}, {"y"}, "", false};
  FoldCall call{node, node.target, {}, DType::F32, {2, 2}};
  call.tensors["self"] = {counted({3, 2})};
  auto rows = std::make_shared<Constant>(Constant{DType::I64, {2}, {-1, 0}});
  call.tensors["indices"] = {rows};
  EXPECT_EQ(foldNode(call)->values, (std::vector<double>{4, 5, 0, 1}));
  rows->values[0] = 3;
  EXPECT_FALSE(foldNode(call)) << "an index that is out of range is nothing";
}

TEST(Constant, FoldsNumbersWithTheirFactor) {
  Node node{"aten.add.Tensor", {{"other", number(2)}, {"alpha", number(3)}}, {"y"}, "", false};
  FoldCall call{node, node.target, {}, DType::F32, {2}};
  call.tensors["self"] = {counted({2})};
  EXPECT_EQ(foldNode(call)->values, (std::vector<double>{6, 7}));
}

TEST(Constant, DoesNotFoldWhatItDoesNotKnow) {
  Node node{"aten.erfinv.default", {}, {"y"}, "", false};
  FoldCall call{node, node.target, {}, DType::F32, {2}};
  call.tensors["self"] = {counted({2})};
  EXPECT_FALSE(foldNode(call));
}

} // namespace
