// The one table of element types: no two rows may claim the same name, and plans know every row
// that IR has.
#include "runtime/plan/ElementType.h"

#include <gtest/gtest.h>

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
