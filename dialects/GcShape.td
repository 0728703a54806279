//===- GcShape.td - moving and reducing -----------------------------------===//
#ifndef GC_SHAPE_TD
#define GC_SHAPE_TD
include "dialects/GcBase.td"

def Gc_ReshapeOp : Gc_PureOp<"reshape", [Gc_Cost<"Rows", 1>, Gc_Samples<"Everywhere">, Gc_KeepsMeans, Gc_SameInInference,
    Gc_Differentiable,
    DeclareOpInterfaceMethods<InPlaceOpInterface, ["canWriteOver", "isView"]>]> {
  let summary = "the same elements in another shape";
  let description = [{
    Moves nothing: operand and result are the same bytes.

    ```mlir
    %y = gc.reshape %x : (tensor<8x4x4x2xf32>) -> tensor<8x32xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

def Gc_TransposeOp : Gc_PureOp<"transpose", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"Everywhere">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "permutes dimensions";
  let description = [{
    Result dimension i is input dimension `permutation[i]`.

    ```mlir
    %y = gc.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<8x4x2xf32>) -> tensor<8x2x4xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

def Gc_ConcatOp : Gc_PureOp<"concat", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"Everywhere">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "joins tensors along an axis";
  let description = [{
    ```mlir
    %y = gc.concat %a, %b {axis = 1 : i64} : (tensor<8x1x4xf32>, tensor<8x9x4xf32>) -> tensor<8x10x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Gc_Value>:$inputs, I64Attr:$axis);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

def Gc_SliceOp : Gc_PureOp<"slice", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"Everywhere">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable,
    DeclareOpInterfaceMethods<InPlaceOpInterface, ["canWriteOver", "isView", "getViewOffset"]>]> {
  let summary = "a range of an axis";
  let description = [{
    Rows (axis 0) of what an op has computed are its bytes, and nothing is copied, where they begin and
    end at multiples of 64 bytes. Everything else is a copy.

    ```mlir
    %y = gc.slice %x {axis = 1 : i64, offset = 0 : i64, size = 1 : i64} : (tensor<8x197x384xf32>) -> tensor<8x1x384xf32>
    ```
  }];
  let arguments = (ins Gc_Movable:$input, I64Attr:$axis, I64Attr:$offset, I64Attr:$size);
  let results = (outs Gc_Movable:$output);
  let hasVerifier = 1;
}

def Gc_PadOp : Gc_PureOp<"pad", [Gc_Cost<"Rows", 1>, Gc_Samples<"Everywhere">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "zeros before and after along an axis";
  let description = [{
    The adjoint of `gc.slice`.

    ```mlir
    %y = gc.pad %x {axis = 1 : i64, low = 0 : i64, high = 196 : i64} : (tensor<8x1x384xf32>) -> tensor<8x197x384xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, I64Attr:$axis, I64Attr:$low, I64Attr:$high);
  let results = (outs Gc_Value:$output);
}

def Gc_RollOp : Gc_PureOp<"roll", [
    Gc_Cost<"Rows", 1>, Gc_OwnSamples, Gc_SameInInference, InferTypeOpAdaptor,
    Gc_Differentiable]> {
  let summary = "shifts along an axis, and what leaves at one end comes in at the other";
  let description = [{
    Element i of the axis becomes element (i + shift) mod size; `shift` is between 1 and size - 1.

    ```mlir
    %y = gc.roll %x {axis = 1 : i64, shift = 53 : i64} : (tensor<8x56x56x96xf32>) -> tensor<8x56x56x96xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, I64Attr:$axis, I64Attr:$shift);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

def Gc_FlipOp : Gc_PureOp<"flip", [
    Gc_Cost<"Rows", 1>, Gc_OwnSamples, Gc_SameInInference, InferTypeOpAdaptor,
    Gc_Differentiable]> {
  let summary = "reverses an axis";
  let description = [{
    ```mlir
    %y = gc.flip %x {axis = 2 : i64} : (tensor<8x56x56x96xf32>) -> tensor<8x56x56x96xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, I64Attr:$axis);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

def Gc_PutRowsOp : Gc_PureOp<"put_rows", [
    DeclareOpInterfaceMethods<CostOpInterface, ["getBytesMoved"]>, Gc_Samples<"Nowhere">,
    Gc_SameInInference, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<InPlaceOpInterface, ["canWriteOver"]>]> {
  let summary = "a tensor with some of its rows replaced";
  let description = [{
    Rows [from, from + n) of the result are the n rows of `part`, the others those of `whole`. Written
    over `whole` where that dies, so that only the part is copied. What `--gc-expand` makes of parts
    that are joined along axis 0: each dies as soon as it is in its place.

    ```mlir
    %y = gc.put_rows %whole, %part {from = 2 : i64} : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$whole, Gc_Value:$part, I64Attr:$from);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

class Gc_Reduce<string mnemonic, list<Trait> traits = []>
    : Gc_PureOp<mnemonic, !listconcat([Gc_OwnPrecision, Gc_OwnSingles, Gc_Cost<"Rows", 1>,
                                       Gc_OwnSamples, Gc_SameInInference, InferTypeOpAdaptor,
                                       Gc_Differentiable], traits)> {
  let arguments = (ins Gc_Value:$input, DenseI64ArrayAttr:$dimensions);
  let results = (outs Gc_Sum:$output);
  let hasVerifier = 1;
}
def Gc_ReduceSumOp : Gc_Reduce<"reduce_sum", [Gc_ChannelSum]> {
  let summary = "sum over dimensions, which disappear";
  let description = [{
    ```mlir
    %y = gc.reduce_sum %x {dimensions = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<4xf32>
    ```
  }];
}
def Gc_ReduceMeanOp : Gc_Reduce<"reduce_mean"> {
  let summary = "mean over dimensions, which disappear";
  let description = [{
    ```mlir
    %y = gc.reduce_mean %x {dimensions = array<i64: 1>} : (tensor<8x128x512xf32>) -> tensor<8x512xf32>
    ```
  }];
}
def Gc_ReduceMaxOp : Gc_Reduce<"reduce_max"> {
  let summary = "largest element over dimensions, which disappear";
  let description = [{
    The gradient goes to every element that equals the largest, divided by their number.

    ```mlir
    %y = gc.reduce_max %x {dimensions = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<8xf32>
    ```
  }];
}
def Gc_ReduceMaxGradOp : Gc_PureOp<"reduce_max_grad", [
    Gc_OwnPrecision, Gc_OwnSingles, Gc_Cost<"Rows", 1>, Gc_OwnSamples, Gc_SameInInference]> {
  let summary = "shares a gradient among the elements that equal the largest";
  let description = [{
    ```mlir
    %dx = gc.reduce_max_grad %x, %y, %dy {dimensions = array<i64: 1>} : (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Sum:$output, Gc_Sum:$gradient,
      DenseI64ArrayAttr:$dimensions);
  let results = (outs Gc_Value:$input_gradient);
  let hasVerifier = 1;
}
#endif
