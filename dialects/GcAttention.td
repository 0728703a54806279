//===- GcAttention.td - attention, softmax, tokens ------------------------===//
#ifndef GC_ATTENTION_TD
#define GC_ATTENTION_TD
include "dialects/GcBase.td"

def Gc_SoftmaxOp : Gc_PureOp<"softmax", [
    Gc_Cost<"Rows", 20>, Gc_Samples<"AllButLast">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable, InPlaceOpInterface]> {
  let summary = "softmax along the last dimension";
  let description = [{
    ```mlir
    %y = gc.softmax %x : (tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$input);
  let results = (outs Gc_Value:$output);
}

def Gc_SoftmaxGradOp : Gc_PureOp<"softmax_grad", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"AllButLast">, Gc_SameInInference,
    InferTypeOpAdaptor]> {
  let summary = "dx = y * (dy - sum(y * dy))";
  let description = [{
    From the output alone.

    ```mlir
    %dx = gc.softmax_grad %y, %dy : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins Gc_Value:$output, Gc_Value:$gradient);
  let results = (outs Gc_Value:$input_gradient);
  let hasVerifier = 1;
}

def Gc_AttentionOp : Gc_PureOp<"attention", [Gc_OwnPrecision, Gc_OwnSingles, Gc_OwnCost, Gc_Samples<"First">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "multi-head scaled dot-product self-attention, fused";
  let description = [{
    `qkv` is [batch, sequence, 3 * width]: queries, keys, values, each heads x head size wide.
    `output = softmax(q k^T / sqrt(head size)) v`, heads side by side; `logsumexp` [batch, heads,
    sequence] of the scaled scores is all that the adjoint needs beside operand and output.

    `bias` is added to the scaled scores: [batch, heads, sequence, sequence], queries before keys, where each
    of the first three may be 1 and is then the same for all: a mask of keys is [batch, 1, 1, sequence], with
    -1e30 where one is hidden. With `causal` a query sees the keys up to its own position alone.

    ```mlir
    %o, %lse = gc.attention %qkv {heads = 6 : i64} : (tensor<8x197x1152xf32>) -> (tensor<8x197x384xf32>, tensor<8x6x197xf32>)
    %o, %lse = gc.attention %qkv, %bias {causal, heads = 6 : i64} : (tensor<8x197x1152xf32>, tensor<1x6x197x197xf32>) -> (tensor<8x197x384xf32>, tensor<8x6x197xf32>)
    ```
  }];
  let arguments = (ins Gc_Sequence:$qkv, Optional<Gc_Image>:$bias, I64Attr:$heads, UnitAttr:$causal);
  let results = (outs Gc_Sequence:$output, Gc_HeadStatistics:$logsumexp);
  let hasVerifier = 1;
}

def Gc_AttentionGradOp : Gc_PureOp<"attention_grad", [
    Gc_OwnPrecision, Gc_OwnSingles, Gc_OwnCost, Gc_Samples<"First">, Gc_SameInInference,
    InferTypeOpAdaptor]> {
  let summary = "gradient of attention's packed operand";
  let description = [{
    Recomputes the probabilities `P = exp(q k^T / sqrt(d) + bias - logsumexp)`; then `dV = P^T dO`,
    `dS = P * (dO V^T - rowsum(dO * O)) / sqrt(d)`, `dQ = dS K`, `dK = dS^T Q`.

    ```mlir
    %dqkv = gc.attention_grad %qkv, %o, %lse, %do {heads = 6 : i64}
        : (tensor<8x197x1152xf32>, tensor<8x197x384xf32>, tensor<8x6x197xf32>, tensor<8x197x384xf32>) -> tensor<8x197x1152xf32>
    ```
  }];
  let arguments = (ins Gc_Sequence:$qkv, Gc_Sequence:$output,
      Gc_HeadStatistics:$logsumexp, Gc_Sequence:$gradient, Optional<Gc_Image>:$bias,
      I64Attr:$heads, UnitAttr:$causal);
  let results = (outs Gc_Sequence:$qkv_gradient);
  let hasVerifier = 1;
}

def Gc_AttentionBiasGradOp : Gc_PureOp<"attention_bias_grad", [
    Gc_OwnPrecision, Gc_OwnSingles, Gc_OwnCost, Gc_Samples<"Nowhere">, Gc_SameInInference, InferTypeOpAdaptor]> {
  let summary = "gradient of attention's bias";
  let description = [{
    `P * (dO V^T - rowsum(dO * O))`, with P as in `gc.attention_grad`, added up over the samples and heads
    for which the bias is the same, a row for each query: [1 or batch, 1 or heads, sequence, sequence].

    ```mlir
    %db = gc.attention_bias_grad %qkv, %o, %lse, %do, %bias {heads = 6 : i64}
        : (tensor<8x197x1152xf32>, tensor<8x197x384xf32>, tensor<8x6x197xf32>, tensor<8x197x384xf32>, tensor<1x6x197x197xf32>) -> tensor<1x6x197x197xf32>
    ```
  }];
  let arguments = (ins Gc_Sequence:$qkv, Gc_Sequence:$output,
      Gc_HeadStatistics:$logsumexp, Gc_Sequence:$gradient, Gc_Image:$bias,
      I64Attr:$heads, UnitAttr:$causal);
  let results = (outs Gc_Image:$bias_gradient);
  let hasVerifier = 1;
}

def Gc_PatchEmbedOp : Gc_PureOp<"patch_embed", [
    Gc_OwnPrecision, Gc_OwnCost, Gc_Samples<"FirstOfFirstOperand">, Gc_SameInInference,
    InferTypeOpAdaptorWithIsCompatible, Gc_Differentiable]> {
  let summary = "images to patch tokens";
  let description = [{
    A convolution whose stride is its kernel, its output [B, h, w, D] seen as [B, h * w, D].

    ```mlir
    %t = gc.patch_embed %x, %w, %b : (tensor<8x224x224x3xf32>, tensor<384x16x16x3xf32>, tensor<384xf32>) -> tensor<8x196x384xf32>
    ```
  }];
  let arguments = (ins Gc_Image:$input, Gc_Image:$filter, Gc_Channel:$bias);
  let results = (outs Gc_Sequence:$output);
  let hasVerifier = 1;
}

def Gc_ClassTokenOp : Gc_PureOp<"class_token", [
    Gc_OwnSingles, Gc_OwnPrecision, Gc_Cost<"Rows", 1>, Gc_Samples<"First">, Gc_SameInInference,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "puts the class token first and adds positions";
  let description = [{
    `output[b] = concat(token, input[b]) + position`.

    ```mlir
    %y = gc.class_token %t, %cls, %pos : (tensor<8x196x384xf32>, tensor<1x1x384xf32>, tensor<1x197x384xf32>) -> tensor<8x197x384xf32>
    ```
  }];
  let arguments = (ins Gc_Sequence:$input, Gc_Sequence:$token,
      Gc_Sequence:$position);
  let results = (outs Gc_Sequence:$output);
  let hasVerifier = 1;
}

def Gc_EmbeddingOp : Gc_PureOp<"embedding", [Gc_OwnSingles, Gc_OwnPrecision, Gc_Cost<"Rows", 1>, Gc_OwnSamples, Gc_SameInInference,
    InferTypeOpAdaptorWithIsCompatible, Gc_Differentiable]> {
  let summary = "rows of a table by index";
  let description = [{
    ```mlir
    %y = gc.embedding %i, %table : (tensor<8x128xi32>, tensor<1000x64xf32>) -> tensor<8x128x64xf32>
    ```
  }];
  let arguments = (ins Gc_Indices:$indices, Gc_Matrix:$table);
  let results = (outs Gc_Value:$output);
}

def Gc_EmbeddingGradOp : Gc_PureOp<"embedding_grad", [
    Gc_OwnSingles, Gc_OwnPrecision, Gc_Cost<"Rows", 1>, Gc_Samples<"Nowhere">, Gc_SameInInference]> {
  let summary = "adds gradient rows into the table's gradient";
  let description = [{
    ```mlir
    %dt = gc.embedding_grad %i, %dy : (tensor<8x128xi32>, tensor<8x128x64xf32>) -> tensor<1000x64xf32>
    ```
  }];
  let arguments = (ins Gc_Indices:$indices, Gc_Value:$gradient);
  let results = (outs Gc_Matrix:$table_gradient);
  let hasVerifier = 1;
}
#endif
