//===- GcLoss.td - loss and metrics ---------------------------------------===//
#ifndef GC_LOSS_TD
#define GC_LOSS_TD
include "dialects/GcBase.td"

def Gc_CrossEntropyOp : Gc_PureOp<"cross_entropy", [
    Gc_OwnPrecision, Gc_Cost<"Rows", 20>, Gc_OwnSamples, Gc_OwnInference, MetricOpInterface, Gc_Reduces<"Mean">,
    InferTypeOpAdaptor, Gc_Differentiable]> {
  let summary = "mean cross entropy of logits against labels";
  let description = [{
    `loss = mean over samples of (logsumexp(logits) - logits[label])`. Samples with a negative label
    are left out of the mean (padding of a last batch). `logsumexp` is kept for the adjoint. Labels have
    any shape, an element for each row of the logits: those of tokens are [batch, position].

    With `label_smoothing` = e in [0, 1), as torch.nn.CrossEntropyLoss: a sample's target is 1 - e of its label
    and e shared evenly among all classes, so that its loss is `logsumexp(logits) - (1 - e) *
    logits[label] - e * mean(logits)`. In inference mode the loss is the plain one.

    ```mlir
    %loss, %lse = gc.cross_entropy %logits, %labels : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    %loss, %lse = gc.cross_entropy %logits, %labels {label_smoothing = 0.1 : f32} : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    %loss, %lse = gc.cross_entropy %logits, %labels : (tensor<8x10xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Gc_Matrix:$logits, Gc_Labels:$labels,
      DefaultValuedAttr<Gc_Decay, "0.0f">:$label_smoothing);
  let results = (outs Gc_Scalar:$loss, Gc_SampleStatistics:$logsumexp);
  let hasVerifier = 1;
}

def Gc_CrossEntropyGradOp : Gc_PureOp<"cross_entropy_grad", [
    Gc_Cost<"Rows", 1>, Gc_Samples<"Nowhere">, Gc_SameInInference,
    InferTypeOpAdaptor, InPlaceOpInterface]> {
  let summary = "gradient of the logits";
  let description = [{
    `dlogits = dloss / samples * (exp(logits - logsumexp) - (1 - e) * onehot(label) - e / classes)` with
    e = `label_smoothing`; zero for left-out samples.

    ```mlir
    %d = gc.cross_entropy_grad %logits, %labels, %lse, %dloss
        : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<f32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins Gc_Matrix:$logits, Gc_Labels:$labels, Gc_SampleStatistics:$logsumexp,
      Gc_Scalar:$gradient, DefaultValuedAttr<Gc_Decay, "0.0f">:$label_smoothing);
  let results = (outs Gc_Matrix:$logits_gradient);
  let hasVerifier = 1;
}

def Gc_AccuracyOp : Gc_PureOp<"accuracy", [
    Gc_OwnPrecision, Gc_Cost<"Rows", 1>, Gc_OwnSamples, Gc_SameInInference, MetricOpInterface, Gc_Reduces<"Sum">,
    InferTypeOpAdaptor]> {
  let summary = "how many samples have their largest logit at the label";
  let description = [{
    A count, the first of equal logits wins; negative labels never count.

    ```mlir
    %correct = gc.accuracy %logits, %labels : (tensor<8x10xf32>, tensor<8xi32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Gc_Matrix:$logits, Gc_Labels:$labels);
  let results = (outs Gc_Scalar:$correct);
  let hasVerifier = 1;
}

def Gc_LabelCountOp : Gc_PureOp<"label_count", [
    Gc_Cost<"Rows", 1>, Gc_OwnSamples, Gc_TrainingOnly, InferTypeOpAdaptor]> {
  let summary = "how many labels `gc.cross_entropy` takes its mean over";
  let description = [{
    Those from 0 on, below `classes`. By it micro-batches of tokens are weighted: their means count as
    many labels as they have.

    ```mlir
    %n = gc.label_count %labels {classes = 10 : i64} : (tensor<2x4xi32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Gc_Labels:$labels, ConfinedAttr<I64Attr, [IntPositive]>:$classes);
  let results = (outs Gc_Scalar:$count);
}
#endif
