//===- GcTraining.td - what a step adds to a model ------------------------===//
#ifndef GC_TRAINING_TD
#define GC_TRAINING_TD
include "dialects/GcBase.td"

def Gc_GradientSeedOp : Gc_PureOp<"gradient_seed", [
    Gc_OwnPrecision, Gc_Cost<"Rows", 1>, Gc_Samples<"Nowhere">, Gc_TrainingOnly]> {
  let summary = "the gradient of the loss with respect to itself";
  let description = [{
    One, or 1 / K where K micro-batches make a step.

    ```mlir
    %d = gc.gradient_seed {scale = 1.0 : f32} : () -> tensor<f32>
    ```
  }];
  let arguments = (ins Gc_Finite:$scale);
  let results = (outs Gc_Scalar:$gradient);
}

// What happens once in a step of training and to variables.
class Gc_StepOp<string mnemonic, list<Trait> traits>
    : Gc_Op<mnemonic, !listconcat([Gc_Repeats<"Once">, Gc_Samples<"Nowhere">, Gc_TrainingOnly,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>], traits)>;
class Gc_UpdateOp<string mnemonic>
    : Gc_StepOp<mnemonic, [Gc_Cost<"Stream", 1>, MemoryEffects<[MemRead, MemWrite]>,
        DeclareOpInterfaceMethods<UpdateOpInterface>]>;

