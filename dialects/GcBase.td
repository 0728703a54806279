//===- GcBase.td - the gc dialect and what all its ops share --------------===//
#ifndef GC_BASE_TD
#define GC_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/GcInterfaces.td"

def Gc_Dialect : Dialect {
  let name = "gc";
  let cppNamespace = "::gc";
  let summary = "training steps as static graphs";
  let description = [{
    Value semantics on ranked, static tensors. Activations are NHWC, filters OHWI. Parameters and
    state are symbols of the module, named as PyTorch names them; `gc.read` turns one into a value
    and only the training ops change one.
  }];
  let useDefaultAttributePrinterParser = 1;
  // Attributes gc.* of any op, function argument or result: KnownAttributes.cpp lists them.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let extraClassDeclaration = [{
    /// Of a name that is no op: the error tells the nearest one.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;
  }];
}

// Every tensor is ranked, static and of a size that passes and kernels can count: see Limits.h.
class Gc_Tensor<string shape, list<Type> elements, list<Pred> shapes = []>
    : RankedTensorOf<elements, !listconcat(shapes, [CPred<"::gc::isWithinLimits($_self)">]),
        shape # " tensor (dimensions from 1 to 2147483647, at most 1 TiB)">;
class Gc_AnyRank<list<Type> elements> : Gc_Tensor<"statically shaped (0D to 8D)", elements>;
class Gc_Rank<int rank, list<Type> elements>
    : Gc_Tensor<rank # "D", elements, [HasAnyRankOfPred<[rank]>]>;

// What ops take and give, by its meaning; ops name no element types. Another one for networks to
// compute in is added to this list. Where it is narrower than f32, kernels compute in f32 and round
// once, to the nearest, what they write.
defvar Gc_Numbers = [F32, BF16];
def Gc_Value : Gc_AnyRank<Gc_Numbers>;
def Gc_Movable : Gc_AnyRank<!listconcat(Gc_Numbers, [I32])>; // also labels, which nothing computes
def Gc_Matrix : Gc_Rank<2, Gc_Numbers>;   // rows of a linear layer, a weight, logits, a table
def Gc_Sequence : Gc_Rank<3, Gc_Numbers>; // [batch, position, width]
def Gc_Image : Gc_Rank<4, Gc_Numbers>;    // NHWC; a filter is OHWI
// Parameters, their gradients and the state of optimizers stay f32 whatever networks compute in, and
// so do numbers of each channel and sums over many elements.
def Gc_Master : Gc_AnyRank<[F32]>;
def Gc_Channel : Gc_Rank<1, [F32]>;
def Gc_Sum : Gc_AnyRank<[F32]>;
def Gc_SampleSum : Gc_Rank<2, [F32]>; // of each channel
def Gc_Scalar : Gc_Rank<0, [F32]>; // a loss, a count
def Gc_RowStatistics : Gc_AnyRank<[F32]>;
def Gc_SampleStatistics : Gc_Rank<1, [F32]>;
def Gc_ChannelStatistics : Gc_Rank<1, [F32]>;
def Gc_GroupStatistics : Gc_Rank<2, [F32]>;
def Gc_HeadStatistics : Gc_Rank<3, [F32]>;
def Gc_Coefficients : Gc_Rank<1, [F32]>; // of an optimizer
// Integers.
def Gc_Labels : Gc_AnyRank<[I32]>; // of samples, tokens or pixels
def Gc_Indices : Gc_AnyRank<[I32]>;
def Gc_WindowIndex : Gc_Rank<4, [I8]>; // a place in a pooling window
def Gc_Generator : Gc_Rank<1, [I64]>;  // (seed, step)
def Gc_Counter : Gc_Rank<1, [I64]>;
// What a variable may hold.
def Gc_Stored : Gc_AnyRank<[F32, I32, I64, I8]>;

