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
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def Gc_F32 : StaticShapeTensorOf<[F32]>;
def Gc_Labels : 1DTensorOf<[I32]>;
def Gc_Bytes : StaticShapeTensorOf<[UI8, I8]>;
def Gc_Scalar : 0DTensorOf<[F32]>;
def Gc_Channel : 1DTensorOf<[F32]>;
def Gc_Image : 4DTensorOf<[F32]>;
def Gc_Any : StaticShapeTensorOf<[F32, I32, I64, I8]>;

class Gc_Op<string mnemonic, list<Trait> traits = []>
    : Op<Gc_Dialect, mnemonic, !listconcat([CostOpInterface, RecomputableOpInterface], traits)> {
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
