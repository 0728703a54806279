//===- Passes.td - the passes, with options, requirements and guarantees --===//
#ifndef GC_PASSES_TD
#define GC_PASSES_TD
include "mlir/Pass/PassBase.td"

// A number that may be left open (passes/PassSetting.h): the pass has its default, which `text`
// tells in parentheses.
class NumberOption<string name, string argument, string number, string text>
    : Option<name, argument, "::gc::PassSetting<" # number # ">",
             "::gc::PassSetting<" # number # ">()", text>;

def CheckModelPass : Pass<"gc-check-model", "::mlir::ModuleOp"> {
  let summary = "refuses what is no model, or one that contradicts itself";
  let description = [{
    The first pass of every compilation: other passes would ignore an op beside the model or an input
    without a name, and take any of two values that contradict each other. Changes nothing.

    ```mlir
    %a = gc.dropout %x, %g {id = 3 : i64, ...}
    %b = gc.dropout %y, %g {id = 3 : i64, ...}   // error: has the id 3 of another dropout
    ```

    Requires: nothing. Guarantees: one function of gc ops with named inputs and outputs; `gc.classes`
    fits the logits, running statistics fit their batch norm, dropouts have ids of their own.
  }];
}

def SimplifyPass : Pass<"gc-simplify", "::mlir::ModuleOp"> {
  let summary = "rewrites the model into an equal one that needs less";
  let description = [{
    Puts a max-pool before the ReLU that feeds it, so that the adjoint of ReLU reads the small output
    and the large one need not be saved. Bit for bit the same results and gradients.

    ```mlir
    %r = gc.relu %x : ...                     %p, %i = gc.max_pool %x {...} : ...
    %y, %i = gc.max_pool %r {...} : ...   =>  %y = gc.relu %p : ...
    ```

    Requires: nothing. Guarantees: the same outputs.
  }];
  let dependentDialects = ["::gc::GcDialect"];
}

def BatchPass : Pass<"gc-batch", "::mlir::ModuleOp"> {
  let summary = "rewrites a model for another number of samples";
  let description = [{
    Every dimension that follows the input's first one changes with it, and what an op counts of them
    (running statistics). Which these are the ops say themselves, by the types that they infer from
    their operands. Parameters and state stay as they are.

    ```mlir
    func.func @model(%x: tensor<16x28x28x1xf32> ...) {
      %0 = gc.reshape %x : (tensor<16x28x28x1xf32>) -> tensor<16x784xf32>
    // becomes, with size=4
    func.func @model(%x: tensor<4x28x28x1xf32> ...) {
      %0 = gc.reshape %x : (tensor<4x28x28x1xf32>) -> tensor<4x784xf32>
    ```

    An error, at the op, where a model has no batch or its inputs have several, where an op takes single
    samples or moves elements across them, and where nothing tells whether a dimension that is as long
    as the batch is the batch's.

    Requires: a model; before inference and autodiff. Guarantees: the model as if it had been written
    for that batch; losses that are means over the batch stay means.
  }];
  let options = [
    Option<"size", "size", "int64_t", "0", "samples in a batch; must be given">
  ];
  let dependentDialects = ["::gc::GcDialect", "::mlir::func::FuncDialect"];
}

def FreezePass : Pass<"gc-freeze", "::mlir::ModuleOp"> {
  let summary = "says which parameters are not trained";
  let description = [{
    Marks parameters `gc.frozen`, by patterns of their names: autodiff then ends where nothing below is
    trained, and no optimizer has state for them. They are loaded and saved as all others.

    ```mlir
    gc.parameter @"conv1.weight" : ...
    // becomes, with names=conv1.*
    gc.parameter @"conv1.weight" : ... {gc.frozen}
    ```

    A batch norm whose weight and bias are frozen still normalizes with the batch's mean and variance
    and moves its running statistics, as in PyTorch. With `norms` it takes the form that it has in inference
    mode: it normalizes with the running statistics, which stay what they are.

    Requires: a model, before `--gc-autodiff`; each pattern matches a parameter, and one remains to
    train. Guarantees: the same values forward, without `norms`.
  }];
  let options = [
    Option<"names", "names", "std::string", "\"\"",
           "patterns of what is frozen, separated by commas: conv1.*,*.bias">,
    Option<"trainOnly", "train-only", "std::string", "\"\"",
           "instead: patterns of what is trained; all else is frozen">,
    Option<"norms", "norms", "bool", "false",
           "batch norms whose weight and bias are frozen run as in inference mode">
  ];
  let dependentDialects = ["::gc::GcDialect", "::mlir::func::FuncDialect"];
}