// Numbers without the values that would only be noticed in the results of a training.
class Gc_Number<string what, string condition> : ConfinedAttr<F32Attr, [
    AttrConstraint<CPred<"::gc::isNumber($_self, [](double value) { return " # condition # "; })">,
                   "that is " # what>]>;
def Gc_Finite : Gc_Number<"finite", "std::isfinite(value)">;
def Gc_NotNegative : Gc_Number<"finite and not negative", "value >= 0">;
def Gc_Share : Gc_Number<"in [0, 1]", "value >= 0 && value <= 1">;
def Gc_Decay : Gc_Number<"in [0, 1)", "value >= 0 && value < 1">;

// An attribute that an op does not have is an error: it would be ignored.
def Gc_KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::gc";
}

// What passes ask of every op. There are no defaults: each op answers by the traits below, or by
// methods of its own (Gc_OwnCost, Gc_OwnSamples, Gc_OwnInference), or does not compile. The two
// exceptions are answers of CostOpInterface: the bytes moved, which are those of every tensor once,
// and the workspace, which a target writes into `gc.workspace`.
class Gc_Answer<string trait, string parameters> : ParamNativeOpTrait<trait, parameters> {
  let cppNamespace = "::gc";
}
// The kind of work and the FLOPs for each element of the largest tensor. One is right within a small
// factor for all that memory bounds; what takes more is counted in the code that it becomes.
class Gc_Cost<string kind, int flopsPerElement>
    : Gc_Answer<"Work", "::gc::WorkKind::" # kind # ", " # flopsPerElement>;
class Gc_Repeats<string repetition> : Gc_Answer<"Repeats", "::gc::Repetition::" # repetition>;
// The dimensions along which samples may lie without being mixed.
class Gc_Samples<string apart> : Gc_Answer<"Samples", "::gc::Apart::" # apart>;
// Linear up to a constant: a mean over the batch stays one.
def Gc_KeepsMeans : NativeOpTrait<"KeepsMeans"> {
  let cppNamespace = "::gc";
}
// The op's first result is a number about a batch; those of several batches are reduced so.
class Gc_Reduces<string reduction>
    : Gc_Answer<"Reduces", "::gc::BatchReduction::" # reduction>;
def Gc_SameInInference : NativeOpTrait<"SameInInference"> {
  let cppNamespace = "::gc";
}
def Gc_TrainingOnly : NativeOpTrait<"TrainingOnly"> {
  let cppNamespace = "::gc";
}
def Gc_OwnCost : DeclareOpInterfaceMethods<CostOpInterface>;
def Gc_OwnSamples : DeclareOpInterfaceMethods<BatchOpInterface>;
def Gc_OwnInference : DeclareOpInterfaceMethods<InferenceOpInterface>;
// What becomes of the op in mixed precision, where that is not the default: `ops/Precision.cpp`.
def Gc_OwnPrecision : DeclareOpInterfaceMethods<PrecisionOpInterface, ["getPrecisionRule"]>;
def Gc_OwnSingles : DeclareOpInterfaceMethods<PrecisionOpInterface, ["staysSingle"]>;

class Gc_Op<string mnemonic, list<Trait> traits = []>
    : Op<Gc_Dialect, mnemonic, !listconcat(
          [Gc_KnownAttributes, CostOpInterface, RecomputableOpInterface, BatchOpInterface,
           InferenceOpInterface], traits)> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

// An op without effects; what it draws at random it draws from a counter, so that a clone gives the
// same bits.
class Gc_PureOp<string mnemonic, list<Trait> traits = []>
    : Gc_Op<mnemonic, !listconcat([Pure, Gc_Repeats<"Exact">, PrecisionOpInterface], traits)>;

// Result types follow from operands and attributes; the verifier compares.
def Gc_Differentiable : DeclareOpInterfaceMethods<DifferentiableOpInterface>;
def Gc_Fusible : DeclareOpInterfaceMethods<FusibleOpInterface, ["getOperandAccess", "emitScalar"]>;
// A fusible op whose operands all have the shape of the result.
def Gc_Pointwise : DeclareOpInterfaceMethods<FusibleOpInterface, ["emitScalar"]>;
def Gc_ChannelSum : DeclareOpInterfaceMethods<FusibleOpInterface,
    ["getFusionKind", "getOperandAccess", "getResultAccess", "emitScalar"]>;

#endif
