//===- GcNorm.td - normalization ------------------------------------------===//
#ifndef GC_NORM_TD
#define GC_NORM_TD
include "dialects/GcBase.td"

def Gc_BatchNormOp : Gc_PureOp<"batch_norm", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"Last">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "normalizes each channel over batch and space";
  let description = [{
    `y = (x - mean) * rstd * weight + bias` with the batch's own mean and `rstd = 1 / sqrt(variance +
    epsilon)` (biased variance) per channel. Updates nothing: running statistics are
    `gc.running_stats`, so that a clone never updates them twice.

    ```mlir
    %y, %mean, %rstd = gc.batch_norm %x, %w, %b {epsilon = 1.0e-5 : f32}
        : (tensor<8x14x14x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<8x14x14x64xf32>, tensor<64xf32>, tensor<64xf32>)
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Channel:$weight, Gc_Channel:$bias, Gc_NotNegative:$epsilon);
  let results = (outs Gc_Value:$output, Gc_ChannelStatistics:$mean, Gc_ChannelStatistics:$rstd);
  let hasVerifier = 1;
}

def Gc_BatchStatsOp : Gc_PureOp<"batch_stats", [
    Gc_OwnPrecision, Gc_Cost<"Rows", 1>, Gc_Samples<"Last">, Gc_SameInInference,
    InferTypeOpAdaptor]> {
  let summary = "mean and inverse deviation of each channel";
  let description = [{
    The first half of `gc.batch_norm`, apart so that the second half fuses with its neighbours.

    ```mlir
    %mean, %rstd = gc.batch_stats %x {epsilon = 1.0e-5 : f32} : (tensor<8x14x14x64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_NotNegative:$epsilon);
  let results = (outs Gc_ChannelStatistics:$mean, Gc_ChannelStatistics:$rstd);
}

def Gc_InverseDeviationOp : Gc_PureOp<"inverse_deviation", [
    Gc_Cost<"Stream", 1>, Gc_Samples<"Everywhere">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Fusible, InPlaceOpInterface]> {
  let summary = "rstd = 1 / sqrt(variance + epsilon)";
  let description = [{
    Turns a running variance into what `gc.normalize` takes, in inference mode.

    ```mlir
    %rstd = gc.inverse_deviation %var {epsilon = 1.0e-5 : f32} : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Gc_ChannelStatistics:$variance, Gc_NotNegative:$epsilon);
  let results = (outs Gc_ChannelStatistics:$rstd);
}

def Gc_NormalizeOp : Gc_PureOp<"normalize", [
    Gc_Cost<"Stream", 1>, Gc_Samples<"Everywhere">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable, Gc_Fusible, InPlaceOpInterface]> {
  let summary = "y = (x - mean) * rstd * weight + bias per channel";
  let description = [{
    The second half of `gc.batch_norm`, and all of it in inference mode. `mean` and `rstd` have no
    derivative here: they are running statistics.

    ```mlir
    %y = gc.normalize %x, %mean, %rstd, %w, %b
        : (tensor<8x14x14x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<8x14x14x64xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_ChannelStatistics:$mean, Gc_ChannelStatistics:$rstd,
      Gc_Channel:$weight, Gc_Channel:$bias);
  let results = (outs Gc_Value:$output);
  let hasVerifier = 1;
}

def Gc_NormalizeGradOp : Gc_PureOp<"normalize_grad", [
    Gc_Cost<"Stream", 1>, Gc_Samples<"Everywhere">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Fusible, InPlaceOpInterface]> {
  let summary = "dx = dy * rstd * weight per channel";
  let description = [{
    The gradient of the input of `gc.normalize`, whose mean and deviation do not depend on it.

    ```mlir
    %dx = gc.normalize_grad %dy, %rstd, %w
        : (tensor<8x14x14x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<8x14x14x64xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$gradient, Gc_ChannelStatistics:$rstd, Gc_Channel:$weight);
  let results = (outs Gc_Value:$input_gradient);
  let hasVerifier = 1;
}

def Gc_BatchNormGradParamsOp : Gc_PureOp<"batch_norm_grad_params", [
    Gc_OwnPrecision, Gc_Cost<"Rows", 1>, Gc_Samples<"Last">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_ChannelSum]> {
  let summary = "gradients of batch norm's weight and bias";
  let description = [{
    `weight_gradient = sum(dy * (x - mean) * rstd)`, `bias_gradient = sum(dy)` over batch and space.

    ```mlir
    %dw, %db = gc.batch_norm_grad_params %dy, %x, %mean, %rstd
        : (tensor<8x14x14x64xf32>, tensor<8x14x14x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
    ```
  }];
  let arguments = (ins Gc_Value:$gradient, Gc_Value:$input, Gc_ChannelStatistics:$mean,
      Gc_ChannelStatistics:$rstd);
  let results = (outs Gc_Channel:$weight_gradient, Gc_Channel:$bias_gradient);
  let hasVerifier = 1;
}

def Gc_BatchNormGradInputOp
    : Gc_PureOp<"batch_norm_grad_input", [
    Gc_Cost<"Stream", 1>, Gc_Samples<"Last">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Fusible, InPlaceOpInterface]> {
  let summary = "gradient of batch norm's input";
  let description = [{
    `dx = weight * rstd * (dy - db / n - (x - mean) * rstd * dw / n)` with n elements in a channel and
    the parameter gradients dw, db of `gc.batch_norm_grad_params`.

    ```mlir
    %dx = gc.batch_norm_grad_input %dy, %x, %mean, %rstd, %w, %dw, %db
        : (tensor<8x4x4x2xf32>, tensor<8x4x4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8x4x4x2xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$gradient, Gc_Value:$input, Gc_ChannelStatistics:$mean,
      Gc_ChannelStatistics:$rstd, Gc_Channel:$weight, Gc_Channel:$weight_gradient,
      Gc_Channel:$bias_gradient);
  let results = (outs Gc_Value:$input_gradient);
  let hasVerifier = 1;
}

def Gc_RunningStatsOp : Gc_Op<"running_stats", [
    Gc_Cost<"Rows", 1>, Gc_Repeats<"Once">, Gc_Samples<"Nowhere">, Gc_OwnInference,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<VariableChangeOpInterface>]> {
  let summary = "moves running statistics towards the batch's";
  let description = [{
    `running_mean += momentum * (mean - running_mean)`, likewise the variance with n / (n - 1) for
    `count` = n elements in a channel; the batch's variance is `1 / rstd^2 - epsilon`. Runs once a
    micro-batch and is never cloned.

    ```mlir
    gc.running_stats @"bn1.running_mean", @"bn1.running_var", %mean, %rstd
        {momentum = 0.1 : f32, epsilon = 1.0e-5 : f32, count = 1568 : i64} : tensor<64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$running_mean, FlatSymbolRefAttr:$running_variance,
      Gc_ChannelStatistics:$mean, Gc_ChannelStatistics:$rstd, Gc_Share:$momentum,
      Gc_NotNegative:$epsilon, ConfinedAttr<I64Attr, [IntMinValue<2>]>:$count);
  let assemblyFormat = [{
    $running_mean `,` $running_variance `,` $mean `,` $rstd attr-dict `:` type($mean) `,` type($rstd)
  }];
}

def Gc_LayerNormOp : Gc_PureOp<"layer_norm", [
    Gc_OwnSingles, Gc_Cost<"Rows", 1>, Gc_Samples<"AllButLast">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "normalizes each row (last dimension)";
  let description = [{
    `mean` and `rstd` have the input's shape without its last dimension.

    ```mlir
    %y, %mean, %rstd = gc.layer_norm %x, %w, %b {epsilon = 1.0e-6 : f32}
        : (tensor<8x197x384xf32>, tensor<384xf32>, tensor<384xf32>) -> (tensor<8x197x384xf32>, tensor<8x197xf32>, tensor<8x197xf32>)
    ```
  }];
  let arguments = (ins Gc_Value:$input, Gc_Channel:$weight, Gc_Channel:$bias, Gc_NotNegative:$epsilon);
  let results = (outs Gc_Value:$output, Gc_RowStatistics:$mean, Gc_RowStatistics:$rstd);
  let hasVerifier = 1;
}

def Gc_LayerNormGradOp : Gc_PureOp<"layer_norm_grad", [
    Gc_OwnSingles, Gc_Cost<"Rows", 1>, Gc_Samples<"Nowhere">, Gc_SameInInference,
    InferTypeOpAdaptor]> {
  let summary = "gradients of layer norm's input, weight and bias";
  let description = [{
    With h = (x - mean) * rstd, g = dy * weight and row averages: `dx = rstd * (g - avg(g) - h * avg(g *
    h))`, `dw = sum over rows (dy * h)`, `db = sum over rows (dy)`.

    ```mlir
    %dx, %dw, %db = gc.layer_norm_grad %dy, %x, %mean, %rstd, %w
        : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins Gc_Value:$gradient, Gc_Value:$input, Gc_RowStatistics:$mean,
      Gc_RowStatistics:$rstd, Gc_Channel:$weight);
  let results = (outs Gc_Value:$input_gradient, Gc_Channel:$weight_gradient,
      Gc_Channel:$bias_gradient);
  let hasVerifier = 1;
}

def Gc_GroupNormOp : Gc_PureOp<"group_norm", [
    Gc_OwnSingles, Gc_Cost<"Rows", 1>, Gc_Samples<"First">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "normalizes groups of channels of each sample";
  let description = [{
    `mean` and `rstd` are [batch, groups].

    ```mlir
    %y, %mean, %rstd = gc.group_norm %x, %w, %b {epsilon = 1.0e-5 : f32, groups = 2 : i64}
        : (tensor<8x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x4x4x16xf32>, tensor<8x2xf32>, tensor<8x2xf32>)
    ```
  }];
  let arguments = (ins Gc_Image:$input, Gc_Channel:$weight, Gc_Channel:$bias, Gc_NotNegative:$epsilon,
      I64Attr:$groups);
  let results = (outs Gc_Image:$output, Gc_GroupStatistics:$mean, Gc_GroupStatistics:$rstd);
  let hasVerifier = 1;
}

def Gc_GroupNormGradOp : Gc_PureOp<"group_norm_grad", [
    Gc_OwnSingles, Gc_Cost<"Rows", 1>, Gc_Samples<"Nowhere">, Gc_SameInInference,
    InferTypeOpAdaptor]> {
  let summary = "gradients of group norm's input, weight and bias";
  let description = [{
    As `gc.layer_norm_grad`, with averages over the space and channels of a group and parameter
    gradients summed over batch and space.

    ```mlir
    %dx, %dw, %db = gc.group_norm_grad %dy, %x, %mean, %rstd, %w {groups = 2 : i64}
        : (tensor<8x4x4x16xf32>, tensor<8x4x4x16xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<16xf32>) -> (tensor<8x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>)
    ```
  }];
  let arguments = (ins Gc_Image:$gradient, Gc_Image:$input, Gc_GroupStatistics:$mean,
      Gc_GroupStatistics:$rstd, Gc_Channel:$weight, I64Attr:$groups);
  let results = (outs Gc_Image:$input_gradient, Gc_Channel:$weight_gradient,
      Gc_Channel:$bias_gradient);
  let hasVerifier = 1;
}
#endif
