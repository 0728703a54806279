// RUN: gc-gen encoder --layers=1 --width=16 --heads=2 --ffn=32 --sequence=5 --batch=2 --no-locations | FileCheck %s

// CHECK-LABEL: module @encoder
// Xavier: sqrt(6 / (16 + 48))
// CHECK: gc.parameter @layers.0.self_attn.in_proj_weight : tensor<48x16xf32> = <uniform, [{{-3.06186[0-9]*e-01, 3.06186[0-9]*e-01}}]>
// CHECK: gc.parameter @layers.0.self_attn.in_proj_bias : tensor<48xf32> = <constant, [0.000000e+00]>
// CHECK: gc.parameter @layers.0.self_attn.out_proj.weight : tensor<16x16xf32> = <uniform, [-2.500000e-01, 2.500000e-01]>
// CHECK: gc.parameter @layers.0.self_attn.out_proj.bias : tensor<16xf32> = <constant, [0.000000e+00]>
// CHECK: func.func @model(%[[X:.*]]: tensor<2x5x16xf32> {gc.input = "image"}
// CHECK: gc.attention {{.*}}heads = 2 : i64
// CHECK: %[[PROJ:.*]] = gc.linear {{.*}} -> tensor<2x5x16xf32>
// CHECK: %[[SUM:.*]] = gc.add %[[X]], %[[PROJ]]
// CHECK: %[[NORM1:[^:, ]*]]{{.*}} = gc.layer_norm %[[SUM]], {{.*}}epsilon = 9.99999974E-6 : f32
// CHECK: %[[LINEAR1:.*]] = gc.linear %[[NORM1]], {{.*}} -> tensor<2x5x32xf32>
// CHECK: %[[RELU:.*]] = gc.relu %[[LINEAR1]]
// CHECK: %[[LINEAR2:.*]] = gc.linear %[[RELU]],
// CHECK: %[[SUM2:.*]] = gc.add %[[NORM1]], %[[LINEAR2]]
// CHECK: %[[NORM2:[^:, ]*]]{{.*}} = gc.layer_norm %[[SUM2]]
// CHECK: gc.global_avg_pool %[[NORM2]] : (tensor<2x5x16xf32>) -> tensor<2x16xf32>
