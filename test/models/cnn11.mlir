// RUN: gc-gen cnn11 --image=8 --batch=2 --no-locations | FileCheck %s

// CHECK-LABEL: module @cnn11
// The file is H, W, C like the inside: nothing to permute.
// CHECK: gc.parameter @fc1.weight : tensor<32x320xf32> = <uniform, [{{[^]]*}}]>{{$}}
// CHECK: gc.conv2d {{.*}}padding = array<i64: 2, 2>{{.*}} -> tensor<2x8x8x10xf32>
// CHECK-COUNT-10: gc.conv2d
// CHECK-NOT: gc.conv2d
// CHECK: gc.max_pool {{.*}}tensor<2x4x4x20xf32>
// CHECK-NOT: gc.max_pool
// CHECK: gc.reshape {{.*}} -> tensor<2x320xf32>
