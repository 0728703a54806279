//===- GcTraining.td - what a step adds to a model ------------------------===//
#ifndef GC_TRAINING_TD
#define GC_TRAINING_TD
include "dialects/GcBase.td"

def Gc_GradientSeedOp : Gc_PureOp<"gradient_seed", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"Nowhere">, Gc_TrainingOnly]> {
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
  let arguments = (ins FlatSymbolRefAttr:$parameter, Gc_Value:$gradient);
  let assemblyFormat = "$parameter `,` $gradient attr-dict `:` type($gradient)";
}

def Gc_AccumulateOp : Gc_UpdateOp<"accumulate"> {
  let summary = "accumulator += gradient";
  let description = [{
    ```mlir
    gc.accumulate @"fc.weight.gradient", %dw : tensor<10x32xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$accumulator, Gc_Value:$gradient);
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
  let arguments = (ins FlatSymbolRefAttr:$variable, TypeAttrOf<Gc_Value>:$type);
  let assemblyFormat = "$variable attr-dict `:` $type";
}

def Gc_SgdOp : Gc_UpdateOp<"sgd"> {
  let summary = "stochastic gradient descent, as torch.optim.SGD";
  let description = [{
    `g += weight_decay * p`; with momentum `v = momentum * v + (1 - dampening) * g` (in the first step
    `v = g`) and `g = nesterov ? g + momentum * v : v`; `p -= lr * g`. With momentum, `velocity` is
    its variable, and `coefficients` are those of `gc.optimizer_coefficients` in mode `momentum`. Without
    it neither is there.

    ```mlir
    gc.sgd @"fc.weight", %dw {lr = 0.001 : f32} : (tensor<10x32xf32>) -> ()
    gc.sgd @"fc.weight" velocity @"fc.weight.velocity", %dw, %c {lr = 0.1 : f32, momentum = 0.9 : f32} : (tensor<10x32xf32>, tensor<2xf32>) -> ()
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, OptionalAttr<FlatSymbolRefAttr>:$velocity,
      Gc_Value:$gradient, Optional<Gc_Coefficients>:$coefficients, Gc_NotNegative:$lr,
      DefaultValuedAttr<Gc_NotNegative, "0.0f">:$momentum,
      DefaultValuedAttr<Gc_Finite, "0.0f">:$dampening,
      DefaultValuedAttr<Gc_NotNegative, "0.0f">:$weight_decay,
      DefaultValuedAttr<BoolAttr, "false">:$nesterov);
  let assemblyFormat = [{
    $parameter (`velocity` $velocity^)? `,` operands attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

class Gc_AdamLike<string mnemonic> : Gc_UpdateOp<mnemonic> {
  let arguments = (ins FlatSymbolRefAttr:$parameter, FlatSymbolRefAttr:$first_moment,
      FlatSymbolRefAttr:$second_moment, Gc_Value:$gradient, Gc_Coefficients:$coefficients,
      Gc_NotNegative:$lr, Gc_Decay:$beta1, Gc_Decay:$beta2, Gc_NotNegative:$epsilon,
      Gc_NotNegative:$weight_decay);
  let assemblyFormat = [{
    $parameter `moments` $first_moment `,` $second_moment `,` operands attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def Gc_AdamOp : Gc_AdamLike<"adam"> {
  let summary = "Adam, as torch.optim.Adam";
  let description = [{
    `g += weight_decay * p; m += (1 - beta1) (g - m); v = beta2 v + (1 - beta2) g^2;
    p -= lr / c1 * m / (sqrt(v) / sqrt(c2) + epsilon)` with `coefficients` = (lr / c1, 1 / sqrt(c2)),
    c_i = 1 - beta_i^t, from `gc.optimizer_coefficients`.

    ```mlir
    gc.adam @p moments @p.m, @p.v, %dw, %c {lr = 0.001 : f32, beta1 = 0.9 : f32, beta2 = 0.999 : f32, epsilon = 1.0e-8 : f32, weight_decay = 0.0 : f32} : (tensor<10x32xf32>, tensor<2xf32>) -> ()
    ```
  }];
}
def Gc_AdamWOp : Gc_AdamLike<"adamw"> {
  let summary = "AdamW, as torch.optim.AdamW";
  let description = [{
    As `gc.adam`, but weight decay acts on the parameter itself: `p -= lr * weight_decay * p` first.

    ```mlir
    gc.adamw @p moments @p.m, @p.v, %dw, %c {lr = 0.001 : f32, beta1 = 0.9 : f32, beta2 = 0.999 : f32, epsilon = 1.0e-8 : f32, weight_decay = 0.01 : f32} : (tensor<10x32xf32>, tensor<2xf32>) -> ()
    ```
  }];
}

def Gc_CoefficientsKind : I32EnumAttr<"CoefficientsMode", "which update takes the coefficients", [
    I32EnumAttrCase<"Adam", 0, "adam">, I32EnumAttrCase<"Momentum", 1, "momentum">]> {
  let cppNamespace = "::gc";
  let genSpecializedAttr = 0;
}
def Gc_CoefficientsMode : EnumAttr<Gc_Dialect, Gc_CoefficientsKind, "coefficients">;

def Gc_CoefficientsOp : Gc_PureOp<"optimizer_coefficients", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"Nowhere">, Gc_TrainingOnly,
    InferTypeOpAdaptor]> {
  let summary = "what an update needs of the step count";
  let description = [{
    Two numbers that follow from the generator's (seed, step). Mode `adam`, with t = step + 1: (lr / (1 -
    beta1^t), 1 / sqrt(1 - beta2^t)), computed in f64. Mode `momentum`: (beta1, 1 - beta2), where beta1 is
    the momentum and beta2 the dampening; (0, 1) in the first step.

    ```mlir
    %c = gc.optimizer_coefficients %g mode = adam {lr = 0.001 : f32, beta1 = 0.9 : f32, beta2 = 0.999 : f32} : (tensor<2xi64>) -> tensor<2xf32>
    %c = gc.optimizer_coefficients %g mode = momentum {lr = 0.1 : f32, beta1 = 0.9 : f32, beta2 = 0.0 : f32} : (tensor<2xi64>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Gc_Generator:$generator, Gc_CoefficientsMode:$mode, Gc_NotNegative:$lr,
      Gc_Finite:$beta1, Gc_Finite:$beta2);
  let results = (outs Gc_Coefficients:$coefficients);
  let assemblyFormat = [{
    $generator `mode` `=` $mode attr-dict `:` functional-type(operands, results)
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
    : Gc_PureOp<mnemonic, [Gc_Cost<"Rows", 1>, Gc_Samples<"Nowhere">, Gc_SameInInference]> {
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

def Gc_FusedOp : Gc_PureOp<"fused", [Gc_OwnCost, Gc_Samples<"Nowhere">, Gc_SameInInference,
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