def SmoothLabelsPass : Pass<"gc-smooth-labels", "::mlir::ModuleOp"> {
  let summary = "sets the label smoothing of a model's losses";
  let description = [{
    Of every `gc.cross_entropy`, over what the model says itself.

    ```mlir
    %loss, %lse = gc.cross_entropy %logits, %labels : ...
    // becomes, with epsilon=0.1
    %loss, %lse = gc.cross_entropy %logits, %labels {label_smoothing = 0.1 : f32} : ...
    ```

    Requires: a model with a cross entropy, before `--gc-inference`, where losses are plain, and
    `--gc-autodiff`. Guarantees: nothing else changes.
  }];
  let options = [
    NumberOption<"epsilon", "epsilon", "double",
                 "what the label gives to all classes, in [0, 1) (0)">
  ];
  let dependentDialects = ["::gc::GcDialect"];
}

def SplitPass : Pass<"gc-split", "::mlir::ModuleOp"> {
  let summary = "computes chains of ops in parts of the batch, one part after the other";
  let description = [{
    A chain is a run of ops, one behind the other in the model, that keep the samples of a batch
    apart: they run on the first N-th of the batch, then on the second, and the parts of what others
    read are joined. So a step never holds the whole batch's values inside of a chain, unless it keeps
    them for the backward pass, which goes through the parts in the reverse order.

    ```mlir
    %y = gc.conv2d %x, %w ... : (tensor<8x...>) -> tensor<8x...>
    // becomes, with parts=2
    %x0 = gc.slice %x {axis = 0, offset = 0, size = 4} : (tensor<8x...>) -> tensor<4x...>
    %y0 = gc.conv2d %x0, %w ... : (tensor<4x...>) -> tensor<4x...>
    %x1 = gc.slice %x {axis = 0, offset = 4, size = 4} : (tensor<8x...>) -> tensor<4x...>
    %y1 = gc.conv2d %x1, %w ... : (tensor<4x...>) -> tensor<4x...>
    %y = gc.concat %y0, %y1 {axis = 0}
    ```

    Without `from` and `to`, or `chains`, every chain is split in which an op reads and writes at least a quarter of
    what the largest does; an op whose parameters are larger than a part of what it reads and
    writes ends a chain. Values of samples are the same where a kernel treats each alone;
    a parameter's gradient is the sum of those of the parts, in another order than that of the
    whole batch, and so equal up to rounding.

    Requires: a model before `--gc-autodiff`; N divides the batch. Guarantees: the same outputs and
    gradients up to rounding; what mixes samples (batch norm, the loss) or draws random numbers is as it
    was, and an error where a chain is asked for that has it.
  }];
  let options = [
    Option<"parts", "parts", "int64_t", "2", "parts of the batch">,
    Option<"from", "from", "std::string", "\"\"", "layer of the first op of the one chain to split">,
    Option<"to", "to", "std::string", "\"\"", "layer of its last op">,
    Option<"chains", "chains", "std::string", "\"\"",
           "instead: chains by the places of their ops in the model, such as 3-12,20-31">
  ];
  let dependentDialects = ["::gc::GcDialect", "::mlir::func::FuncDialect"];
}

def AutodiffPass : Pass<"gc-autodiff", "::mlir::ModuleOp"> {
  let summary = "appends the backward pass to the model";
  let description = [{
    Renames the function with a `gc.output = "loss"` result (usually @model) to @train, marks it
    `gc.list = "micro_batch"` and appends the adjoints of all ops on a path from a parameter to the
    loss, in reverse order. Each parameter's gradient ends in a `gc.gradient` where it is complete.

    ```mlir
    %y = gc.linear %x, %w : ...
    // becomes
    %y = gc.linear %x, %w : ...
    ...
    %dw = gc.linear_grad_weight %x, %dy : ...
    gc.gradient @w, %dw : tensor<10x32xf32>
    ```

    Requires: no fused activation on the path; every parameter that is not `gc.frozen` reaches the loss.
    Guarantees: one `gc.gradient` for each `gc.parameter` that is not frozen; adjoints read only declared
    saved values.
  }];
  let dependentDialects = ["::gc::GcDialect", "::mlir::func::FuncDialect"];
}