def Gc_GradientOp : Gc_StepOp<"gradient", [Gc_Cost<"Rows", 1>, MemoryEffects<[MemWrite]>]> {
  let summary = "marks the finished gradient of a parameter";
  let description = [{
    What autodiff leaves for the optimizer; kept beside the update where gradients are to be dumped.

    ```mlir
    gc.gradient @"fc.weight", %dw : tensor<10x32xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, Gc_Master:$gradient);
  let assemblyFormat = "$parameter `,` $gradient attr-dict `:` type($gradient)";
}

def Gc_AccumulateOp : Gc_UpdateOp<"accumulate"> {
  let summary = "accumulator += gradient";
  let description = [{
    ```mlir
    gc.accumulate @"fc.weight.gradient", %dw : tensor<10x32xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$accumulator, Gc_Master:$gradient);
  let assemblyFormat = "$accumulator `,` $gradient attr-dict `:` type($gradient)";
}

def Gc_AccumulateProductOp : Gc_StepOp<"accumulate_product", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<VariableChangeOpInterface>, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<CostOpInterface, ["getBytesMoved"]>]> {
  let summary = "accumulators += the results of an op, in its own kernel";
  let description = [{
    Holds one op, on the operands in their order, and gives its results in their order to the
    accumulators. They never exist apart from those: the kernel adds where it would write. Made by
    a target for the ops that it can run so.

    ```mlir
    gc.accumulate_product (%a = %x : tensor<8x32xf32>, %b = %dy : tensor<8x10xf32>) into [@"fc.weight.gradient"] {
      %dw = gc.linear_grad_weight %a, %b : (tensor<8x32xf32>, tensor<8x10xf32>) -> tensor<10x32xf32>
      gc.yield %dw : tensor<10x32xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Gc_Value>:$inputs, FlatSymbolRefArrayAttr:$accumulators);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let assemblyFormat = ?;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Operation *":$product,
      "::llvm::ArrayRef<::mlir::Attribute>":$accumulators)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// The op inside.
    ::mlir::Operation *getProduct() { return &getBody().front().front(); }
  }];
}

def Gc_ClearOp : Gc_StepOp<"clear", [
    Gc_Cost<"Stream", 1>, MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<UpdateOpInterface, ["getVariableType"]>]> {
  let summary = "variable = 0";
  let description = [{
    Empties an accumulator for the micro-batches of the next step.

    ```mlir
    gc.clear @"fc.weight.gradient" : tensor<10x32xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, TypeAttrOf<Gc_Master>:$type);
  let assemblyFormat = "$variable attr-dict `:` $type";
}

// What every optimizer's update takes beside its own states and numbers. Its formula (dialects/ops/Training.cpp)
// begins with what `coefficients` and these attributes make of parameter, gradient and learning rate.
class Gc_OptimizerOp<string mnemonic, dag states, dag numbers, list<Trait> traits = []>
    : Gc_Op<mnemonic, !listconcat([Gc_Repeats<"Once">, Gc_Samples<"Nowhere">, Gc_TrainingOnly,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>, Gc_Cost<"Stream", 1>,
        MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<UpdateOpInterface>,
        OptimizerOpInterface], traits)> {
  let arguments = !con((ins FlatSymbolRefAttr:$parameter), states,
      (ins OptionalAttr<FlatSymbolRefAttr>:$average, Gc_Master:$gradient,
          Gc_Coefficients:$coefficients), numbers,
      (ins DefaultValuedAttr<Gc_NotNegative, "0.0f">:$weight_decay,
          DefaultValuedAttr<Gc_NotNegative, "1.0f">:$lr_scale,
          OptionalAttr<Gc_NotNegative>:$clip_value,
          DefaultValuedAttr<Gc_Share, "0.0f">:$average_decay));
  let hasVerifier = 1;
  // For descriptions.
  string common = [{

    With (lr, s, a, b) = `coefficients`, from `gc.optimizer_coefficients`: the formula's lr is lr times
    `lr_scale`, and its g the gradient times s, or, with `clip_value`, the gradient with every element cut to
    [-`clip_value`, `clip_value`]. `average`, if there, becomes `average_decay * average + (1 - average_decay) *
    p` with the new p.
  }];
}

def Gc_SgdOp : Gc_OptimizerOp<"sgd", (ins OptionalAttr<FlatSymbolRefAttr>:$velocity), (ins
    DefaultValuedAttr<Gc_NotNegative, "0.0f">:$momentum,
    DefaultValuedAttr<Gc_Finite, "0.0f">:$dampening,
    DefaultValuedAttr<BoolAttr, "false">:$nesterov)> {
  let summary = "stochastic gradient descent, as torch.optim.SGD";
  let description = [{
    `g += weight_decay * p`; with momentum `v = momentum * v + (1 - dampening) * g` (in the first step
    `v = g`) and `g = nesterov ? g + momentum * v : v`; `p -= lr * g`. With momentum, `velocity` is
    its variable, and `coefficients` are those of mode `momentum`; else they are of mode `plain`.
  }] # common # [{
    ```mlir
    gc.sgd @"fc.weight", %dw, %c : (tensor<10x32xf32>, tensor<4xf32>) -> ()
    gc.sgd @"fc.weight" velocity @"fc.weight.velocity", %dw, %c {momentum = 0.9 : f32} : (tensor<10x32xf32>, tensor<4xf32>) -> ()
    ```
  }];
  let assemblyFormat = [{
    $parameter (`velocity` $velocity^)? (`average` $average^)? `,` operands attr-dict `:`
    functional-type(operands, results)
  }];
}

