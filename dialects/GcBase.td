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
}

// Every tensor is ranked, static and of a size that passes and kernels can count: see Limits.h.
class Gc_Tensor<string shape, list<Type> elements, list<Pred> shapes = []>
    : RankedTensorOf<elements, !listconcat(shapes, [CPred<"::gc::isWithinLimits($_self)">]),
        shape # " tensor (dimensions from 1 to 2147483647, at most 1 TiB)">;
class Gc_AnyRank<list<Type> elements> : Gc_Tensor<"statically shaped (0D to 8D)", elements>;
class Gc_Rank<int rank, list<Type> elements>
    : Gc_Tensor<rank # "D", elements, [HasAnyRankOfPred<[rank]>]>;
class Gc_0D<list<Type> elements> : Gc_Rank<0, elements>;
class Gc_1D<list<Type> elements> : Gc_Rank<1, elements>;
class Gc_2D<list<Type> elements> : Gc_Rank<2, elements>;
class Gc_3D<list<Type> elements> : Gc_Rank<3, elements>;
class Gc_4D<list<Type> elements> : Gc_Rank<4, elements>;

def Gc_F32 : Gc_AnyRank<[F32]>;
def Gc_Labels : Gc_1D<[I32]>;
def Gc_Scalar : Gc_0D<[F32]>;
def Gc_Channel : Gc_1D<[F32]>;
def Gc_Image : Gc_4D<[F32]>;
def Gc_Any : Gc_AnyRank<[F32, I32, I64, I8]>;

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

class Gc_Op<string mnemonic, list<Trait> traits = []>
    : Op<Gc_Dialect, mnemonic, !listconcat(
          [Gc_KnownAttributes, CostOpInterface, RecomputableOpInterface], traits)> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

// An op without effects.
class Gc_PureOp<string mnemonic, list<Trait> traits = []>
    : Gc_Op<mnemonic, !listconcat([Pure], traits)>;

// Result types follow from operands and attributes; the verifier compares.
def Gc_Differentiable : DeclareOpInterfaceMethods<DifferentiableOpInterface>;
def Gc_Fusible : DeclareOpInterfaceMethods<FusibleOpInterface, ["getOperandAccess", "emitScalar"]>;
// A fusible op whose operands all have the shape of the result.
def Gc_Pointwise : DeclareOpInterfaceMethods<FusibleOpInterface, ["emitScalar"]>;
def Gc_ChannelSum : DeclareOpInterfaceMethods<FusibleOpInterface,
    ["getFusionKind", "getOperandAccess", "getResultAccess", "emitScalar"]>;
def Gc_Flops : DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;

#endif
