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
def Gc_SiluOp : Gc_Unary<"silu", "x / (1 + exp(-x))", 20>;
def Gc_AbsOp : Gc_Unary<"abs", "|x|", 1>;
def Gc_RsqrtOp : Gc_Unary<"rsqrt", "1 / sqrt(x)", 2>;
def Gc_SoftplusOp : Gc_Unary<"softplus", "log(1 + exp(x))", 40>;
def Gc_HardswishOp : Gc_Unary<"hardswish", "x * min(max(x + 3, 0), 6) / 6", 5>;
def Gc_HardsigmoidOp : Gc_Unary<"hardsigmoid", "min(max(x + 3, 0), 6) / 6", 4>;

def Gc_GeluFormKind : I32EnumAttr<"GeluForm", "by which formula GELU is computed", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Tanh", 1, "tanh">]> {
  let cppNamespace = "::gc";
  let genSpecializedAttr = 0;
}
def Gc_GeluForm : EnumAttr<Gc_Dialect, Gc_GeluFormKind, "gelu_form">;

def Gc_GeluOp : Gc_Elementwise<"gelu", 20, [Gc_Differentiable]> {
  let summary = "y = x * (1 + erf(x / sqrt 2)) / 2, or its approximation by tanh";
  let description = [{
    Element by element: `y = x * (1 + erf(x / sqrt 2)) / 2`; with `approximate = tanh`, as in GPT-2,
    `y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2`.

    ```mlir
    %y = gc.gelu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = gc.gelu %x approximate = tanh : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input,
      DefaultValuedAttr<Gc_GeluForm, "::gc::GeluForm::None">:$approximate);
  let results = (outs Gc_Value:$output);
  let assemblyFormat = [{
    $input (`approximate` `=` $approximate^)? attr-dict `:` functional-type(operands, results)
  }];
}

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

def Gc_AddScalarOp : Gc_Elementwise<"add_scalar", 1, [Gc_Differentiable, Gc_KeepsMeans]> {
  let summary = "y = x + addend";
  let description = [{
    Adds a constant.

    ```mlir
    %y = gc.add_scalar %x {addend = 3.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Finite:$addend);
  let results = (outs Gc_Value:$output);
}

def Gc_PowOp : Gc_Elementwise<"pow", 40, [Gc_Differentiable]> {
  let summary = "y = x^exponent";
  let description = [{
    Raises to a constant power, which is not 0. Whole and half exponents of at most 32 are computed by
    products (and a division, a square root), all others as `exp(exponent * log(x))`: for these a
    negative x gives a NaN, as in PyTorch.

    ```mlir
    %y = gc.pow %x {exponent = 3.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Finite:$exponent);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

def Gc_ClampOp : Gc_Elementwise<"clamp", 2, [Gc_Differentiable]> {
  let summary = "y = min(max(x, low), high)";
  let description = [{
    At least one of the bounds is there. A gradient passes where `low <= x <= high`; with `open` where
    `low < x < high`, as in PyTorch's ReLU6 and hardtanh, and then only the output need be kept. NaN
    stays NaN.

    ```mlir
    %y = gc.clamp %x {low = 0.0 : f32, high = 6.0 : f32, open = true} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, OptionalAttr<Gc_Finite>:$low, OptionalAttr<Gc_Finite>:$high,
      DefaultValuedAttr<BoolAttr, "false">:$open);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

def Gc_LeakyReluOp : Gc_Elementwise<"leaky_relu", 2, [Gc_Differentiable]> {
  let summary = "y = x where x > 0, else slope * x";
  let description = [{
    ```mlir
    %y = gc.leaky_relu %x {slope = 0.01 : f32} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_NotNegative:$slope);
  let results = (outs Gc_Value:$output);
}

def Gc_EluOp : Gc_Elementwise<"elu", 20, [Gc_Differentiable]> {
  let summary = "y = x where x > 0, else alpha * (exp(x) - 1)";
  let description = [{
    ```mlir
    %y = gc.elu %x {alpha = 1.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_NotNegative:$alpha);
  let results = (outs Gc_Value:$output);
}

def Gc_CastOp : Gc_PureOp<"cast", [
    Gc_Cost<"Stream", 1>, Gc_Samples<"Everywhere">, Gc_KeepsMeans, Gc_SameInInference,
    SameOperandsAndResultShape, InPlaceOpInterface, Gc_Pointwise, Gc_Differentiable,
    Gc_OwnPrecision]> {
  let summary = "the same numbers in another type";
  let description = [{
    Rounded to the nearest, of two the even one: the same bits on every device and every CPU. What is
    too large becomes infinite, NaN stays NaN. Its gradient is that of the result, in the type of
    `input`.

    ```mlir
    %y = gc.cast %x : (tensor<8x4xf32>) -> tensor<8x4xbf16>
    ```
  }];
  let arguments = (ins Gc_Value:$input);
  let results = (outs Gc_Value:$output);
}

def Gc_PredicateKind : I32EnumAttr<"Predicate", "how two numbers are compared", [
    I32EnumAttrCase<"Less", 0, "lt">, I32EnumAttrCase<"LessOrEqual", 1, "le">,
    I32EnumAttrCase<"Greater", 2, "gt">, I32EnumAttrCase<"GreaterOrEqual", 3, "ge">,
    I32EnumAttrCase<"Equal", 4, "eq">, I32EnumAttrCase<"NotEqual", 5, "ne">]> {
  let cppNamespace = "::gc";
  let genSpecializedAttr = 0;
}
def Gc_Predicate : EnumAttr<Gc_Dialect, Gc_PredicateKind, "predicate">;

def Gc_CompareOp : Gc_Elementwise<"compare", 1, [Gc_Differentiable]> {
  let summary = "y = 1 where lhs compares so with rhs, else 0";
  let description = [{
    A mask for `gc.select` and `gc.masked_fill`; of masks, `and` is `gc.mul`, `not` is `gc.compare eq`
    with zeros. Comparisons with NaN are false, but `ne` is true. No gradient passes.

    ```mlir
    %y = gc.compare lt %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Gc_Predicate:$predicate, Gc_Value:$lhs, Gc_Value:$rhs);
  let results = (outs Gc_Value:$output);
  let assemblyFormat = [{
    $predicate $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
}

def Gc_SelectOp : Gc_Elementwise<"select", 1, [Gc_Differentiable]> {
  let summary = "y = lhs where mask is not 0, else rhs";
  let description = [{
    PyTorch's `where`. No gradient passes to the mask.

    ```mlir
    %y = gc.select %mask, %a, %b : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$mask, Gc_Value:$lhs, Gc_Value:$rhs);
  let results = (outs Gc_Value:$output);
}

def Gc_FillValue : ConfinedAttr<F32Attr, [AttrConstraint<
    CPred<"!::llvm::cast<::mlir::FloatAttr>($_self).getValue().isNaN()">, "that is not NaN">]>;

def Gc_MaskedFillOp : Gc_Elementwise<"masked_fill", 1, [Gc_Differentiable]> {
  let summary = "y = value where mask is not 0, else x";
  let description = [{
    With `inverted`, value where the mask is 0. The value may be infinite. No gradient passes to the
    mask.

    ```mlir
    %y = gc.masked_fill %x, %mask {value = 0xFF800000 : f32} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Value:$mask, Gc_FillValue:$value,
      DefaultValuedAttr<BoolAttr, "false">:$inverted);
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
    / sqrt(2 pi)`; with `approximate = tanh`, `gelu'(x) = (1 + t) / 2 + x (1 - t^2) u' / 2` with `t =
    tanh(u)`, `u = sqrt(2 / pi) (x + 0.044715 x^3)`.

    ```mlir
    %dx = gc.gelu_grad %x, %dy : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Value:$gradient,
      DefaultValuedAttr<Gc_GeluForm, "::gc::GeluForm::None">:$approximate);
  let results = (outs Gc_Value:$input_gradient);
  let assemblyFormat = [{
    $input `,` $gradient (`approximate` `=` $approximate^)? attr-dict `:`
    functional-type(operands, results)
  }];
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

def Gc_AbsGradOp : Gc_Elementwise<"abs_grad", 2> {
  let summary = "dx = dy * sign(x)";
  let description = [{
    The adjoint of `gc.abs`, from its input; 0 at 0.

    ```mlir
    %dx = gc.abs_grad %x, %dy : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Value:$gradient);
  let results = (outs Gc_Value:$input_gradient);
}

def Gc_ClampGradOp : Gc_Elementwise<"clamp_grad", 2> {
  let summary = "dx = dy where low <= x <= high, else 0";
  let description = [{
    The adjoint of `gc.clamp`: `value` is its input, or, with `open`, its output, where `low < y <
    high` says the same.

    ```mlir
    %dx = gc.clamp_grad %x, %dy {low = 0.0 : f32} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$value, Gc_Value:$gradient, OptionalAttr<Gc_Finite>:$low,
      OptionalAttr<Gc_Finite>:$high, DefaultValuedAttr<BoolAttr, "false">:$open);
  let results = (outs Gc_Value:$input_gradient);
  let hasVerifier = 1;
}

def Gc_LeakyReluGradOp : Gc_Elementwise<"leaky_relu_grad", 2> {
  let summary = "dx = dy where y > 0, else slope * dy";
  let description = [{
    The adjoint of `gc.leaky_relu`, from its output, so that the input need not be kept.

    ```mlir
    %dx = gc.leaky_relu_grad %y, %dy {slope = 0.01 : f32} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$output, Gc_Value:$gradient, Gc_NotNegative:$slope);
  let results = (outs Gc_Value:$input_gradient);
}

def Gc_EluGradOp : Gc_Elementwise<"elu_grad", 3> {
  let summary = "dx = dy where y > 0, else (y + alpha) * dy";
  let description = [{
    The adjoint of `gc.elu`, from its output, so that the input need not be kept.

    ```mlir
    %dx = gc.elu_grad %y, %dy {alpha = 1.0 : f32} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$output, Gc_Value:$gradient, Gc_NotNegative:$alpha);
  let results = (outs Gc_Value:$input_gradient);
}

def Gc_HardswishGradOp : Gc_Elementwise<"hardswish_grad", 4> {
  let summary = "dx = 0 where x <= -3, dy where x >= 3, else dy * (2 x + 3) / 6";
  let description = [{
    The adjoint of `gc.hardswish`, from its input.

    ```mlir
    %dx = gc.hardswish_grad %x, %dy : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Value:$gradient);
  let results = (outs Gc_Value:$input_gradient);
}

def Gc_HardsigmoidGradOp : Gc_Elementwise<"hardsigmoid_grad", 2> {
  let summary = "dx = dy / 6 where 0 < y < 1, else 0";
  let description = [{
    The adjoint of `gc.hardsigmoid`, from its output, so that the input need not be kept.

    ```mlir
    %dx = gc.hardsigmoid_grad %y, %dy : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$output, Gc_Value:$gradient);
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
    Gc_OwnPrecision, Gc_Cost<"Rows", 1>, Gc_Samples<"Everywhere">, Gc_SameInInference,
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
