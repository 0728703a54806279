// Every network is read back as it was written, with and without locations.
// RUN: gc-gen mnist --batch=2 | gc-opt --verify-roundtrip
// RUN: gc-gen mnist --image=3584 --norm=group --batch=1 --no-locations | gc-opt --verify-roundtrip
// RUN: gc-gen cnn11 --batch=2 | gc-opt --verify-roundtrip
// RUN: gc-gen vgg --batch=2 | gc-opt --verify-roundtrip
// RUN: gc-gen vgg --depth=11 --image=100 --batch=2 | gc-opt --verify-roundtrip
// RUN: gc-gen resnet --depth=34 --image=33 | gc-opt --verify-roundtrip
// RUN: gc-gen resnet --depth=152 | gc-opt --verify-roundtrip
// RUN: gc-gen vit --size=base | gc-opt --verify-roundtrip
// RUN: gc-gen encoder | gc-opt --verify-roundtrip

// Text keeps the names of layers.
// RUN: gc-gen resnet --image=32 | gc-opt --mlir-print-debuginfo | FileCheck %s
// CHECK: loc("layer1.0.conv1")
