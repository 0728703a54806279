//===- main.cpp - gc-opt: passes on IR ------------------------------------===//
#include "compiler/Pipeline.h"
#include "dialects/Gc.h"
#include "passes/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  gc::registerGcDialects(registry);
  mlir::registerAllPasses();
  gc::registerGcPasses();
  gc::registerTrainPipeline();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "gc optimizer driver\n", registry));
}
