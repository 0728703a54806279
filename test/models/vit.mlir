// RUN: gc-gen vit --size=tiny --image=32 --batch=2 --classes=10 --no-locations | FileCheck %s

// CHECK-LABEL: module @vit_tiny
// CHECK: gc.parameter @cls_token : tensor<1x1x192xf32> = <normal, [0.000000e+00, {{(1.0*|9.99999[0-9]*)[eE]-0?[67]}}]>
// CHECK: gc.parameter @pos_embed : tensor<1x5x192xf32> = <truncated_normal, [0.000000e+00, 2.000000e-02, -2.000000e+00, 2.000000e+00]>
// CHECK: gc.parameter @patch_embed.proj.weight : tensor<192x16x16x3xf32> = <uniform,
// CHECK-SAME: file_shape = array<i64: 192, 3, 16, 16>
// CHECK: gc.parameter @blocks.0.attn.qkv.weight : tensor<576x192xf32> = <truncated_normal,
// CHECK: %[[PATCHES:.*]] = gc.patch_embed {{.*}} -> tensor<2x4x192xf32>
// CHECK: %[[X:.*]] = gc.class_token %[[PATCHES]], {{.*}} -> tensor<2x5x192xf32>
// CHECK: %[[NORM1:[^:, ]*]]{{.*}} = gc.layer_norm %[[X]], {{.*}}epsilon = 9.99999997E-7 : f32
// CHECK: %[[QKV:.*]] = gc.linear %[[NORM1]],
// CHECK: %[[HEADS:[^:, ]*]]{{.*}} = gc.attention %[[QKV]] {heads = 3 : i64}
// CHECK: %[[PROJ:.*]] = gc.linear %[[HEADS]],
// CHECK: %[[X1:.*]] = gc.add %[[X]], %[[PROJ]]
// CHECK: %[[NORM2:[^:, ]*]]{{.*}} = gc.layer_norm %[[X1]],
// CHECK: %[[FC1:.*]] = gc.linear %[[NORM2]], {{.*}} -> tensor<2x5x768xf32>
// CHECK: %[[GELU:.*]] = gc.gelu %[[FC1]]
// CHECK: %[[FC2:.*]] = gc.linear %[[GELU]],
// CHECK: gc.add %[[X1]], %[[FC2]]
// CHECK: gc.slice {{.*}}axis = 1 : i64, offset = 0 : i64, size = 1 : i64
// CHECK: gc.reshape {{.*}} -> tensor<2x192xf32>
// CHECK: gc.layer_norm {{.*}} : (tensor<2x192xf32>,
// CHECK: gc.linear {{.*}} -> tensor<2x10xf32>