def OptimizerPass : Pass<"gc-optimizer", "::mlir::ModuleOp"> {
  let summary = "turns gradients into updates of the parameters";
  let description = [{
    Replaces each `gc.gradient` of @train by the optimizer's update, after the last use of the
    parameter's value; adds the optimizer's state variables, the step count and `gc.advance`, and the
    schedule `learning_rate`, whose elements are `lr` until the runtime sets others. With `clip-norm` updates
    wait for the norm of all gradients; with `ema` each keeps an average `<parameter>.ema`, which @evaluate
    then reads.

    ```mlir
    gc.gradient @w, %dw : tensor<10x32xf32>
    // becomes, with kind=sgd
    %g = gc.read @generator : tensor<2xi64>
    %lr = gc.read @learning_rate : tensor<256xf32>
    %c = gc.optimizer_coefficients %g, %lr mode = plain : (tensor<2xi64>, tensor<256xf32>) -> tensor<4xf32>
    gc.sgd @w, %dw, %c : (tensor<10x32xf32>, tensor<4xf32>) -> ()
    ```

    Requires: `--gc-autodiff`. Guarantees: every parameter with a gradient is updated once, after all its
    uses.
  }];
  let options = [
    Option<"kind", "kind", "std::string", "\"sgd\"",
           "sgd, adam, adamw, rmsprop, lion, lamb or adafactor">,
    NumberOption<"lr", "lr", "double", "learning rate (0.001; rmsprop, adafactor: 0.01; lion: 0.0001)">,
    NumberOption<"momentum", "momentum", "double", "sgd, rmsprop: momentum (0)">,
    NumberOption<"dampening", "dampening", "double", "sgd: dampening of the momentum (0)">,
    Option<"nesterov", "nesterov", "bool", "false", "sgd: Nesterov momentum">,
    NumberOption<"weightDecay", "weight-decay", "double", "weight decay (0; adamw, lamb: 0.01)">,
    NumberOption<"beta1", "beta1", "double",
                 "adam, adamw, lamb: decay of the first moment; lion: of what it follows (0.9)">,
    NumberOption<"beta2", "beta2", "double",
                 "adam, adamw, lamb: decay of the second moment (0.999); lion: of the moment (0.99)">,
    NumberOption<"epsilon", "epsilon", "double",
                 "adam, adamw, rmsprop, lamb: added to the denominator (1e-8; lamb: 1e-6); "
                 "adafactor: the least root of a variance (2^-23)">,
    NumberOption<"beta2Decay", "beta2-decay", "double",
                 "adafactor: the step's exponent in what averages forget (-0.8)">,
    NumberOption<"epsilon2", "epsilon2", "double",
                 "adafactor: the least size that a parameter counts as (0.001)">,
    NumberOption<"clipUpdate", "clip-update", "double",
                 "adafactor: the largest size of a direction (1)">,
    NumberOption<"alpha", "alpha", "double", "rmsprop: decay of the average of squares (0.99)">,
    Option<"centered", "centered", "bool", "false",
           "rmsprop: squares of what differs from the average gradient">,
    NumberOption<"clipNorm", "clip-norm", "double", "most that the norm of all gradients may be">,
    NumberOption<"clipValue", "clip-value", "double", "most that an element of a gradient may be">,
    Option<"noDecay", "no-decay", "std::string", "\"\"",
           "patterns of parameters without weight decay, separated by commas">,
    Option<"lrScale", "lr-scale", "std::string", "\"\"",
           "PATTERN=FACTOR, separated by commas: parameters with a multiple of the learning rate">,
    NumberOption<"ema", "ema", "double", "decay of a moving average of the weights">,
    Option<"keepGradients", "keep-gradients", "bool", "false",
           "keep gc.gradient beside the update, so that gradients can be dumped">
  ];
  let dependentDialects = ["::gc::GcDialect", "::mlir::func::FuncDialect"];
}

