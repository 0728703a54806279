//===- GcVariables.td - parameters and state ------------------------------===//
#ifndef GC_VARIABLES_TD
#define GC_VARIABLES_TD
include "dialects/GcBase.td"

def Gc_InitKind : I32EnumAttr<"InitKind", "how a variable gets its first value", [
    I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Uniform", 1, "uniform">,
    I32EnumAttrCase<"Normal", 2, "normal">,
    I32EnumAttrCase<"TruncatedNormal", 3, "truncated_normal">,
    I32EnumAttrCase<"Values", 4, "values">]> {
  let cppNamespace = "::gc";
  let genSpecializedAttr = 0;
}

def Gc_InitAttr : AttrDef<Gc_Dialect, "Init"> {
  let mnemonic = "init";
  let summary = "initial distribution of a variable";
  let description = [{
    `#gc.init<constant, [v]>`, `#gc.init<uniform, [low, high]>`, `#gc.init<normal, [mean,
    deviation]>`, `#gc.init<truncated_normal, [mean, deviation, low, high]>`. Values are drawn at
    run time from the seed and the variable's name, in the order of the weight file.
    `#gc.init<values, [v0, v1, ...]>` has one value for each element of a constant, at most 2^20, row
    after row.
  }];
  let parameters = (ins EnumParameter<Gc_InitKind>:$kind, "::mlir::DenseF64ArrayAttr":$values);
  let assemblyFormat = "`<` $kind `,` $values `>`";
  let genVerifyDecl = 1;
}

def Gc_StateRoleKind : I32EnumAttr<"StateRole", "what a state variable is for", [
    I32EnumAttrCase<"RunningStatistic", 0, "running_statistic">,
    I32EnumAttrCase<"Optimizer", 1, "optimizer">,
    I32EnumAttrCase<"Accumulator", 2, "accumulator">,
    I32EnumAttrCase<"Generator", 3, "generator">,
    I32EnumAttrCase<"Schedule", 4, "schedule">, I32EnumAttrCase<"Constant", 5, "constant">]> {
  let cppNamespace = "::gc";
  let genSpecializedAttr = 0;
}
def Gc_StateRole : EnumAttr<Gc_Dialect, Gc_StateRoleKind, "role">;

def Gc_ParameterOp : Op<Gc_Dialect, "parameter", [Gc_KnownAttributes, Symbol]> {
  let summary = "a trainable tensor of the model";
  let description = [{
    Named as PyTorch names it. Where the weight file's layout differs from the inside layout,
    `file_shape` is the shape in the file and `file_split` splits its axes; permuted by
    `file_permutation` (new axis i is split axis `file_permutation[i]`), with trailing axes merged
    where there are more than inside, it is the inside shape.

    ```mlir
    gc.parameter @"conv1.weight" : tensor<64x7x7x3xf32> = #gc.init<normal, [0.0, 0.025]>
        {file_shape = array<i64: 64, 3, 7, 7>, file_split = array<i64: 64, 3, 7, 7>,
         file_permutation = array<i64: 0, 2, 3, 1>}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Gc_Master>:$type, Gc_InitAttr:$init,
      OptionalAttr<DenseI64ArrayAttr>:$file_shape, OptionalAttr<DenseI64ArrayAttr>:$file_split,
      OptionalAttr<DenseI64ArrayAttr>:$file_permutation);
  let assemblyFormat = "$sym_name `:` $type `=` $init attr-dict";
  let hasVerifier = 1;
}

def Gc_StateOp : Op<Gc_Dialect, "state", [Gc_KnownAttributes, Symbol]> {
  let summary = "a persistent tensor that is not trained";
  let description = [{
    Running statistics, optimizer moments, gradient accumulators, the random generator's counter; the
    schedule: the learning rate of step t at element t modulo its size, which the runtime sets ahead; and
    constants, such as a mask or a table of positions, which no op changes and no weight file holds.

    ```mlir
    gc.state @"bn1.running_var" running_statistic : tensor<64xf32> = #gc.init<constant, [1.0]>
    gc.state @"mask" constant : tensor<2x2xf32> = #gc.init<values, [0.0, 1.0, 0.0, 0.0]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Gc_StateRole:$role, TypeAttrOf<Gc_Stored>:$type,
      Gc_InitAttr:$init);
  let assemblyFormat = "$sym_name $role `:` $type `=` $init attr-dict";
  let hasVerifier = 1;
}

def Gc_ReadOp : Gc_Op<"read", [
    Gc_Cost<"Rows", 1>, Gc_Repeats<"Once">, Gc_Samples<"Nowhere">, Gc_SameInInference,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    MemoryEffects<[MemRead]>]> {
  let summary = "the value of a parameter or state";
  let description = [{
    Moves no bytes: the result is the variable itself, so an update of the variable must come after
    the last use of the result (the memory planner checks).

    ```mlir
    %w = gc.read @"conv1.weight" : tensor<64x7x7x3xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Gc_Stored:$value);
  let assemblyFormat = "$variable attr-dict `:` type($value)";
}
#endif
