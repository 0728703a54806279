//===- GpuBuilder.cpp - Writing kernels for a GPU -------------------------===//
#include "compiler/cuda/grids/GpuBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace gc::cuda {

static SmallVector<Value> values(ArrayRef<Expr> expressions) {
  return SmallVector<Value>(expressions.begin(), expressions.end());
}

int64_t vectorWidth(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes, [](int64_t size) { return size % 4 == 0; }) ? 4 : 1;
}

Expr GpuBuilder::thread(Dimension dimension) {
  return wrap(gpu::ThreadIdOp::create(builder, location, dimension));
}
Expr GpuBuilder::block(Dimension dimension) {
  return wrap(gpu::BlockIdOp::create(builder, location, dimension));
}

Expr GpuBuilder::threadNumber() {
  Expr number = thread(Dimension::x);
  if (shape.y > 1)
    number = number + thread(Dimension::y) * shape.x;
  if (shape.z > 1)
    number = number + thread(Dimension::z) * (shape.x * shape.y);
  return number;
}

void GpuBuilder::atLeastBlocks(int64_t count) {
  function->setAttr("gc.min_blocks", builder.getI32IntegerAttr(int32_t(count)));
}

Value GpuBuilder::shared(ArrayRef<int64_t> shape, Type element) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get(shape, element ? element : accumulatorType(),
                              MemRefLayoutAttrInterface(), space);
  return function.addWorkgroupAttribution(type, location);
}

void GpuBuilder::barrier() { gpu::BarrierOp::create(builder, location); }

Expr GpuBuilder::loadVector(Value memref, ArrayRef<Expr> indices, int64_t width) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get({width}, element);
  llvm::Align alignment(width * element.getIntOrFloatBitWidth() / 8);
  return asComputed(wrap(vector::LoadOp::create(builder, location, type, memref, values(indices),
                                                /*nontemporal=*/false, alignment)));
}

void GpuBuilder::storeVector(Expr value, Value memref, ArrayRef<Expr> indices) {
  Expr vector = asStored(value, memref);
  auto type = cast<VectorType>(vector.type());
  llvm::Align alignment(type.getNumElements() * type.getElementTypeBitWidth() / 8);
  vector::StoreOp::create(builder, location, Value(vector), memref, values(indices),
                          /*nontemporal=*/false, alignment);
}

Expr GpuBuilder::element(Expr vector, int64_t index) {
  return wrap(vector::ExtractOp::create(builder, location, Value(vector), index));
}

Expr GpuBuilder::vectorOf(ArrayRef<Expr> elements) {
  auto type = VectorType::get({int64_t(elements.size())}, elements.front().type());
  return wrap(vector::FromElementsOp::create(builder, location, type, values(elements)));
}

Elements GpuBuilder::loadElements(Value memref, ArrayRef<Expr> indices, int64_t width) {
  if (width == 1)
    return {load(memref, indices)};
  Expr vector = loadVector(memref, indices, width);
  Elements elements;
  for (int64_t i = 0; i < width; ++i)
    elements.push_back(element(vector, i));
  return elements;
}

Elements GpuBuilder::loadElementsWhere(Expr condition, Value memref, ArrayRef<Expr> indices,
                                       int64_t width) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  SmallVector<Type> types(width, computeType(element));
  auto branch = scf::IfOp::create(builder, location, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, location, values(loadElements(memref, indices, width)));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, location, SmallVector<Value>(width, constant(types[0], 0)));
  Elements elements;
  for (Value result : branch.getResults())
    elements.push_back(wrap(result));
  return elements;
}

void GpuBuilder::storeElements(ArrayRef<Expr> elements, Value memref, ArrayRef<Expr> indices) {
  if (elements.size() == 1)
    store(elements[0], memref, indices);
  else
    storeVector(vectorOf(elements), memref, indices);
}

Expr GpuBuilder::fma(Expr a, Expr b, Expr c) {
  return wrap(math::FmaOp::create(builder, location, Value(a), Value(b), Value(c)));
}

Expr GpuBuilder::shuffleXor(Expr value, int64_t mask) {
  auto shuffled = gpu::ShuffleOp::create(builder, location, Value(value), i32(mask), i32(warpSize),
                                         gpu::ShuffleMode::XOR);
  return wrap(shuffled.getShuffleResult());
}

Expr GpuBuilder::reduceLanes(Expr value, bool isMaximum, int64_t width) {
  for (int64_t mask = width / 2; mask > 0; mask /= 2)
    value = combine(value, shuffleXor(value, mask), isMaximum);
  return value;
}

Expr GpuBuilder::reduceBlock(Expr value, bool isMaximum, Value scratch) {
  int64_t threads = shape.count();
  value = reduceLanes(value, isMaximum, std::min(threads, warpSize));
  if (threads <= warpSize)
    return value;
  int64_t warps = threads / warpSize;
  Expr number = threadNumber();
  when(number % warpSize == 0, [&] { store(value, scratch, {number / warpSize}); });
  barrier();
  Expr total = load(scratch, {index(0)});
  for (int64_t warp = 1; warp < warps; ++warp)
    total = combine(total, load(scratch, {index(warp)}), isMaximum);
  return total;
}

Expr GpuBuilder::neutral(bool isMaximum) {
  return f32(isMaximum ? -std::numeric_limits<double>::infinity() : 0);
}

SmallVector<Expr>
GpuBuilder::strided(Expr first, Expr end, int64_t step, int64_t together, ArrayRef<Expr> initial,
                    llvm::function_ref<SmallVector<Expr>(ArrayRef<Expr>, ArrayRef<Expr>)> body) {
  int64_t stride = together * step;
  // A whole group starts where its last index is below the end.
  Expr room = maximum(end - (stride - step) - first, index(0));
  Expr whole = (room + (stride - 1)) / stride * stride;
  SmallVector<Expr> carried =
      loop(index(0), whole, stride, initial, [&](Expr offset, ArrayRef<Expr> values) {
        SmallVector<Expr> indices;
        for (int64_t i = 0; i < together; ++i)
          indices.push_back(first + offset + i * step);
        return body(indices, values);
      });
  return loop(first + whole, end, step, carried,
              [&](Expr at, ArrayRef<Expr> values) { return body({at}, values); });
}

SmallVector<Expr> GpuBuilder::reduceStrided(Expr first, Expr end, int64_t step, unsigned count,
                                            bool isMaximum,
                                            llvm::function_ref<SmallVector<Expr>(Expr)> body) {
  constexpr int64_t ways = 4;
  SmallVector<Expr> totals =
      strided(first, end, step, ways, SmallVector<Expr>(ways * count, neutral(isMaximum)),
              [&](ArrayRef<Expr> indices, ArrayRef<Expr> carried) {
                SmallVector<Expr> next(carried), parts;
                for (Expr index : indices)
                  parts.append(body(index));
                for (size_t i = 0; i < parts.size(); ++i)
                  next[i] = combine(carried[i], parts[i], isMaximum);
                return next;
              });
  for (int64_t half = ways / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half * int64_t(count); ++i)
      totals[i] = combine(totals[i], totals[i + half * count], isMaximum);
  totals.truncate(count);
  return totals;
}

} // namespace gc::cuda
