//===- GcPool.td - pooling ------------------------------------------------===//
#ifndef GC_POOL_TD
#define GC_POOL_TD
include "dialects/GcBase.td"

// A last window that hangs over the end of image and padding is there too, where it begins before
// the padding after the image: PyTorch's ceil_mode.
def Gc_CeilMode : DefaultValuedAttr<BoolAttr, "false">;
// Whether zeros of the padding count in a mean: PyTorch's count_include_pad.
def Gc_CountPadding : DefaultValuedAttr<BoolAttr, "true">;

def Gc_MaxPoolOp : Gc_PureOp<"max_pool", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"First">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "largest element of each window, and where it was";
  let description = [{
    `index` is the position inside the window (row * kernel width + column), the first of equal ones:
    one byte an element is all that the adjoint keeps. Padding never wins. With `ceil_mode` a last
    window that hangs over the end is there too, where it begins before the padding after the image.

    ```mlir
    %y, %i = gc.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>}
        : (tensor<8x112x112x64xf32>) -> (tensor<8x56x56x64xf32>, tensor<8x56x56x64xi8>)
    ```
  }];
  let arguments = (ins Gc_Image:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
      DenseI64ArrayAttr:$padding, Gc_CeilMode:$ceil_mode);
  let results = (outs Gc_Image:$output, Gc_WindowIndex:$index);
  let hasVerifier = 1;
}

def Gc_MaxPoolGradOp : Gc_PureOp<"max_pool_grad", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"First">, Gc_SameInInference]> {
  let summary = "sends each gradient to the element that won";
  let description = [{
    ```mlir
    %dx = gc.max_pool_grad %i, %dy {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>}
        : (tensor<8x56x56x64xi8>, tensor<8x56x56x64xf32>) -> tensor<8x112x112x64xf32>
    ```
  }];
  let arguments = (ins Gc_WindowIndex:$index, Gc_Image:$gradient, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding, Gc_CeilMode:$ceil_mode);
  let results = (outs Gc_Image:$input_gradient);
  let hasVerifier = 1;
}

def Gc_AvgPoolOp : Gc_PureOp<"avg_pool", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"First">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "mean of each window";
  let description = [{
    Padding counts as zeros, unless `count_padding` is false: then a window's sum is divided by the
    elements of the image in it. `ceil_mode` is as in `gc.max_pool`; what of a window hangs over the
    padding never counts.

    ```mlir
    %y = gc.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>}
        : (tensor<8x14x14x64xf32>) -> tensor<8x7x7x64xf32>
    ```
  }];
  let arguments = (ins Gc_Image:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
      DenseI64ArrayAttr:$padding, Gc_CeilMode:$ceil_mode, Gc_CountPadding:$count_padding);
  let results = (outs Gc_Image:$output);
  let hasVerifier = 1;
}

def Gc_AvgPoolGradOp : Gc_PureOp<"avg_pool_grad", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"First">, Gc_SameInInference]> {
  let summary = "spreads each gradient over its window";
  let description = [{
    ```mlir
    %dx = gc.avg_pool_grad %dy {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>}
        : (tensor<8x7x7x64xf32>) -> tensor<8x14x14x64xf32>
    ```
  }];
  let arguments = (ins Gc_Image:$gradient, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
      DenseI64ArrayAttr:$padding, Gc_CeilMode:$ceil_mode, Gc_CountPadding:$count_padding);
  let results = (outs Gc_Image:$input_gradient);
  let hasVerifier = 1;
}

def Gc_GlobalAvgPoolOp : Gc_PureOp<"global_avg_pool", [
    Gc_OwnPrecision, Gc_OwnSingles, Gc_Cost<"Rows", 1>, Gc_Samples<"First">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "mean over the middle dimensions";
  let description = [{
    [N, ..., C] to [N, C]: space of an image, or positions of a sequence.

    ```mlir
    %y = gc.global_avg_pool %x : (tensor<8x7x7x512xf32>) -> tensor<8x512xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input);
  let results = (outs Gc_SampleSum:$output);
}

def Gc_GlobalAvgPoolGradOp : Gc_PureOp<"global_avg_pool_grad", [
    Gc_OwnPrecision, Gc_OwnSingles, Gc_Cost<"Rows", 1>, Gc_Samples<"First">, Gc_SameInInference]> {
  let summary = "spreads a gradient evenly over the middle dimensions";
  let description = [{
    ```mlir
    %dx = gc.global_avg_pool_grad %dy : (tensor<8x512xf32>) -> tensor<8x7x7x512xf32>
    ```
  }];
  let arguments = (ins Gc_Matrix:$gradient);
  let results = (outs Gc_Value:$input_gradient);
  let hasVerifier = 1;
}
#endif