class Gc_AdamLike<string mnemonic> : Gc_OptimizerOp<mnemonic,
    (ins FlatSymbolRefAttr:$first_moment, FlatSymbolRefAttr:$second_moment),
    (ins Gc_Decay:$beta1, Gc_Decay:$beta2, Gc_NotNegative:$epsilon)> {
  let assemblyFormat = [{
    $parameter `moments` $first_moment `,` $second_moment (`average` $average^)? `,` operands
    attr-dict `:` functional-type(operands, results)
  }];
}
def Gc_AdamOp : Gc_AdamLike<"adam"> {
  let summary = "Adam, as torch.optim.Adam";
  let description = [{
    `g += weight_decay * p; m += (1 - beta1) (g - m); v = beta2 v + (1 - beta2) g^2;
    p -= lr / c1 * m / (sqrt(v) / sqrt(c2) + epsilon)` with (a, b) = (lr / c1, 1 / sqrt(c2)),
    c_i = 1 - beta_i^t, of mode `adam`.
  }] # common # [{
    ```mlir
    gc.adam @p moments @p.m, @p.v, %dw, %c {beta1 = 0.9 : f32, beta2 = 0.999 : f32, epsilon = 1.0e-8 : f32} : (tensor<10x32xf32>, tensor<4xf32>) -> ()
    ```
  }];
}
def Gc_AdamWOp : Gc_AdamLike<"adamw"> {
  let summary = "AdamW, as torch.optim.AdamW";
  let description = [{
    As `gc.adam`, but weight decay acts on the parameter itself: `p -= lr * weight_decay * p` first.

    ```mlir
    gc.adamw @p moments @p.m, @p.v, %dw, %c {beta1 = 0.9 : f32, beta2 = 0.999 : f32, epsilon = 1.0e-8 : f32, weight_decay = 0.01 : f32} : (tensor<10x32xf32>, tensor<4xf32>) -> ()
    ```
  }];
}

def Gc_RmspropOp : Gc_OptimizerOp<"rmsprop",
    (ins FlatSymbolRefAttr:$square_average, OptionalAttr<FlatSymbolRefAttr>:$gradient_average,
        OptionalAttr<FlatSymbolRefAttr>:$velocity),
    (ins Gc_Decay:$alpha, Gc_NotNegative:$epsilon,
        DefaultValuedAttr<Gc_NotNegative, "0.0f">:$momentum)> {
  let summary = "RMSprop, as torch.optim.RMSprop";
  let description = [{
    `g += weight_decay * p; q = alpha q + (1 - alpha) g^2; d = g / (sqrt(q) + epsilon)`; with momentum
    `v = momentum * v + d` takes the place of d; `p -= lr * d`. q is `square_average`. Centered, with a
    `gradient_average` m: `m += (1 - alpha) (g - m)`, and `sqrt(q - m^2)` in place of `sqrt(q)`. `velocity`
    is there exactly with momentum; `coefficients` are of mode `plain`.
  }] # common # [{
    ```mlir
    gc.rmsprop @p squares @p.q, %dw, %c {alpha = 0.99 : f32, epsilon = 1.0e-8 : f32} : (tensor<10x32xf32>, tensor<4xf32>) -> ()
    gc.rmsprop @p squares @p.q mean @p.m velocity @p.v, %dw, %c {alpha = 0.99 : f32, epsilon = 1.0e-8 : f32, momentum = 0.9 : f32} : (tensor<10x32xf32>, tensor<4xf32>) -> ()
    ```
  }];
  let assemblyFormat = [{
    $parameter `squares` $square_average (`mean` $gradient_average^)? (`velocity` $velocity^)?
    (`average` $average^)? `,` operands attr-dict `:` functional-type(operands, results)
  }];
}

def Gc_LionOp : Gc_OptimizerOp<"lion", (ins FlatSymbolRefAttr:$first_moment),
    (ins Gc_Decay:$beta1, Gc_Decay:$beta2)> {
  let summary = "Lion (Chen et al. 2023)";
  let description = [{
    `p -= lr * weight_decay * p; p -= lr * sign(beta1 m + (1 - beta1) g); m = beta2 m + (1 - beta2) g`.
    The sign of 0 is 0. `coefficients` are of mode `plain`.
  }] # common # [{
    ```mlir
    gc.lion @p moment @p.m, %dw, %c {beta1 = 0.9 : f32, beta2 = 0.99 : f32} : (tensor<10x32xf32>, tensor<4xf32>) -> ()
    ```
  }];
  let assemblyFormat = [{
    $parameter `moment` $first_moment (`average` $average^)? `,` operands attr-dict `:`
    functional-type(operands, results)
  }];
}

