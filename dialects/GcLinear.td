//===- GcLinear.td - convolution and matrix products ----------------------===//
#ifndef GC_LINEAR_TD
#define GC_LINEAR_TD
include "dialects/GcBase.td"

def Gc_ActivationKind : I32EnumAttr<"Activation", "what follows a product in the same kernel", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Relu", 1, "relu">,
    I32EnumAttrCase<"Gelu", 2, "gelu">]> {
  let cppNamespace = "::gc";
  let genSpecializedAttr = 0;
}
def Gc_Activation : EnumAttr<Gc_Dialect, Gc_ActivationKind, "activation">;

// Products that a library computes may carry an epilogue: activation(product + bias + residual).
class Gc_ProductOp<string mnemonic, list<Trait> traits = []>
    : Gc_PureOp<mnemonic, !listconcat([AttrSizedOperandSegments, Gc_OwnPrecision, Gc_OwnCost,
                                       Gc_OwnSamples, Gc_SameInInference,
                                       InferTypeOpAdaptorWithIsCompatible, Gc_Differentiable,
                                       EpilogueOpInterface],
                                      traits)>;

// Of a convolution and its gradients.
def Gc_Dilation : DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">;
def Gc_Groups : DefaultValuedAttr<I64Attr, "1">;

def Gc_Conv2dOp : Gc_ProductOp<"conv2d"> {
  let summary = "2-D convolution, NHWC by OHWI";
  let description = [{
    `output = activation(input * filter + bias + residual)`, cross-correlation as in PyTorch.
    `padding` is the same at both ends of a dimension; neighbours under the filter are `dilation`
    pixels apart. With `groups` > 1 input and output channels are cut into so many runs, run g of the
    output sees run g of the input, and the filter has the channels of one run: [out, kernel, kernel,
    in / groups]. With as many groups as input channels it is depthwise.

    ```mlir
    %y = gc.conv2d %x, %w bias %b {strides = array<i64: 2, 2>, padding = array<i64: 3, 3>}
        : (tensor<8x224x224x3xf32>, tensor<64x7x7x3xf32>, tensor<64xf32>) -> tensor<8x112x112x64xf32>
    %z = gc.conv2d %y, %d {strides = array<i64: 1, 1>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 64 : i64}
        : (tensor<8x112x112x64xf32>, tensor<64x3x3x1xf32>) -> tensor<8x112x112x64xf32>
    ```
  }];
  let arguments = (ins Gc_Image:$input, Gc_Image:$filter, Optional<Gc_Channel>:$bias,
      Optional<Gc_Image>:$residual, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
      Gc_Dilation:$dilation, Gc_Groups:$groups,
      DefaultValuedAttr<Gc_Activation, "::gc::Activation::None">:$activation);
  let results = (outs Gc_Image:$output);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? (`residual` $residual^)?
    (`activation` `=` $activation^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$filter,
      "::mlir::Value":$bias, "::llvm::ArrayRef<int64_t>":$strides,
      "::llvm::ArrayRef<int64_t>":$padding,
      CArg<"::llvm::ArrayRef<int64_t>", "{1, 1}">:$dilation, CArg<"int64_t", "1">:$groups)>];
  let hasVerifier = 1;
}

def Gc_Conv2dGradInputOp : Gc_PureOp<"conv2d_grad_input", [
    Gc_OwnPrecision, Gc_OwnCost, Gc_Samples<"FirstOfFirstOperand">, Gc_SameInInference, Gc_Differentiable]> {
  let summary = "gradient of a convolution's input; a transposed convolution";
  let description = [{
    Also what PyTorch calls a transposed convolution, from `gradient` to the result: its filter
    [in, out / groups, kernel, kernel] in the file is OIHW of the convolution whose gradient it is,
    `output_padding` is in the size of the result, and a bias is a `gc.bias` that follows.

    ```mlir
    %dx = gc.conv2d_grad_input %dy, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>}
        : (tensor<8x14x14x64xf32>, tensor<64x3x3x32xf32>) -> tensor<8x14x14x32xf32>
    ```
  }];
  let arguments = (ins Gc_Image:$gradient, Gc_Image:$filter, DenseI64ArrayAttr:$strides,
      DenseI64ArrayAttr:$padding, Gc_Dilation:$dilation, Gc_Groups:$groups);
  let results = (outs Gc_Image:$input_gradient);
  let hasVerifier = 1;
}

