//===- KernelTexts.h - GPU kernels as MLIR, for tests ---------------------===//
#ifndef GC_TEST_COMPILER_CUDA_PTX_KERNELTEXTS_H
#define GC_TEST_COMPILER_CUDA_PTX_KERNELTEXTS_H

#include <string>

namespace gc::test {

inline std::string replace(std::string text, const std::string &what, const std::string &by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// y = x * x + x on rows of 256, four elements a thread.
inline const std::string elementwise = R"(
  gpu.func @elementwise(%x: memref<60x256xf32>, %y: memref<60x256xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 60, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c4 = arith.constant 4 : index
    %j = arith.muli %t, %c4 : index
    %v = vector.load %x[%b, %j] : memref<60x256xf32>, vector<4xf32>
    %p = arith.mulf %v, %v : vector<4xf32>
    %s = arith.addf %p, %v : vector<4xf32>
    vector.store %s, %y[%b, %j] : memref<60x256xf32>, vector<4xf32>
    gpu.return
  })";

// y = x^T, a tile of 32 x 32 through shared memory, a column of padding against bank conflicts.
inline const std::string transpose = R"(
  gpu.func @transpose(%x: memref<64x96xf32>, %y: memref<96x64xf32>)
      workgroup(%tile: memref<32x33xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 32, 32, 1>, known_grid_size = array<i32: 3, 2, 1>} {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %row = affine.apply affine_map<(b, t) -> (b * 32 + t)>(%by, %ty)
    %column = affine.apply affine_map<(b, t) -> (b * 32 + t)>(%bx, %tx)
    %v = memref.load %x[%row, %column] : memref<64x96xf32>
    memref.store %v, %tile[%ty, %tx] : memref<32x33xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %w = memref.load %tile[%tx, %ty] : memref<32x33xf32, #gpu.address_space<workgroup>>
    %r = affine.apply affine_map<(b, t) -> (b * 32 + t)>(%bx, %ty)
    %c = affine.apply affine_map<(b, t) -> (b * 32 + t)>(%by, %tx)
    memref.store %w, %y[%r, %c] : memref<96x64xf32>
    gpu.return
  })";

// A warp's sum by shuffles.
inline const std::string warpSum = R"(
  gpu.func @warp_sum(%x: memref<40x32xf32>, %y: memref<40xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 40, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %five = arith.constant 5 : index
    %sixteen = arith.constant 16 : i32
    %width = arith.constant 32 : i32
    %v = memref.load %x[%b, %t] : memref<40x32xf32>
    %sum = scf.for %i = %zero to %five step %one iter_args(%s = %v) -> f32 {
      %shift = arith.index_cast %i : index to i32
      %offset = arith.shrui %sixteen, %shift : i32
      %other, %valid = gpu.shuffle xor %s, %offset, %width : f32
      %next = arith.addf %s, %other : f32
      scf.yield %next : f32
    }
    %first = arith.cmpi eq, %t, %zero : index
    scf.if %first {
      memref.store %sum, %y[%b] : memref<40xf32>
    }
    gpu.return
  })";

// 64 KiB of dynamic shared memory: all that sm_75 has.
inline const std::string dynamicShared = R"(
  gpu.func @dynamic_shared(%x: memref<16384xf32>, %y: memref<16384xf32>) kernel
      attributes {gc.dynamic_shared = 65536 : i64,
                  known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0 : index
    %last = arith.constant 16383 : index
    %size = arith.constant 16384 : index
    %step = arith.constant 128 : index
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %s = memref.view %bytes[%zero][] : memref<?xi8, #gpu.address_space<workgroup>>
        to memref<16384xf32, #gpu.address_space<workgroup>>
    scf.for %i = %t to %size step %step {
      %v = memref.load %x[%i] : memref<16384xf32>
      memref.store %v, %s[%i] : memref<16384xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    scf.for %i = %t to %size step %step {
      %j = arith.subi %last, %i : index
      %v = memref.load %s[%j] : memref<16384xf32, #gpu.address_space<workgroup>>
      memref.store %v, %y[%i] : memref<16384xf32>
    }
    gpu.return
  })";