def Gc_LambRatioOp : Gc_PureOp<"lamb_ratio", [
    Gc_OwnPrecision, Gc_Cost<"Stream", 12>, Gc_Samples<"Nowhere">, Gc_TrainingOnly, InferTypeOpAdaptor]> {
  let summary = "the trust ratio of a parameter: by what LAMB scales its step";
  let description = [{
    One number, |p| / |u|, of the norms over all elements of the parameter p and of the direction u that
    `gc.lamb` will take; 1 where one of them is 0. The operands are the gradient, the coefficients, and the
    values of the parameter and of its moments before the update, whose numbers these are. Nothing of the
    parameter's size is made: `gc.lamb` computes the direction again.

    ```mlir
    %r = gc.lamb_ratio %dw, %c, %p, %m, %v {beta1 = 0.9 : f32, beta2 = 0.999 : f32, epsilon = 1.0e-6 : f32, weight_decay = 0.01 : f32} : (tensor<10x32xf32>, tensor<4xf32>, tensor<10x32xf32>, tensor<10x32xf32>, tensor<10x32xf32>) -> tensor<1xf32>
    ```
  }];
  let arguments = (ins Gc_Master:$gradient, Gc_Coefficients:$coefficients, Gc_Master:$parameter,
      Gc_Master:$first_moment, Gc_Master:$second_moment, Gc_Decay:$beta1, Gc_Decay:$beta2,
      Gc_NotNegative:$epsilon, DefaultValuedAttr<Gc_NotNegative, "0.0f">:$weight_decay,
      OptionalAttr<Gc_NotNegative>:$clip_value);
  let results = (outs Gc_Coefficients:$ratio);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Emits the squares of p and u of one element, or of a vector of them. `tensors` are gradient,
    /// parameter and moments there, `coefficients` those numbers.
    void emitSquares(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange tensors,
                     ::mlir::ValueRange coefficients,
                     ::llvm::SmallVectorImpl<::mlir::Value> &squares);
  }];
}

def Gc_LambOp : Gc_OptimizerOp<"lamb",
    (ins FlatSymbolRefAttr:$first_moment, FlatSymbolRefAttr:$second_moment),
    (ins Gc_Coefficients:$ratio, Gc_Decay:$beta1, Gc_Decay:$beta2, Gc_NotNegative:$epsilon)> {
  let summary = "LAMB (You et al. 2019)";
  let description = [{
    `m += (1 - beta1) (g - m); v = beta2 v + (1 - beta2) g^2; u = m / c1 / (sqrt(v) / sqrt(c2) + epsilon) +
    weight_decay * p; p -= lr * ratio * u` with (a, b) = (1 / c1, 1 / sqrt(c2)), c_i = 1 - beta_i^t, of mode
    `corrected`, and the `ratio` of `gc.lamb_ratio` with the same numbers.
  }] # common # [{
    ```mlir
    gc.lamb @p moments @p.m, @p.v, %dw, %c, %r {beta1 = 0.9 : f32, beta2 = 0.999 : f32, epsilon = 1.0e-6 : f32, weight_decay = 0.01 : f32} : (tensor<10x32xf32>, tensor<4xf32>, tensor<1xf32>) -> ()
    ```
  }];
  let assemblyFormat = [{
    $parameter `moments` $first_moment `,` $second_moment (`average` $average^)? `,` operands
    attr-dict `:` functional-type(operands, results)
  }];
}

