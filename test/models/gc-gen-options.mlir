// The command line: answers, files, and errors with exit code 2 and the reason first.
// RUN: gc-gen --version | FileCheck %s --check-prefix=VERSION
// VERSION: gc-gen {{[0-9]+\.[0-9]+}}
// RUN: gc-gen --help | FileCheck %s --check-prefix=HELP
// HELP-DAG: mnist
// HELP-DAG: encoder
// HELP-DAG: gc-gen resnet --depth=50
// RUN: gc-gen vit --help | FileCheck %s --check-prefix=VIT
// VIT: --size=tiny|small|base (tiny)
// VIT: gc-gen vit --size=base

// RUN: rm -rf %t && mkdir %t
// RUN: gc-gen resnet --depth=50 -o %t/model.mlir | FileCheck %s --check-prefix=WROTE
// RUN: FileCheck %s --check-prefix=FILE --input-file=%t/model.mlir
// WROTE: model.mlir: resnet50, 25,557,032 parameters
// FILE: // gc-gen resnet --depth=50 --image=224 --batch=16 --classes=1000
// FILE-NEXT: // 25,557,032 parameters
// FILE: module @resnet50

// RUN: sh -c 'gc-gen 2>&1; test $? -eq 2' | FileCheck %s --check-prefix=NONE
// NONE: gc-gen: no network given: use mnist, cnn11, vgg, resnet, vit or encoder
// RUN: sh -c 'gc-gen alexnet 2>&1; echo "code $?"' | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: gc-gen: unknown network 'alexnet': use mnist, cnn11, vgg, resnet, vit or encoder
// UNKNOWN: code 2
// RUN: sh -c 'gc-gen mnist --image=100 2>&1; echo "code $?"' | FileCheck %s --check-prefix=IMAGE
// IMAGE: gc-gen: --image=100 is not possible: use 112, 224, 448, 896, 1792 or 3584
// IMAGE-NEXT: code 2
// RUN: sh -c 'gc-gen vit --image=abc 2>&1; echo "code $?"' | FileCheck %s --check-prefix=NUMBER
// NUMBER: gc-gen: {{.*}}--image{{.*}}abc
// NUMBER: code 2
// RUN: sh -c 'gc-gen encoder --depth=3 2>&1; echo "code $?"' | FileCheck %s --check-prefix=FLAG
// FLAG: gc-gen: {{.*}}--depth
// FLAG: code 2
// RUN: sh -c 'gc-gen resnet --batch=0 2>&1; echo "code $?"' | FileCheck %s --check-prefix=RANGE
// RANGE: gc-gen: --batch=0 is out of range: use 1 to 65536
// RANGE-NEXT: code 2
// RUN: sh -c 'gc-gen mnist -o %t/missing/model.mlir 2>&1; echo "code $?"' | FileCheck %s --check-prefix=PATH
// PATH: gc-gen: -o {{.*}}missing/model.mlir: cannot write to directory '{{.*}}missing': No such file or directory
// PATH-NEXT: code 2
// RUN: sh -c 'gc-gen mnist 2>&1 >/dev/full; echo "code $?"' | FileCheck %s --check-prefix=FULL
// FULL: gc-gen: cannot write to standard output: No space left on device
// FULL-NEXT: code 1
// RUN: %exits 2 gc-gen cnn11 --image=65536 --batch=65536 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: gc-gen: these sizes make a tensor of more than 1099511627776 bytes ({{.*}}): use a smaller batch or image
// RUN: %exits 2 gc-gen encoder --layers=65536 2>&1 | FileCheck %s --check-prefix=LAYERS
// LAYERS: gc-gen: --layers=65536 is out of range: use 1 to 4096