def Gc_Conv2dGradFilterOp : Gc_PureOp<"conv2d_grad_filter", [
    Gc_OwnPrecision, Gc_OwnCost, Gc_Samples<"Nowhere">, Gc_SameInInference]> {
  let summary = "gradient of a convolution's filter and bias";
  let description = [{
    The second result, the sum of the gradient over batch and space, is there when the convolution
    has a bias.

    ```mlir
    %dw = gc.conv2d_grad_filter %x, %dy {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>}
        : (tensor<8x14x14x32xf32>, tensor<8x14x14x64xf32>) -> tensor<64x3x3x32xf32>
    ```
  }];
  let arguments = (ins Gc_Image:$input, Gc_Image:$gradient, DenseI64ArrayAttr:$strides,
      DenseI64ArrayAttr:$padding, Gc_Dilation:$dilation, Gc_Groups:$groups);
  let results = (outs Gc_Image:$filter_gradient, Optional<Gc_Channel>:$bias_gradient);
  let hasVerifier = 1;
}

def Gc_LinearOp : Gc_ProductOp<"linear"> {
  let summary = "y = activation(x W^T + bias + residual)";
  let description = [{
    `input` is [..., K], `weight` [N, K], as in PyTorch; leading dimensions are rows.

    ```mlir
    %y = gc.linear %x, %w bias %b : (tensor<8x197x384xf32>, tensor<1152x384xf32>, tensor<1152xf32>) -> tensor<8x197x1152xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Matrix:$weight, Optional<Gc_Channel>:$bias,
      Optional<Gc_Value>:$residual,
      DefaultValuedAttr<Gc_Activation, "::gc::Activation::None">:$activation);
  let results = (outs Gc_Value:$output);
  let assemblyFormat = [{
    $input `,` $weight (`bias` $bias^)? (`residual` $residual^)?
    (`activation` `=` $activation^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$weight,
      "::mlir::Value":$bias)>];
  let hasVerifier = 1;
}

def Gc_LinearGradInputOp : Gc_PureOp<"linear_grad_input", [
    Gc_OwnPrecision, Gc_OwnCost, Gc_OwnSamples, Gc_SameInInference,
    InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "dx = dy W";
  let description = [{
    ```mlir
    %dx = gc.linear_grad_input %dy, %w : (tensor<8x10xf32>, tensor<10x32xf32>) -> tensor<8x32xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$gradient, Gc_Matrix:$weight);
  let results = (outs Gc_Value:$input_gradient);
  let hasVerifier = 1;
}

def Gc_LinearGradWeightOp : Gc_PureOp<"linear_grad_weight", [
    Gc_OwnPrecision, Gc_OwnCost, Gc_Samples<"Nowhere">, Gc_SameInInference,
    InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "dW = dy^T x";
  let description = [{
    ```mlir
    %dw = gc.linear_grad_weight %x, %dy : (tensor<8x32xf32>, tensor<8x10xf32>) -> tensor<10x32xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Value:$gradient);
  let results = (outs Gc_Matrix:$weight_gradient);
  let hasVerifier = 1;
}

def Gc_MatmulOp : Gc_PureOp<"matmul", [Gc_OwnPrecision, Gc_OwnCost, Gc_OwnSamples, Gc_SameInInference,
    InferTypeOpAdaptorWithIsCompatible, Gc_Differentiable]> {
  let summary = "batched matrix product";
  let description = [{
    `op(lhs) op(rhs)` over the last two dimensions, where op transposes if asked; leading dimensions
    are equal.

    ```mlir
    %y = gc.matmul %a, %b {transpose_rhs = true} : (tensor<4x8x16xf32>, tensor<4x9x16xf32>) -> tensor<4x8x9xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$lhs, Gc_Value:$rhs,
      DefaultValuedAttr<BoolAttr, "false">:$transpose_lhs,
      DefaultValuedAttr<BoolAttr, "false">:$transpose_rhs);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}
#endif