def Gc_MeanSquareOp : Gc_PureOp<"mean_square", [
    Gc_Cost<"Stream", 2>, Gc_Samples<"Nowhere">, Gc_TrainingOnly, InferTypeOpAdaptor]> {
  let summary = "means of the squares over dimensions, which disappear";
  let description = [{
    ```mlir
    %s = gc.mean_square %dw {dimensions = array<i64: 1>} : (tensor<10x32xf32>) -> tensor<10xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, DenseI64ArrayAttr:$dimensions);
  let results = (outs Gc_Value:$means);
  let hasVerifier = 1;
}

def Gc_AdafactorAverageOp : Gc_UpdateOp<"adafactor_average"> {
  let summary = "moves an average of Adafactor's towards the squares of this step";
  let description = [{
    `v += b (s^2 x - v)`: x is a `gc.mean_square` of the gradient, and (lr, s, a, b) = `coefficients` are of mode
    `adafactor`. v is `average`.

    ```mlir
    gc.adafactor_average @p.row_var, %x, %c : (tensor<1x10x1xf32>, tensor<4xf32>) -> ()
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$average, Gc_Value:$squares, Gc_Coefficients:$coefficients);
  let assemblyFormat = "$average `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Gc_AdafactorRatioOp : Gc_PureOp<"adafactor_ratio", [
    SameVariadicOperandSize, Gc_Cost<"Stream", 12>, Gc_Samples<"Nowhere">, Gc_TrainingOnly, InferTypeOpAdaptor]> {
  let summary = "by what Adafactor scales the step of a parameter";
  let description = [{
    One number, `max(epsilon2, rms(p)) / max(1, rms(u) / clip_update)`, where rms is the root of the mean of the
    squares of all elements, p the parameter before its update and `u = g / sqrt(max(v, epsilon^2))` the direction.
    Of a tensor that is, in memory, outer x R x C x inner, of which Adafactor factors R and C, the variance of element
    (o, r, c, i) is `v = rows[o, r, i] * columns[o, c, i] / max(means[o, i], epsilon)`, where `means` are those of `rows`
    over R. A tensor that is not factored has its variance in `rows`, which are then 1 x N x 1. Nothing of the
    parameter's size is made: `gc.adafactor` computes the direction again.

    ```mlir
    %r = gc.adafactor_ratio %dw, %c, %p, %rows, %columns, %means {epsilon = 1.0e-7 : f32, epsilon2 = 1.0e-3 : f32, clip_update = 1.0 : f32} : (tensor<10x32xf32>, tensor<4xf32>, tensor<10x32xf32>, tensor<1x10x1xf32>, tensor<1x32x1xf32>, tensor<1x1xf32>) -> tensor<1xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$gradient, Gc_Coefficients:$coefficients, Gc_Value:$parameter,
      Gc_Value:$rows, Optional<Gc_Value>:$columns, Optional<Gc_Value>:$means,
      Gc_NotNegative:$epsilon, Gc_NotNegative:$epsilon2, Gc_NotNegative:$clip_update,
      OptionalAttr<Gc_NotNegative>:$clip_value);
  let results = (outs Gc_Coefficients:$ratio);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Emits the squares of p and u of one element, or of a vector of them. `tensors` are gradient,
    /// parameter and variance there, `coefficients` those numbers.
    void emitSquares(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange tensors,
                     ::mlir::ValueRange coefficients,
                     ::llvm::SmallVectorImpl<::mlir::Value> &squares);
  }];
}

def Gc_AdafactorOp : Gc_OptimizerOp<"adafactor", (ins),
    (ins Gc_Coefficients:$ratio, Gc_Value:$rows, Optional<Gc_Value>:$columns,
        Optional<Gc_Value>:$means, Gc_NotNegative:$epsilon, Gc_NotNegative:$epsilon2,
        Gc_NotNegative:$clip_update), [SameVariadicOperandSize]> {
  let summary = "Adafactor, as torch.optim.Adafactor";
  let description = [{
    `p -= lr * weight_decay * p; p -= min(lr, a) * ratio * u`, with u and `ratio` of `gc.adafactor_ratio` with the same
    numbers and (a, b) = (1 / sqrt(t), t^beta2_decay) of mode `adafactor`. The averages are moved before, by
    `gc.adafactor_average`. The last operands are no variables' values at single elements, so its kernel is its own, and
    `emitUpdate` takes the variance behind the numbers.
  }] # common # [{
    ```mlir
    gc.adafactor @p, %dw, %c, %r, %rows, %columns, %means {epsilon = 1.0e-7 : f32, epsilon2 = 1.0e-3 : f32, clip_update = 1.0 : f32} : (tensor<10x32xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1x10x1xf32>, tensor<1x32x1xf32>, tensor<1x1xf32>) -> ()
    ```
  }];
  let assemblyFormat = [{
    $parameter (`average` $average^)? `,` operands attr-dict `:` functional-type(operands, results)
  }];
}

def Gc_SquareSumOp : Gc_PureOp<"square_sum", [
    Gc_OwnPrecision, Gc_Cost<"Stream", 2>, Gc_Samples<"Nowhere">, Gc_TrainingOnly, InferTypeOpAdaptor]> {
  let summary = "the sum of the squares of all elements, beside those of other tensors";
  let description = [{
    Two numbers whose sum it is, so that nothing of the norm of many tensors is lost to rounding: the
    nearest f32, and what is missing. `before` are those of other tensors, to which these squares are
    added. The order of additions follows from the shape alone.

    ```mlir
    %s = gc.square_sum %dw1 : (tensor<10x32xf32>) -> tensor<2xf32>
    %t = gc.square_sum %dw2, %s : (tensor<32xf32>, tensor<2xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Gc_Master:$input, Optional<Gc_Coefficients>:$before);
  let results = (outs Gc_Coefficients:$sum);
  let hasVerifier = 1;
}

def Gc_CoefficientsKind : I32EnumAttr<"CoefficientsMode", "which update takes the coefficients", [
    I32EnumAttrCase<"Adam", 0, "adam">, I32EnumAttrCase<"Momentum", 1, "momentum">,
    I32EnumAttrCase<"Plain", 2, "plain">, I32EnumAttrCase<"Corrected", 3, "corrected">,
    I32EnumAttrCase<"Adafactor", 4, "adafactor">]> {
  let cppNamespace = "::gc";
  let genSpecializedAttr = 0;
}
def Gc_CoefficientsMode : EnumAttr<Gc_Dialect, Gc_CoefficientsKind, "coefficients">;

def Gc_CoefficientsOp : Gc_PureOp<"optimizer_coefficients", [
    Gc_OwnPrecision, Gc_Cost<"Rows", 1>, Gc_Samples<"Nowhere">, Gc_TrainingOnly,
    InferTypeOpAdaptor]> {
  let summary = "what the updates of a step need besides gradients";
  let description = [{
    Four numbers (lr, s, a, b). The learning rate lr is the element of `schedule` at the step that the
    `generator` (seed, step) counts, modulo the number of elements: a ring that the runtime fills ahead. The
    gradients' scale s is min(1, clip_norm / (n + 1e-6)), as torch.nn.utils.clip_grad_norm_ has it, where
    n^2 is the sum `squares` of all gradients' squares (`gc.square_sum`), and 1 where there is none. (a, b), in mode
    `adam`, with t = step + 1: (lr / (1 - beta1^t), 1 / sqrt(1 - beta2^t)), computed in f64. In mode
    `momentum`: (beta1, 1 - beta2), where beta1 is the momentum and beta2 the dampening; (0, 1) in the
    first step. In mode `plain`: (0, 1). In mode `corrected`: as `adam`, with 1 in place of lr. In mode
    `adafactor`: (1 / sqrt(t), t^beta2), computed in f64, where beta2 is the decay's exponent.

    ```mlir
    %c = gc.optimizer_coefficients %g, %lr mode = adam {beta1 = 0.9 : f32, beta2 = 0.999 : f32} : (tensor<2xi64>, tensor<256xf32>) -> tensor<4xf32>
    %c = gc.optimizer_coefficients %g, %lr, %squares mode = momentum {beta1 = 0.9 : f32, clip_norm = 1.0 : f32} : (tensor<2xi64>, tensor<256xf32>, tensor<2xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Gc_Generator:$generator, Gc_Coefficients:$schedule,
      Optional<Gc_Coefficients>:$squares, Gc_CoefficientsMode:$mode,
      DefaultValuedAttr<Gc_Finite, "0.0f">:$beta1, DefaultValuedAttr<Gc_Finite, "0.0f">:$beta2,
      OptionalAttr<Gc_NotNegative>:$clip_norm);
  let results = (outs Gc_Coefficients:$coefficients);
  let assemblyFormat = [{
    operands `mode` `=` $mode attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Gc_AdvanceOp : Gc_StepOp<"advance", [Gc_Cost<"Rows", 1>,
    MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<VariableChangeOpInterface>]> {
  let summary = "counts a step, or a micro-batch of a step";
  let description = [{
    Adds one to the step of a generator variable (seed, step); the last op of a step. With `modulo` the
    variable is a single number that starts again at 0 when it reaches `modulo`: the index of the
    micro-batch in its step, which is 0 between steps.

    ```mlir
    gc.advance @generator
    gc.advance @micro_batch {modulo = 4 : i64}
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$generator,
      ConfinedAttr<OptionalAttr<I64Attr>, [IntPositive]>:$modulo);
  let assemblyFormat = "$generator attr-dict";
}

class Gc_Collective<string mnemonic, string what>
    : Gc_PureOp<mnemonic, [Gc_OwnPrecision, Gc_Cost<"Rows", 1>, Gc_Samples<"Nowhere">, Gc_SameInInference]> {
  let summary = what;
  let description = what # [{ among the ranks of a run. Part of the dialect for distributed plans; no
    target lowers it yet, and compiling it is an error.

    ```mlir
    %y = gc.}] # mnemonic # [{ %x {ranks = 4 : i64} : (tensor<8xf32>) -> tensor<}] #
    !if(!eq(mnemonic, "all_gather"), "32", !if(!eq(mnemonic, "reduce_scatter"), "2", "8")) # [{xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input,
      ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<1048576>]>:$ranks);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}
def Gc_AllReduceOp : Gc_Collective<"all_reduce", "sums a tensor">;
def Gc_AllGatherOp : Gc_Collective<"all_gather", "joins the ranks' parts along the first axis">;
def Gc_ReduceScatterOp : Gc_Collective<"reduce_scatter",
    "sums a tensor and leaves each rank its part of the first axis">;

def Gc_FusedOp : Gc_PureOp<"fused", [Gc_OwnPrecision, Gc_OwnCost, Gc_Samples<"Nowhere">, Gc_SameInInference,
    IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<InPlaceOpInterface, ["canWriteOver"]>,
    SingleBlockImplicitTerminator<"::gc::YieldOp">]> {
  let summary = "fusible ops that run as one kernel";
  let description = [{
    The body holds ops that implement the fusible interface, on whole tensors; only operands and
    results of the group exist in memory. Results are full tensors or sums over rows. All full
    tensors have the same number of elements; where anything is indexed by channel, the same last
    dimension.

    ```mlir
    %y = gc.fused (%a = %x : tensor<8x4xf32>, %b = %bias : tensor<4xf32>) -> tensor<8x4xf32> {
      %0 = gc.bias %a, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
      %1 = gc.relu %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
      gc.yield %1 : tensor<8x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Gc_Value>:$inputs);
  let results = (outs Variadic<Gc_Value>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let assemblyFormat = ?;
  let hasVerifier = 1;
}

def Gc_YieldOp : Op<Gc_Dialect, "yield", [Gc_KnownAttributes, Pure, Terminator, ReturnLike,
    ParentOneOf<["::gc::FusedOp", "::gc::AccumulateProductOp"]>]> {
  let summary = "the results of a fused group, or what is accumulated";
  let description = [{
    ```mlir
    gc.yield %1 : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Gc_Value>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}
#endif