def AccumulatePass : Pass<"gc-accumulate", "::mlir::ModuleOp"> {
  let summary = "rewrites the step into micro-batches";
  let description = [{
    @train, and @evaluate where it is, become functions of a K-th of the batch, the gradient's seed
    1 / K. Gradients add up in accumulators `<parameter>.gradient`; the updates move to @step, marked
    `gc.list = "step"`, which runs after K micro-batches and empties the accumulators. The result is
    that of the whole batch up to rounding; a warning names the ops (batch norm) where it is not.
    Running statistics move once a micro-batch. Dropout draws the masks of the whole batch, by the
    index of the micro-batch in the state `micro_batch`.

    ```mlir
    gc.sgd @w, %dw, %c : (tensor<10x32xf32>, tensor<4xf32>) -> ()
    // becomes
    gc.accumulate @w.gradient, %dw : tensor<10x32xf32>
    // and in @step
    %sum = gc.read @w.gradient : tensor<10x32xf32>
    gc.sgd @w, %sum, %c : (tensor<10x32xf32>, tensor<4xf32>) -> ()
    gc.clear @w.gradient : tensor<10x32xf32>
    ```

    Requires: `--gc-optimizer`; K divides the batch. Guarantees: @train changes accumulators, running
    statistics and `micro_batch` alone; K = 1 changes nothing.
  }];
  let options = [
    Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches in a step">
  ];
  let dependentDialects = ["::gc::GcDialect", "::mlir::func::FuncDialect"];
}

def InferencePass : Pass<"gc-inference", "::mlir::ModuleOp"> {
  let summary = "adds the model in inference mode";
  let description = [{
    Clones the model as @evaluate, marked `gc.list = "evaluate"`: batch norm takes the running
    statistics and does not move them, dropout disappears.

    ```mlir
    %y, %mean, %rstd = gc.batch_norm %x, %w, %b ...
    gc.running_stats @m, @v, %mean, %rstd ...
    // becomes
    %mean = gc.read @m
    %var = gc.read @v
    %rstd = gc.inverse_deviation %var ...
    %y = gc.normalize %x, %mean, %rstd, %w, %b
    ```

    Requires: runs before `--gc-autodiff`. Guarantees: @evaluate changes no variable.
  }];
  let dependentDialects = ["::gc::GcDialect", "::mlir::func::FuncDialect"];
}

def MixLabelsPass : Pass<"gc-mix-labels", "::mlir::ModuleOp"> {
  let summary = "makes the training loss one of two labels, by a share";
  let description = [{
    For mixup and cutmix. Adds the inputs `mixed_label` (as `label`) and `share` (one number), and each
    `gc.cross_entropy` of the label becomes `share * own + (other - share * other)`, where `other` is the
    same op, with all its attributes, on the mixed label. With a share of 1 loss and gradients have the
    bits that they had. `gc.accuracy` goes on counting the first label.

    ```mlir
    %loss, %lse = gc.cross_entropy %logits, %label ...
    // becomes
    %own, %lse = gc.cross_entropy %logits, %label ...
    %other, %lse2 = gc.cross_entropy %logits, %mixed ...
    %a = gc.mul %share, %own ...
    %b = gc.mul %share, %other ...
    %rest = gc.sub %other, %b ...
    %loss = gc.add %a, %rest ...
    ```

    An error where another op takes the label, or no `gc.cross_entropy` does.

    Requires: runs before `--gc-autodiff`, and after `--gc-inference`, whose @evaluate keeps one label.
    Guarantees: the loss stays a mean over the samples of a batch.
  }];
  let dependentDialects = ["::gc::GcDialect", "::mlir::func::FuncDialect"];
}

