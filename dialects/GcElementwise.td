//===- GcElementwise.td - point-by-point ops ------------------------------===//
#ifndef GC_ELEMENTWISE_TD
#define GC_ELEMENTWISE_TD
include "dialects/GcBase.td"

// One formula at every point; `flops` is what it takes.
class Gc_Elementwise<string mnemonic, int flops, list<Trait> traits = []>
    : Gc_PureOp<mnemonic, !listconcat([SameOperandsAndResultType, InPlaceOpInterface, Gc_Pointwise,
                                       Gc_Cost<"Stream", flops>, Gc_Samples<"Everywhere">,
                                       Gc_SameInInference],
                                      traits)>;

class Gc_Unary<string mnemonic, string formula, int flops, list<Trait> traits = []>
    : Gc_Elementwise<mnemonic, flops, !listconcat([Gc_Differentiable], traits)> {
  let summary = "y = " # formula;
  let description = "Element by element: `y = " # formula # [{`.

    ```mlir
    %y = gc.}] # mnemonic # [{ %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input);
  let results = (outs Gc_Value:$output);
}
class Gc_Binary<string mnemonic, string formula, int flops, list<Trait> traits = []>
    : Gc_Elementwise<mnemonic, flops, !listconcat([Gc_Differentiable], traits)> {
  let summary = "y = " # formula;
  let description = "Element by element: `y = " # formula # [{`; no broadcasting.

    ```mlir
    %y = gc.}] # mnemonic # [{ %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$lhs, Gc_Value:$rhs);
  let results = (outs Gc_Value:$output);
}

def Gc_AddOp : Gc_Binary<"add", "lhs + rhs", 1, [Gc_KeepsMeans]>;
def Gc_SubOp : Gc_Binary<"sub", "lhs - rhs", 1, [Gc_KeepsMeans]>;
def Gc_MulOp : Gc_Binary<"mul", "lhs * rhs", 1>;
def Gc_DivOp : Gc_Binary<"div", "lhs / rhs", 1>;
def Gc_NegOp : Gc_Unary<"neg", "-x", 1, [Gc_KeepsMeans]>;
def Gc_ExpOp : Gc_Unary<"exp", "exp(x)", 20>;
def Gc_LogOp : Gc_Unary<"log", "log(x)", 20>;
def Gc_SqrtOp : Gc_Unary<"sqrt", "sqrt(x)", 1>;
def Gc_TanhOp : Gc_Unary<"tanh", "tanh(x)", 20>;
def Gc_SigmoidOp : Gc_Unary<"sigmoid", "1 / (1 + exp(-x))", 20>;
def Gc_ReluOp : Gc_Unary<"relu", "max(x, 0)", 1>;
def Gc_GeluOp : Gc_Unary<"gelu", "x * (1 + erf(x / sqrt 2)) / 2", 20>;
def Gc_SiluOp : Gc_Unary<"silu", "x / (1 + exp(-x))", 20>;

def Gc_ScaleOp : Gc_Elementwise<"scale", 1, [Gc_Differentiable, Gc_KeepsMeans]> {
  let summary = "y = factor * x";
  let description = [{
    Multiplies by a constant.

    ```mlir
    %y = gc.scale %x {factor = 0.5 : f32} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Finite:$factor);
  let results = (outs Gc_Value:$output);
}

def Gc_ReluGradOp : Gc_Elementwise<"relu_grad", 1> {
  let summary = "dx = dy where y > 0, else 0";
  let description = [{
    The adjoint of `gc.relu`, from its output, so that the input need not be kept.

    ```mlir
    %dx = gc.relu_grad %y, %dy : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$output, Gc_Value:$gradient);
  let results = (outs Gc_Value:$input_gradient);
}

def Gc_GeluGradOp : Gc_Elementwise<"gelu_grad", 40> {
  let summary = "dx = dy * gelu'(x)";
  let description = [{
    The adjoint of `gc.gelu`, from its input: `gelu'(x) = (1 + erf(x / sqrt 2)) / 2 + x exp(-x^2 / 2)
    / sqrt(2 pi)`.

    ```mlir
    %dx = gc.gelu_grad %x, %dy : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Value:$gradient);
  let results = (outs Gc_Value:$input_gradient);
}

def Gc_SiluGradOp : Gc_Elementwise<"silu_grad", 20> {
  let summary = "dx = dy * silu'(x)";
  let description = [{
    The adjoint of `gc.silu`, from its input: `silu'(x) = s (1 + x (1 - s))` with `s = 1 / (1 +
    exp(-x))`.

    ```mlir
    %dx = gc.silu_grad %x, %dy : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Value:$gradient);
  let results = (outs Gc_Value:$input_gradient);
}

def Gc_BiasOp : Gc_PureOp<"bias", [
    Gc_Cost<"Stream", 1>, Gc_Samples<"Everywhere">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable, Gc_Fusible, InPlaceOpInterface]> {
  let summary = "y = x + bias along the last dimension";
  let description = [{
    ```mlir
    %y = gc.bias %x, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Channel:$bias);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

def Gc_BroadcastOp : Gc_PureOp<"broadcast", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"Everywhere">, Gc_SameInInference,
    Gc_Differentiable]> {
  let summary = "repeats a tensor along new or unit dimensions";
  let description = [{
    `dimensions[i]` is the result dimension that input dimension i becomes; all others repeat.
    An input dimension of size 1 repeats too.

    ```mlir
    %y = gc.broadcast %x {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, DenseI64ArrayAttr:$dimensions);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

def Gc_DropoutOp : Gc_PureOp<"dropout", [
    Gc_Cost<"Rows", 100>, Gc_Samples<"Everywhere">, Gc_OwnInference,
    InferTypeOpAdaptor, Gc_Differentiable, InPlaceOpInterface]> {
  let summary = "zeroes elements with a probability and scales the rest";
  let description = [{
    Element i is kept when word i mod 4 of Philox4x32-10, with key (low half of seed, high half xor
    id) and counter (b low, b high, step low, step high) for block b = i / 4, is at least `probability`
    of its range; kept elements are divided by 1 - probability. `generator` holds (seed, step): the
    same step gives the same mask, so a clone draws the same bits, and the adjoint is the op itself
    applied to the gradient.

    Where a step has several micro-batches, `micro_batch` holds the index m of the present one, and
    b = m * ceil(elements / 4) + i / 4: micro-batches draw different masks, and where the elements are
    a multiple of four and the batch is the first dimension, together those of the whole batch.

    ```mlir
    %g = gc.read @generator : tensor<2xi64>
    %y = gc.dropout %x, %g {probability = 0.1 : f32, id = 3 : i64} : (tensor<8xf32>, tensor<2xi64>) -> tensor<8xf32>
    %m = gc.read @micro_batch : tensor<1xi64>
    %y = gc.dropout %x, %g, %m {probability = 0.1 : f32, id = 3 : i64} : (tensor<8xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Generator:$generator,
      Optional<Gc_Counter>:$micro_batch, F32Attr:$probability, I64Attr:$id);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}
#endif
