// RUN: gc-gen vgg --image=224 --batch=1 --no-locations | FileCheck %s
// RUN: gc-gen vgg --image=32 --batch=1 --dropout=0 --no-locations | FileCheck %s --check-prefix=ONE
// RUN: gc-gen vgg --image=448 --batch=1 --dropout=0 --no-locations | FileCheck %s --check-prefix=TWICE
// RUN: gc-gen vgg --image=64 --batch=1 --dropout=0 --no-locations | FileCheck %s --check-prefix=WINDOWS

// CHECK-LABEL: module @vgg16
// sqrt(2 / (64 * 3 * 3))
// CHECK: gc.parameter @features.0.weight : tensor<64x3x3x3xf32> = <normal, [0.000000e+00, {{5.89255[0-9]*e-02}}]>
// CHECK: gc.parameter @features.0.bias : tensor<64xf32> = <constant, [0.000000e+00]>
// CHECK: gc.parameter @features.28.weight
// CHECK: gc.parameter @classifier.0.weight : tensor<4096x25088xf32> = <normal, [0.000000e+00, 1.000000e-02]>
// CHECK-SAME: file_permutation = array<i64: 0, 2, 3, 1>
// CHECK-SAME: file_shape = array<i64: 4096, 25088>
// CHECK-SAME: file_split = array<i64: 4096, 512, 7, 7>
// CHECK: gc.state @generator generator : tensor<2xi64> = <constant, [0.000000e+00]>
// At 224 the map is 7x7 already.
// CHECK-NOT: gc.avg_pool
// CHECK: gc.dropout {{.*}}id = 0 : i64, probability = 5.000000e-01 : f32
// CHECK: gc.dropout {{.*}}id = 1 : i64, probability = 5.000000e-01 : f32

// ONE-NOT: gc.state
// ONE: gc.broadcast {{.*}} : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
// ONE-NOT: gc.dropout

// TWICE: gc.avg_pool {{.*}} : (tensor<1x14x14x512xf32>) -> tensor<1x7x7x512xf32>

// PyTorch's windows of seven over two rows: row 0 three times, the mean of both, row 1 three times.
// WINDOWS-COUNT-3: gc.slice {{.*}}axis = 1 : i64, offset = 0 : i64, size = 1 : i64
// WINDOWS: gc.avg_pool {{.*}}kernel = array<i64: 2, 1>{{.*}} -> tensor<1x1x2x512xf32>
// WINDOWS-COUNT-3: gc.slice {{.*}}axis = 1 : i64, offset = 1 : i64, size = 1 : i64
// WINDOWS: gc.concat {{.*}}axis = 1 : i64{{.*}} -> tensor<1x7x2x512xf32>
// WINDOWS: gc.concat {{.*}}axis = 2 : i64{{.*}} -> tensor<1x7x7x512xf32>