def MixedPrecisionPass : Pass<"gc-mixed-precision", "::mlir::ModuleOp"> {
  let summary = "computes products in half precision, and saves what is between ops in it";
  let description = [{
    Values between ops become halves: products multiply them and add up in f32; all other ops compute in
    f32 what they read and round once what they write. Parameters, their gradients, optimizer
    state, statistics, losses and what has one dimension stay f32. Which ops take what, they say
    themselves (`PrecisionOpInterface`; a table is in docs/precision.md).

    ```mlir
    %y = gc.linear %x, %w : (tensor<8x32xf32>, tensor<10x32xf32>) -> tensor<8x10xf32>
    // becomes, with type=bf16
    %v = gc.cast %w : (tensor<10x32xf32>) -> tensor<10x32xbf16>
    %y = gc.linear %x, %v : (tensor<8x32xbf16>, tensor<10x32xbf16>) -> tensor<8x10xbf16>
    ```

    An op with the attribute `gc.precision = "f32"`, and the layers that a pattern of `of` matches, stay in
    f32, forward and backward.

    Requires: `--gc-autodiff`, before `--gc-expand`. Guarantees: variables, inputs and outputs keep their types;
    no op reads f32 that was narrowed for it alone.
  }];
  let options = [
    Option<"type", "type", "std::string", "\"f32\"", "f32, which changes nothing, or bf16">,
    Option<"of", "of", "std::string", "\"\"",
           "PATTERN=TYPE, separated by commas: layers with another type, the last that fits">
  ];
  let dependentDialects = ["::gc::GcDialect", "::mlir::func::FuncDialect"];
}

def ExpandPass : Pass<"gc-expand", "::mlir::ModuleOp"> {
  let summary = "splits compound ops into those that have kernels";
  let description = [{
    `gc.batch_norm` becomes `gc.batch_stats` and `gc.normalize`, which fuses with its neighbours;
    `gc.patch_embed` becomes `gc.conv2d` and `gc.reshape`. What joins parts of the batch, `gc.concat`
    along axis 0 and the sums of `gc.pad` that are the adjoint of `gc.slice`, becomes a chain of
    `gc.put_rows`: each part is written to its place and dies.

    Requires: `--gc-autodiff` has run (the parts have no adjoints).
    Guarantees: no `gc.batch_norm`, no `gc.patch_embed` and no `gc.concat` along axis 0 is left.
  }];
  let dependentDialects = ["::gc::GcDialect"];
}

def FusePass : Pass<"gc-fuse", "::mlir::func::FuncOp"> {
  let summary = "puts ops that can share a kernel into one";
  let description = [{
    First epilogues: bias, addition and activation move into the product whose result they alone use.
    Then groups: fusible ops over the same space become one `gc.fused`; a sum over rows may end a
    group.

    ```mlir
    %0 = gc.normalize %x, %m, %s, %w, %b : ...
    %1 = gc.relu %0 : ...
    // becomes
    %1 = gc.fused (%a = %x : ..., ...) -> ... {
      %n = gc.normalize %a, ...
      %r = gc.relu %n
      gc.yield %r
    }
    ```

    Requires: `--gc-autodiff` has run (fused ops have no adjoints). Guarantees: the same values, in an
    order that dependence allows.
  }];
  let dependentDialects = ["::gc::GcDialect"];
}

def SchedulePass : Pass<"gc-schedule", "::mlir::func::FuncOp"> {
  let summary = "orders ops so that less memory is alive";
  let description = [{
    Where dependence leaves a choice: an update as soon as its gradient is complete, the weight's
    gradient before the input's so that the activation dies first, what makes large values late,
    workspaces where little is alive. Functions without `gc.list` stay as they are.

    ```mlir
    %dx = gc.linear_grad_input %dy, %w : ...
    %dw = gc.linear_grad_weight %x, %dy : ...
    // becomes
    %dw = gc.linear_grad_weight %x, %dy : ...
    %dx = gc.linear_grad_input %dy, %w : ...
    ```

    Requires: kernels chosen where workspaces are to count. Guarantees: the same ops; the peak of live
    bytes is not above what it was; what does not depend on the gradient of the loss stays before it,
    in the order it had unless another lowers the peak.
  }];
  let dependentDialects = ["::gc::GcDialect"];
}

