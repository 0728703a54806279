// RUN: gc-gen mnist --image=112 --batch=4 --no-locations | FileCheck %s
// RUN: gc-gen mnist --image=224 --batch=4 --norm=group --no-locations | FileCheck %s --check-prefix=GROUP

// CHECK: // gc-gen mnist --image=112 --batch=4 --norm=batch --classes=10
// CHECK: // 133,650 parameters
// CHECK-LABEL: module @mnist attributes {gc.classes = 10 : i64}
// 1 / sqrt(1 * 2 * 2)
// CHECK: gc.parameter @blocks.0.conv.weight : tensor<48x2x2x1xf32> = <uniform, [-5.000000e-01, 5.000000e-01]>
// CHECK-SAME: file_permutation = array<i64: 0, 2, 3, 1>
// CHECK-SAME: file_shape = array<i64: 48, 1, 2, 2>
// CHECK: gc.parameter @blocks.0.conv.bias : tensor<48xf32> = <uniform, [-5.000000e-01, 5.000000e-01]>
// CHECK: gc.parameter @blocks.0.norm.weight : tensor<48xf32> = <constant, [1.000000e+00]>
// CHECK: gc.state @blocks.0.norm.running_mean running_statistic : tensor<48xf32>

// CHECK: func.func @model(%[[IMAGE:.*]]: tensor<4x112x112x1xf32> {gc.input = "image"}, %[[LABEL:.*]]: tensor<4xi32> {gc.input = "label"})
// CHECK-SAME: -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "correct"})
// CHECK: %[[CONV:.*]] = gc.conv2d %[[IMAGE]], %{{.*}} bias %{{.*}} {padding = array<i64: 0, 0>, strides = array<i64: 2, 2>}
// CHECK: %[[NORM:[^:, ]*]]{{.*}} = gc.batch_norm %[[CONV]],
// 4 * 56 * 56 elements a channel
// CHECK: gc.running_stats @blocks.0.norm.running_mean, @blocks.0.norm.running_var, {{.*}}count = 12544 : i64
// CHECK: gc.relu %[[NORM]]
// Seven pixels become four.
// CHECK: gc.conv2d {{.*}}padding = array<i64: 1, 1>{{.*}}tensor<4x7x7x72xf32>{{.*}} -> tensor<4x4x4x80xf32>
// CHECK: -> tensor<4x1x1x96xf32>
// CHECK: gc.reshape {{.*}} : (tensor<4x1x1x96xf32>) -> tensor<4x96xf32>
// CHECK: %[[FC1:.*]] = gc.linear {{.*}} -> tensor<4x32xf32>
// CHECK: %[[RELU:.*]] = gc.relu %[[FC1]]
// CHECK: %[[LOGITS:.*]] = gc.linear %[[RELU]], {{.*}} -> tensor<4x10xf32>
// CHECK: gc.cross_entropy %[[LOGITS]], %[[LABEL]]
// CHECK: gc.accuracy %[[LOGITS]], %[[LABEL]]

// A larger image enters the chain one block earlier; eight channels make a group.
// GROUP-NOT: gc.state
// GROUP: gc.conv2d {{.*}}tensor<4x224x224x1xf32>{{.*}} -> tensor<4x112x112x40xf32>
// GROUP: gc.group_norm {{.*}}groups = 5 : i64
// GROUP-COUNT-7: gc.group_norm
// GROUP-NOT: gc.group_norm
// GROUP-NOT: gc.running_stats
