// The one table of element types: no two rows may claim the same name, and plans know every row
// that IR has.
#include "runtime/plan/ElementType.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace gc::runtime;
using gc::plan::DType;

TEST(ElementType, NamesAreUnique) {
  std::set<std::string_view> files, ir;
  std::set<DType> plans;
  for (const ElementType &type : elementTypes()) {
    EXPECT_TRUE(files.insert(type.safetensors).second) << type.safetensors;
    EXPECT_TRUE(type.mlir.empty() || ir.insert(type.mlir).second) << type.mlir;
    EXPECT_TRUE(!type.dtype || plans.insert(*type.dtype).second) << type.safetensors;
    EXPECT_EQ(type.mlir.empty(), !type.dtype) << type.safetensors;
  }
}

TEST(ElementType, EveryTypeOfPlansIsThere) {
  for (DType dtype : gc::plan::EnumValuesDType()) {
    const ElementType *type = elementTypeOf(dtype);
    ASSERT_TRUE(type) << gc::plan::EnumNameDType(dtype);
    EXPECT_EQ(elementTypeInIr(type->mlir), type);
    EXPECT_EQ(elementTypeInFile(type->safetensors), type);
    EXPECT_EQ(elementBytes(dtype), type->bytes);
  }
}

TEST(ElementType, UnknownIsNothing) {
  EXPECT_FALSE(elementTypeOf(static_cast<DType>(99)));
  EXPECT_FALSE(elementTypeInIr("f4"));
  EXPECT_FALSE(elementTypeInIr(""));
  EXPECT_FALSE(elementTypeInFile("F4"));
  EXPECT_DEATH(elementBytes(static_cast<DType>(99)), "");
}

TEST(ElementType, ConvertsFloatsOfFiles) {
  const double wide[] = {0.1, -3};
  float narrow[2];
  elementTypeInFile("F64")->toFloats(reinterpret_cast<const std::byte *>(wide), narrow, 2);
  EXPECT_EQ(narrow[0], 0.1f);
  EXPECT_EQ(narrow[1], -3.f);
  EXPECT_FALSE(elementTypeInFile("I64")->toFloats) << "a count is no weight";
}

TEST(ElementType, HalvesSurviveTheWayThereAndBack) {
  for (const char *name : {"F16", "BF16"}) {
    const ElementType &type = *elementTypeInFile(name);
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      auto half = static_cast<uint16_t>(bits);
      float value;
      type.toFloats(reinterpret_cast<const std::byte *>(&half), &value, 1);
      uint16_t back;
      type.fromFloats(&value, reinterpret_cast<std::byte *>(&back), 1);
      if (std::isnan(value))
        EXPECT_GT(back & 0x7fff, name[0] == 'F' ? 0x7c00 : 0x7f80) << bits;
      else
        EXPECT_EQ(back, half) << name;
    }
  }
}

TEST(ElementType, RoundsToTheNearestAndOfTwoToTheEven) {
  auto narrowed = [](const char *name, float value) {
    uint16_t bits;
    elementTypeInFile(name)->fromFloats(&value, reinterpret_cast<std::byte *>(&bits), 1);
    return bits;
  };
  // Of f16, 1 + k / 1024 is 0x3c00 + k.
  EXPECT_EQ(narrowed("F16", 1 + 1.0f / 2048), 0x3c00);
  EXPECT_EQ(narrowed("F16", 1 + 3.0f / 2048), 0x3c02);
  EXPECT_EQ(narrowed("F16", 1 + 1.1f / 2048), 0x3c01);
  EXPECT_EQ(narrowed("F16", -65504), 0xfbff);
  EXPECT_EQ(narrowed("F16", 65519), 0x7bff);
  EXPECT_EQ(narrowed("F16", 65520), 0x7c00) << "half of the way to 2^16, which is even";
  EXPECT_EQ(narrowed("F16", std::ldexp(1.0f, -24)), 0x0001);
  EXPECT_EQ(narrowed("F16", std::ldexp(1.0f, -25)), 0x0000);
  EXPECT_EQ(narrowed("F16", std::ldexp(1.5f, -25)), 0x0001);
  // Of bf16, 1 + k / 128 is 0x3f80 + k.
  EXPECT_EQ(narrowed("BF16", 1 + 1.0f / 256), 0x3f80);
  EXPECT_EQ(narrowed("BF16", 1 + 3.0f / 256), 0x3f82);
  const float values[] = {1, 1e6f, INFINITY, 1e6f};
  uint16_t bits[4];
  EXPECT_EQ(elementTypeInFile("F16")->fromFloats(values, reinterpret_cast<std::byte *>(bits), 4),
            1u)
      << "the first that is lost";
  EXPECT_EQ(elementTypeInFile("BF16")->fromFloats(values, reinterpret_cast<std::byte *>(bits), 4),
            4u);
}