def RematerializePass : Pass<"gc-rematerialize", "::mlir::ModuleOp"> {
  let summary = "computes activations again instead of keeping them";
  let description = [{
    Decides which forward values to keep for the backward pass and clones what makes the others
    before their use, marked `gc.recomputed`.

    ```mlir
    %a = gc.relu %c : ...
    ...
    %dw = gc.conv2d_grad_filter %a, %dd : ...
    // becomes
    %a = gc.relu %c : ...
    ...
    %a2 = gc.relu %c {gc.recomputed} : ...
    %dw = gc.conv2d_grad_filter %a2, %dd : ...
    ```

    A budget counts two slots for each input; `--gc-plan-step` and gc-compile also try one.

    Requires: autodiff, and kernels chosen where workspaces are to count. Guarantees: the same bits;
    nothing that changes variables runs twice.
  }];
  let options = [
    Option<"policy", "policy", "std::string", "\"none\"",
           "none, all, sqrt, checkpoints or budget">,
    NumberOption<"checkpoints", "checkpoints", "int", "how many, for policy=checkpoints alone (1)">,
    Option<"budget", "budget", "std::string", "\"\"",
           "size of the arena that gc-plan-memory shall not exceed, variables and input slots "
           "included, such as 600MB or 1GiB, for policy=budget alone">,
    Option<"reserve", "reserve", "int64_t", "0", "bytes that the target needs throughout">
  ];
  let dependentDialects = ["::gc::GcDialect"];
}

def PlanStepPass : Pass<"gc-plan-step", "::mlir::ModuleOp"> {
  let summary = "chooses what is recomputed and places every byte, as gc-compile does";
  let description = [{
    `--gc-rematerialize` and `--gc-plan-memory` in one, and the way of the compiler: under a budget it
    also weighs one input slot against two. The plan that was scored is the one that is placed, to
    the byte.

    ```mlir
    %a = gc.relu %c : ...
    %dw = gc.conv2d_grad_filter %a, %dd : ...
    // becomes
    %a = gc.relu %c {gc.offsets = array<i64: 8192>} : ...
    %a2 = gc.relu %c {gc.offsets = array<i64: 4096>, gc.recomputed} : ...
    %dw = gc.conv2d_grad_filter %a2, %dd {gc.offsets = array<i64: 0>} : ...
    ```

    Requires: autodiff, an optimizer, and kernels chosen where workspaces are to count. Guarantees: the
    same bits; `gc.arena_bytes` is at most the budget.
  }];
  let options = [
    Option<"policy", "policy", "std::string", "\"none\"",
           "none, all, sqrt, checkpoints or budget">,
    NumberOption<"checkpoints", "checkpoints", "int", "how many, for policy=checkpoints alone (1)">,
    Option<"budget", "budget", "std::string", "\"\"",
           "size of the arena, such as 600MB or 1GiB, for policy=budget alone">,
    Option<"reserve", "reserve", "int64_t", "0", "bytes that the target needs throughout">,
    Option<"microBatches", "micro-batches", "int64_t", "1",
           "micro-batches in a step, for its predicted time">
  ];
  let dependentDialects = ["::gc::GcDialect"];
}

def PlanMemoryPass : Pass<"gc-plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every value an offset in one arena";
  let description = [{
    Variables and input slots lie at the bottom; values and workspaces are packed above by their
    lives, results over operands that die where the in-place interface allows it. Offsets are
    attributes: `gc.offset` of variables, `gc.offsets` of inputs and results, `gc.workspace_offset`,
    and `gc.arena_bytes` and `gc.lower_bound_bytes` of the module.

    Requires: functions marked with `gc.list`; variables are not used after they change.
    Guarantees: no two storages that are alive at the same op overlap.
  }];
  let options = [
    Option<"reserve", "reserve", "int64_t", "0", "bytes that the target reserves throughout">,
    Option<"inputSlots", "input-slots", "int", "2", "buffers per input">
  ];
  let dependentDialects = ["::gc::GcDialect"];
}

def CheckMemoryPass : Pass<"gc-check-memory", "::mlir::ModuleOp"> {
  let summary = "replays a memory plan and proves it";
  let description = [{
    Executes the functions on a map from the arena's bytes to what they hold, with no knowledge of
    liveness or packing: every operand must still be where its op wrote it; results lie on operands
    only where the in-place interface allows it; a workspace meets nothing that the op uses;
    variables change only by updates and are not used stale; inputs are never overwritten; returned
    values and kept gradients last. Changes nothing.

    ```mlir
    %0 = gc.neg %x {gc.offsets = array<i64: 2048>} : ...
    %1 = gc.exp %x {gc.offsets = array<i64: 2048>} : ...   // note: overwritten here
    %2 = gc.add %0, %1 ...                                 // error: operand #0 is 'neg' ...
    ```

    Requires: `--gc-plan-memory`. Guarantees: fails, at the op that would read or write the wrong
    bytes, unless the plan is sound.
  }];
}

#endif