// Every function that kernels use.
inline const std::string mathFunctions = R"(
  gpu.func @math(%x: memref<128xf32>, %y: memref<128xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %i = affine.apply affine_map<(t) -> (t * 4)>(%t)
    %v = vector.load %x[%i] : memref<128xf32>, vector<4xf32>
    %0 = math.exp %v : vector<4xf32>
    %1 = math.tanh %0 : vector<4xf32>
    %2 = math.erf %1 : vector<4xf32>
    %3 = math.log %2 : vector<4xf32>
    %4 = math.sqrt %3 : vector<4xf32>
    %5 = math.rsqrt %4 : vector<4xf32>
    %6 = math.expm1 %5 : vector<4xf32>
    %7 = math.floor %6 : vector<4xf32>
    %8 = math.ceil %7 : vector<4xf32>
    %9 = math.roundeven %8 : vector<4xf32>
    %10 = math.trunc %9 : vector<4xf32>
    %11 = math.copysign %10, %v : vector<4xf32>
    %12 = math.absf %11 : vector<4xf32>
    %13 = arith.maximumf %12, %v : vector<4xf32>
    %14 = arith.minimumf %13, %0 : vector<4xf32>
    %15 = arith.maxnumf %14, %1 : vector<4xf32>
    %16 = arith.minnumf %15, %2 : vector<4xf32>
    %17 = arith.divf %16, %v : vector<4xf32>
    %18 = arith.subf %17, %3 : vector<4xf32>
    %19 = arith.mulf %18, %4 : vector<4xf32>
    %20 = math.isnan %19 : vector<4xf32>
    %21 = arith.select %20, %v, %19 : vector<4xi1>, vector<4xf32>
    %22 = arith.fptosi %21 : vector<4xf32> to vector<4xi32>
    %23 = arith.sitofp %22 : vector<4xi32> to vector<4xf32>
    %24 = arith.addf %23, %21 : vector<4xf32>
    vector.store %24, %y[%i] : memref<128xf32>, vector<4xf32>
    gpu.return
  })";

// c = a b: tiles of 64 x 64 with 256 threads, 4 x 4 elements each, 16 of k at a time.
inline const std::string matmul = R"(
  gpu.func @matmul(%a: memref<128x192xf32>, %b: memref<192x128xf32>, %c: memref<128x128xf32>)
      workgroup(%sa: memref<16x68xf32, #gpu.address_space<workgroup>>,
                %sb: memref<16x64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 2, 2, 1>} {
    %t = gpu.thread_id x
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %depth = arith.constant 192 : index
    %none = arith.constant dense<0.0> : vector<4x4xf32>
    %tx = affine.apply affine_map<(t) -> ((t mod 16) * 4)>(%t)
    %ty = affine.apply affine_map<(t) -> ((t floordiv 16) * 4)>(%t)
    %sum = scf.for %k = %zero to %depth step %c16 iter_args(%acc = %none) -> vector<4x4xf32> {
      %ai = affine.apply affine_map<(t, b) -> (t floordiv 4 + b * 64)>(%t, %by)
      %ak = affine.apply affine_map<(t, k) -> ((t mod 4) * 4 + k)>(%t, %k)
      %bk = affine.apply affine_map<(t, k) -> (t floordiv 16 + k)>(%t, %k)
      %bj = affine.apply affine_map<(t, b) -> ((t mod 16) * 4 + b * 64)>(%t, %bx)
      %va = vector.load %a[%ai, %ak] : memref<128x192xf32>, vector<4xf32>
      %vb = vector.load %b[%bk, %bj] : memref<192x128xf32>, vector<4xf32>
      gpu.barrier
      %si = affine.apply affine_map<(t) -> (t floordiv 4)>(%t)
      scf.for %e = %zero to %c4 step %one {
        %sk = affine.apply affine_map<(t, e) -> ((t mod 4) * 4 + e)>(%t, %e)
        %ve = vector.extract %va[%e] : f32 from vector<4xf32>
        memref.store %ve, %sa[%sk, %si] : memref<16x68xf32, #gpu.address_space<workgroup>>
      }
      %sk2 = affine.apply affine_map<(t) -> (t floordiv 16)>(%t)
      vector.store %vb, %sb[%sk2, %tx] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      gpu.barrier
      %next = scf.for %q = %zero to %c16 step %one iter_args(%s = %acc) -> vector<4x4xf32> {
        %u = vector.load %sa[%q, %ty] : memref<16x68xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        %v = vector.load %sb[%q, %tx] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        %u2 = vector.broadcast %u : vector<4xf32> to vector<4x4xf32>
        %ut = vector.transpose %u2, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
        %v2 = vector.broadcast %v : vector<4xf32> to vector<4x4xf32>
        %m = math.fma %ut, %v2, %s : vector<4x4xf32>
        scf.yield %m : vector<4x4xf32>
      }
      scf.yield %next : vector<4x4xf32>
    }
    %row = affine.apply affine_map<(t, b) -> (t + b * 64)>(%ty, %by)
    %column = affine.apply affine_map<(t, b) -> (t + b * 64)>(%tx, %bx)
    vector.transfer_write %sum, %c[%row, %column] {in_bounds = [true, true]}
        : vector<4x4xf32>, memref<128x128xf32>
    gpu.return
  })";

// A copy in vectors whose last one goes beyond the end.
inline const std::string edge = R"(
  gpu.func @edge(%x: memref<127xf32>, %y: memref<127xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %i = affine.apply affine_map<(t) -> (t * 4)>(%t)
    %v = vector.transfer_read %x[%i], %zero : memref<127xf32>, vector<4xf32>
    vector.transfer_write %v, %y[%i] : vector<4xf32>, memref<127xf32>
    gpu.return
  })";

} // namespace gc::test

#endif // GC_TEST_COMPILER_CUDA_PTX_KERNELTEXTS_H
