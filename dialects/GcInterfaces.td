//===- GcInterfaces.td - what passes ask of an op -------------------------===//
#ifndef GC_INTERFACES_TD
#define GC_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{
    Emits the op's adjoint. The rules, each below its formula, are in `dialects/derivatives`.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the gradient of each operand marked in `needed` into `operandGradients` (one entry per
      operand, null where the derivative is zero or not needed). `resultGradients` has one entry per
      result, null where no gradient reaches it; at least one is set.
    }], "::llvm::LogicalResult", "buildAdjoint", (ins "::mlir::OpBuilder &":$builder,
        "::mlir::ValueRange":$resultGradients, "const ::llvm::SmallBitVector &":$needed,
        "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients)>,
    InterfaceMethod<[{
      The operands and results of the forward op that the adjoint reads. Autodiff checks that an
      adjoint reads nothing else; rematerialization weighs them.
    }], "::gc::SavedValues", "getSavedValues", (ins)>
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{ What running the op once costs, for rooflines and reports. }];
  let methods = [
    InterfaceMethod<"Floating-point operations.", "double", "getFlops", (ins)>,
    InterfaceMethod<"Bytes read and written, each tensor once.", "double", "getBytesMoved", (ins),
      [{}], [{ return ::gc::detail::defaultBytesMoved($_op); }]>,
    InterfaceMethod<"What kind of work it is: at which rate the FLOPs and bytes go.",
      "::gc::WorkKind", "getWorkKind", (ins)>,
    InterfaceMethod<[{
      Bytes of scratch while the op runs: known once a target has chosen its kernels (the
      `gc.workspace` attribute), zero before.
    }], "int64_t", "getWorkspaceBytes", (ins), [{}], [{
      auto bytes = $_op->template getAttrOfType<::mlir::IntegerAttr>("gc.workspace");
      return bytes ? bytes.getInt() : 0;
    }]>
  ];
}

def RecomputableOpInterface : OpInterface<"RecomputableOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{
    Whether running the op again gives the same bits. Ops that change variables must run once;
    random ops draw from a counter and repeat exactly within a step.
  }];
  let methods = [
    InterfaceMethod<"Whether a clone may stand in for the op.", "::gc::Repetition",
      "getRepetition", (ins)>
  ];
}

def BatchOpInterface : OpInterface<"BatchOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{
    What the op does to the samples of a batch. Where all ops of a model keep them apart, or give
    their mean, a step of several micro-batches is the step of the whole batch.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether the op mixes samples, which lie along the dimensions of its operands that `isBatch`
      tells.
    }], "::gc::Mixing", "getMixing", (ins "::gc::BatchDimensions":$isBatch)>
  ];
}

def MetricOpInterface : OpInterface<"MetricOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{
    An op whose first result is a number about a batch, which a model can return for the trainer.
    There is no default: a mean that is added up, or a count that is averaged, would be noticed by
    nobody.
  }];
  let methods = [
    InterfaceMethod<"How the numbers of several batches become one.", "::gc::BatchReduction",
      "getReduction", (ins)>
  ];
}

def InferenceOpInterface : OpInterface<"InferenceOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{ What the op is in inference mode. }];
  let methods = [
    InterfaceMethod<[{
      Replaces the op, in a clone of the model, by what it is in inference mode; most ops stay as
      they are. Reports an op that has no form for inference. May erase the op itself and ops
      before it.
    }], "::llvm::LogicalResult", "toInference", (ins)>
  ];
}

def FusibleOpInterface : OpInterface<"FusibleOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{
    The op is one scalar expression at every point of a space [rows, channels] (its largest tensor
    with all but the last dimension collapsed), or the sum of such an expression over the rows.
    Fused ops share one loop nest, on every device.
  }];
  let methods = [
    InterfaceMethod<"Point by point, or a sum over rows.", "::gc::FusionKind", "getFusionKind",
      (ins), [{}], [{ return ::gc::FusionKind::Elementwise; }]>,
    InterfaceMethod<"How operand `index` is indexed in the space.", "::gc::Access",
      "getOperandAccess", (ins "unsigned":$index), [{}], [{ return ::gc::Access::Full; }]>,
    InterfaceMethod<"How result `index` is indexed in the space.", "::gc::Access",
      "getResultAccess", (ins "unsigned":$index), [{}], [{ return ::gc::Access::Full; }]>,
    InterfaceMethod<[{
      Emits the scalar expression with arith and math ops: one value per result (for a sum over
      rows: the summand). No fast-math flags: the bits must not depend on the neighbours.
    }], "void", "emitScalar", (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
        "::mlir::ValueRange":$operands, "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{
    What mixed precision (`--gc-mixed-precision`) makes of the op. An op that does not implement it
    takes and gives f32. docs/precision.md has the rules as a table.
  }];
  let methods = [
    InterfaceMethod<"How the op takes tensors of half precision.", "::gc::PrecisionRule",
      "getPrecisionRule", (ins), [{}], [{ return ::gc::PrecisionRule::Alike; }]>,
    InterfaceMethod<[{
      Whether an operand or a result is f32 in every precision. By default what has one dimension or
      none: a bias, statistics of channels, a loss.
    }], "bool", "staysSingle", (ins "::mlir::Value":$value), [{}],
      [{ return ::gc::detail::isSmall(value); }]>
  ];
}

