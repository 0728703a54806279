// RUN: gc-gen resnet --depth=18 --image=64 --batch=2 --no-locations | FileCheck %s
// RUN: gc-gen resnet --depth=50 --image=64 --batch=2 --no-locations | FileCheck %s --check-prefix=BOTTLENECK

// CHECK-LABEL: module @resnet18
// sqrt(2 / (64 * 7 * 7)), no bias
// CHECK: gc.parameter @conv1.weight : tensor<64x7x7x3xf32> = <normal, [0.000000e+00, {{2.52538[0-9]*e-02}}]>
// CHECK-NEXT: gc.parameter @bn1.weight
// 1 / sqrt(512)
// CHECK: gc.parameter @fc.weight : tensor<1000x512xf32> = <uniform, [{{-4.41941[0-9]*e-02, 4.41941[0-9]*e-02}}]>
// CHECK: gc.conv2d {{.*}}padding = array<i64: 3, 3>, strides = array<i64: 2, 2>{{.*}} -> tensor<2x32x32x64xf32>
// CHECK: gc.max_pool {{.*}}kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, strides = array<i64: 2, 2>
// CHECK: gc.batch_norm {{.*}}epsilon = 9.99999974E-6 : f32
// CHECK: gc.running_stats {{.*}}momentum = 1.000000e-01 : f32
// The second stage's first block halves and has a shortcut of its own.
// CHECK: gc.read @layer2.0.conv1.weight
// CHECK: gc.conv2d {{.*}}strides = array<i64: 2, 2>{{.*}} -> tensor<2x8x8x128xf32>
// CHECK: gc.read @layer2.0.downsample.0.weight
// CHECK: gc.conv2d {{.*}}padding = array<i64: 0, 0>, strides = array<i64: 2, 2>{{.*}} -> tensor<2x8x8x128xf32>
// CHECK: %[[SUM:.*]] = gc.add
// CHECK: gc.relu %[[SUM]]
// CHECK: gc.global_avg_pool {{.*}} : (tensor<2x2x2x512xf32>) -> tensor<2x512xf32>

// The stride is in the 3x3 convolution.
// BOTTLENECK: gc.read @layer2.0.conv1.weight
// BOTTLENECK: gc.conv2d {{.*}}strides = array<i64: 1, 1>{{.*}} -> tensor<2x16x16x128xf32>
// BOTTLENECK: gc.read @layer2.0.conv2.weight
// BOTTLENECK: gc.conv2d {{.*}}padding = array<i64: 1, 1>, strides = array<i64: 2, 2>{{.*}} -> tensor<2x8x8x128xf32>
// BOTTLENECK: gc.read @layer2.0.conv3.weight
// BOTTLENECK: gc.conv2d {{.*}} -> tensor<2x8x8x512xf32>
