//===- Passes.td - the passes of the road ---------------------------------===//
#ifndef GC_PASSES_TD
#define GC_PASSES_TD
include "mlir/Pass/PassBase.td"

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

    Requires: no fused activation on the path; every parameter reaches the loss.
    Guarantees: one `gc.gradient` for each `gc.parameter`; adjoints read only declared saved values.
  }];
  let dependentDialects = ["::gc::GcDialect", "::mlir::func::FuncDialect"];
}

def OptimizerPass : Pass<"gc-optimizer", "::mlir::ModuleOp"> {
  let summary = "turns gradients into updates of the parameters";
  let description = [{
    Replaces each `gc.gradient` of @train by the optimizer's update, after the last use of the
    parameter's value; adds the optimizer's state variables, the step count and `gc.advance`.

    ```mlir
    gc.gradient @w, %dw : tensor<10x32xf32>
    // becomes, with kind=sgd lr=0.1
    gc.sgd @w, %dw {lr = 0.1 : f32} : (tensor<10x32xf32>) -> ()
    ```

    Requires: `--gc-autodiff`. Guarantees: every parameter is updated once, after all its uses.
  }];
  let options = [
    Option<"kind", "kind", "std::string", "\"sgd\"", "sgd, adam or adamw">,
    Option<"lr", "lr", "double", "1e-3", "learning rate">,
    Option<"momentum", "momentum", "double", "0.0", "sgd: momentum">,
    Option<"dampening", "dampening", "double", "0.0", "sgd: dampening of the momentum">,
    Option<"nesterov", "nesterov", "bool", "false", "sgd: Nesterov momentum">,
    Option<"weightDecay", "weight-decay", "double", "0.0",
           "weight decay; adamw decays by 0.01 unless told">,
    Option<"beta1", "beta1", "double", "0.9", "adam, adamw: decay of the first moment">,
    Option<"beta2", "beta2", "double", "0.999", "adam, adamw: decay of the second moment">,
    Option<"epsilon", "epsilon", "double", "1e-8", "adam, adamw: added to the denominator">,
    Option<"keepGradients", "keep-gradients", "bool", "false",
           "keep gc.gradient beside the update, so that gradients can be dumped">
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

def ExpandPass : Pass<"gc-expand", "::mlir::ModuleOp"> {
  let summary = "splits compound ops into those that have kernels";
  let description = [{
    `gc.batch_norm` becomes `gc.batch_stats` and `gc.normalize`, which fuses with its neighbours;
    `gc.patch_embed` becomes `gc.conv2d` and `gc.reshape`.

    Requires: `--gc-autodiff` has run (the parts have no adjoints).
    Guarantees: no `gc.batch_norm` and no `gc.patch_embed` is left.
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

#endif