def InPlaceOpInterface : OpInterface<"InPlaceOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{ Which result may be written over which operand when that operand dies. }];
  let methods = [
    InterfaceMethod<"Whether result `result` may take the bytes of operand `operand`.", "bool",
      "canWriteOver", (ins "unsigned":$operand, "unsigned":$result), [{}], [{
      return ::gc::detail::fusibleMayWriteOver($_op.getOperation(), operand, result);
    }]>,
    InterfaceMethod<[{
      Whether the result IS the operand, or a part of it, seen differently (reshape, some slices): the
      operand's bytes, and nothing runs.
    }], "bool", "isView", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<"Where a view begins: bytes from the beginning of its operand.", "int64_t",
      "getViewOffset", (ins), [{}], [{ return 0; }]>
  ];
}

def EpilogueOpInterface : OpInterface<"EpilogueOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{ A product that can take bias, residual and activation into its kernel. }];
  let methods = [
    InterfaceMethod<"The bias, if any.", "::mlir::Value", "getBias", (ins)>,
    InterfaceMethod<"What is added before the activation, if any.", "::mlir::Value", "getResidual",
      (ins)>,
    InterfaceMethod<"The activation.", "::gc::Activation", "getActivation", (ins)>,
    InterfaceMethod<"Adds a residual (there is none yet).", "void", "addResidual",
      (ins "::mlir::Value":$residual), [{}],
      [{ $_op.getResidualMutable().assign(residual); }]>,
    InterfaceMethod<"Adds a bias (there is none yet).", "void", "addBias",
      (ins "::mlir::Value":$bias), [{}], [{ $_op.getBiasMutable().assign(bias); }]>,
    InterfaceMethod<"Sets the activation.", "void", "changeActivation",
      (ins "::gc::Activation":$activation), [{}], [{ $_op.setActivation(activation); }]>
  ];
}

def VariableChangeOpInterface : OpInterface<"VariableChangeOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{ An op that changes variables, other than point by point (for those: update). }];
  let methods = [
    InterfaceMethod<"The variables that the op changes.",
      "::llvm::SmallVector<::mlir::FlatSymbolRefAttr>", "getVariables", (ins)>
  ];
}

def UpdateOpInterface : OpInterface<"UpdateOpInterface"> {
  let cppNamespace = "::gc";
  let description = [{ An op that changes variables, in place, point by point. }];
  let methods = [
    InterfaceMethod<"The type that all of the variables have.", "::mlir::Type", "getVariableType",
      (ins), [{}], [{ return $_op->getOperand(0).getType(); }]>,
    InterfaceMethod<"The variables that the op reads and writes, in the order of `emitUpdate`.",
      "::llvm::SmallVector<::mlir::FlatSymbolRefAttr>", "getVariables", (ins)>,
    InterfaceMethod<[{
      Emits the update of one element: `operands` are the op's tensor operands at that element
      (scalars are passed as they are), `variables` the variables' old values; `results` gets their
      new ones.
    }], "void", "emitUpdate", (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
        "::mlir::ValueRange":$operands, "::mlir::ValueRange":$variables,
        "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

def OptimizerOpInterface : OpInterface<"OptimizerOpInterface", [UpdateOpInterface]> {
  let cppNamespace = "::gc";
  let description = [{
    An update of a parameter by an optimizer, with what all of them have: see `Gc_OptimizerOp`.
  }];
  let methods = [
    InterfaceMethod<"The parameter.", "::mlir::FlatSymbolRefAttr", "getParameterAttr", (ins)>,
    InterfaceMethod<"The variable of its moving average, null where there is none.",
      "::mlir::FlatSymbolRefAttr", "getAverageAttr", (ins)>,
    InterfaceMethod<"The share of the average that a step keeps.", "::llvm::APFloat",
      "getAverageDecay", (ins)>,
    InterfaceMethod<"The weight decay.", "::llvm::APFloat", "getWeightDecay", (ins)>,
    InterfaceMethod<"What the step's learning rate is multiplied by.", "::llvm::APFloat",
      "getLrScale", (ins)>,
    InterfaceMethod<"Where elements of the gradient are cut, if they are.",
      "::std::optional<::llvm::APFloat>", "getClipValue", (ins)>,
    InterfaceMethod<"The finished gradient.", "::mlir::Value", "getGradient", (ins),
      [{ return $_op.getGradient(); }]>,
    InterfaceMethod<"The step's coefficients.", "::mlir::Value", "getCoefficients", (ins),
      [{ return $_op.getCoefficients(); }]>
  ];
}

#endif
