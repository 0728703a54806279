// RUN: gc-opt %s --split-input-file --verify-diagnostics --gc-check-memory

// Every tensor of 16 floats has 64 bytes. @w is at 0, the input at 64; what ops make comes after.

// The second value takes the bytes of the first, which is used after it.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @use_after_overwrite(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %0 = gc.neg %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-note@+1 {{overwritten here, bytes [128, 192)}}
    %1 = gc.exp %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-error@+1 {{operand #0 is 'neg@check-memory-invalid.mlir:9' at bytes [128, 192), but bytes [128, 192) hold 'exp@check-memory-invalid.mlir:11'}}
    %r = gc.add %0, %1 {gc.offsets = array<i64: 192>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// Only a part is lost: 32 floats at 128 end at 256, and bytes from 192 are taken.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @partial_overwrite(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %b = gc.broadcast %x {dimensions = array<i64: 1>, gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<2x16xf32>
    // expected-note@+1 {{overwritten here, bytes [192, 256)}}
    %1 = gc.exp %x {gc.offsets = array<i64: 192>} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-error@+1 {{operand #0 is 'broadcast@check-memory-invalid.mlir:24' at bytes [128, 256), but bytes [192, 256) hold 'exp@check-memory-invalid.mlir:26'}}
    %r = gc.reduce_sum %b {dimensions = array<i64: 0>, gc.offsets = array<i64: 256>} : (tensor<2x16xf32>) -> tensor<16xf32>
    %s = gc.add %r, %1 {gc.offsets = array<i64: 320>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// A transpose reads what it would already have written.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @in_place_not_allowed(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %0 = gc.neg %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    %m = gc.reshape %0 {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<4x4xf32>
    // expected-error@+1 {{result #0 at bytes [128, 192) may not be written over operand #0, which the op still reads}}
    %t = gc.transpose %m {permutation = array<i64: 1, 0>, gc.offsets = array<i64: 128>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = gc.reshape %t {gc.offsets = array<i64: 128>} : (tensor<4x4xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// In place means all of the operand, not half of it.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @in_place_shifted(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %b = gc.broadcast %x {dimensions = array<i64: 1>, gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<2x16xf32>
    // expected-error@+1 {{result #0 at bytes [192, 320) overlaps a part of operand #0 at bytes [128, 256)}}
    %n = gc.neg %b {gc.offsets = array<i64: 192>} : (tensor<2x16xf32>) -> tensor<2x16xf32>
    %r = gc.reduce_sum %n {dimensions = array<i64: 0>, gc.offsets = array<i64: 320>} : (tensor<2x16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// The old value of @w is gone when it is used again.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @update_before_last_use(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %w = gc.read @w : tensor<16xf32>
    %0 = gc.mul %x, %w {gc.offsets = array<i64: 128>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    // expected-note@+1 {{overwritten here, bytes [0, 64)}}
    gc.accumulate @w, %0 : tensor<16xf32>
    // expected-error@+1 {{operand #1 is variable 'w' at bytes [0, 64), but bytes [0, 64) have been updated since}}
    %r = gc.add %0, %w {gc.offsets = array<i64: 192>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// The same through a view of @w.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @update_before_use_of_view(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %w = gc.read @w : tensor<16xf32>
    %v = gc.reshape %w {gc.offsets = array<i64: 0>} : (tensor<16xf32>) -> tensor<4x4xf32>
    // expected-note@+1 {{overwritten here, bytes [0, 64)}}
    gc.accumulate @w, %x : tensor<16xf32>
    // expected-error@+1 {{operand #0 is variable 'w' at bytes [0, 64), but bytes [0, 64) have been updated since}}
    %n = gc.neg %v {gc.offsets = array<i64: 128>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = gc.reshape %n {gc.offsets = array<i64: 128>} : (tensor<4x4xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// A second read sees the new value: this one is fine.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @read_again(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %w = gc.read @w : tensor<16xf32>
    %0 = gc.mul %x, %w {gc.offsets = array<i64: 128>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    gc.accumulate @w, %0 : tensor<16xf32>
    %again = gc.read @w : tensor<16xf32>
    %r = gc.add %0, %again {gc.offsets = array<i64: 128>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// Scratch on what the op reads.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @workspace_on_operand(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %0 = gc.neg %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-error@+1 {{workspace at bytes [128, 192) overlaps operand #0 at bytes [128, 192)}}
    %r = gc.exp %0 {gc.offsets = array<i64: 192>, gc.workspace = 64 : i64, gc.workspace_offset = 128 : i64} : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// Scratch on what the op writes.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @workspace_on_result(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    // expected-error@+1 {{workspace at bytes [128, 192) overlaps result #0 at bytes [128, 192)}}
    %r = gc.exp %x {gc.offsets = array<i64: 128>, gc.workspace = 64 : i64, gc.workspace_offset = 128 : i64} : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// Scratch on a value that is used later.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @workspace_on_live_value(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %0 = gc.neg %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-note@+1 {{overwritten here, bytes [128, 192)}}
    %1 = gc.exp %x {gc.offsets = array<i64: 192>, gc.workspace = 64 : i64, gc.workspace_offset = 128 : i64} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-error@+1 {{operand #0 is 'neg@check-memory-invalid.mlir:142' at bytes [128, 192), but bytes [128, 192) hold the workspace of 'exp@check-memory-invalid.mlir:144'}}
    %r = gc.add %0, %1 {gc.offsets = array<i64: 256>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// A workspace without a place.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @workspace_nowhere(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    // expected-error@+1 {{has no gc.workspace_offset for its workspace of 64 bytes}}
    %r = gc.exp %x {gc.offsets = array<i64: 128>, gc.workspace = 64 : i64} : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// Kernels and libraries rely on alignment.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @misaligned(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    // expected-error@+1 {{result #0 at bytes [132, 196) is not aligned to 64 bytes}}
    %r = gc.neg %x {gc.offsets = array<i64: 132>} : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// The arena ends at 512; 64 bytes at 512 do not fit.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @beyond_arena(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    // expected-error@+1 {{result #0 at bytes [512, 576) lies outside of the arena of 512 bytes}}
    %r = gc.neg %x {gc.offsets = array<i64: 512>} : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// Nor do bytes before it.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @before_arena(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    // expected-error@+1 {{result #0 at bytes [-64, 0) lies outside of the arena of 512 bytes}}
    %r = gc.neg %x {gc.offsets = array<i64: -64>} : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// A result on a variable.
module attributes {gc.arena_bytes = 512 : i64} {
  // expected-note@+1 {{which is at bytes [0, 64)}}
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @overwrites_variable(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    // expected-error@+1 {{result #0 at bytes [0, 64) overwrites variable 'w'}}
    %r = gc.neg %x {gc.offsets = array<i64: 0>} : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// A result on the slot that the loader is filling, even in place and with no use after.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @overwrites_input(
      // expected-note@+1 {{which is at bytes [128, 192)}}
      %x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64, 128>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    // expected-error@+1 {{result #0 at bytes [128, 192) overwrites input 'x' slot 1}}
    %r = gc.neg %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// Variables lie apart.
module attributes {gc.arena_bytes = 512 : i64} {
  // expected-note@+1 {{which is at bytes [0, 64)}}
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  // expected-error@+1 {{variable 'v' at bytes [0, 64) overlaps variable 'w'}}
  gc.parameter @v : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @variables_overlap(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %r = gc.neg %x {gc.offsets = array<i64: 192>} : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// What is returned must last.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @returned_value_lost(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %r = gc.neg %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-note@+1 {{overwritten here, bytes [128, 192)}}
    %1 = gc.exp %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-error@+1 {{operand #0 is 'neg@check-memory-invalid.mlir:246' at bytes [128, 192), but bytes [128, 192) hold 'exp@check-memory-invalid.mlir:248'}}
    return %r : tensor<16xf32>
  }
}

// -----

// A kept gradient must last beyond its last use.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @kept_gradient_lost(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %0 = gc.neg %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-error@+1 {{the kept gradient is 'neg@check-memory-invalid.mlir:260' at bytes [128, 192), but bytes [128, 192) hold 'exp@check-memory-invalid.mlir:264'}}
    gc.gradient @w, %0 : tensor<16xf32>
    // expected-note@+1 {{overwritten here, bytes [128, 192)}}
    %r = gc.exp %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// And beyond the step list, which runs before gradients are dumped.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @gradient_lost_in_step(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %r = gc.neg %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-error@+1 {{the kept gradient is 'neg@check-memory-invalid.mlir:275' at bytes [128, 192), but bytes [128, 192) hold 'exp@check-memory-invalid.mlir:283'}}
    gc.gradient @w, %r : tensor<16xf32>
    return %r : tensor<16xf32>
  }
  func.func @step() attributes {gc.list = "step"} {
    %w = gc.read @w : tensor<16xf32>
    // expected-note@+1 {{overwritten here, bytes [128, 192)}}
    %0 = gc.exp %w {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    gc.accumulate @w, %0 : tensor<16xf32>
    return
  }
}

// -----

// A view is where its operand is.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @view_elsewhere(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    %0 = gc.neg %x {gc.offsets = array<i64: 128>} : (tensor<16xf32>) -> tensor<16xf32>
    // expected-error@+1 {{is a view but does not lie at the bytes [128, 192) of its operand}}
    %m = gc.reshape %0 {gc.offsets = array<i64: 192>} : (tensor<16xf32>) -> tensor<4x4xf32>
    %r = gc.reshape %m {gc.offsets = array<i64: 192>} : (tensor<4x4xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// Rows are a part of what they are taken from.
module attributes {gc.arena_bytes = 768 : i64} {
  func.func @rows_elsewhere(%x: tensor<4x16xf32> {gc.input = "x", gc.offsets = array<i64: 0>}) -> tensor<1x16xf32> attributes {gc.list = "micro_batch"} {
    %0 = gc.neg %x {gc.offsets = array<i64: 256>} : (tensor<4x16xf32>) -> tensor<4x16xf32>
    // expected-error@+1 {{is a view but does not lie at the bytes [320, 384) of its operand}}
    %r = gc.slice %0 {axis = 0 : i64, offset = 1 : i64, size = 1 : i64, gc.offsets = array<i64: 256>} : (tensor<4x16xf32>) -> tensor<1x16xf32>
    return %r : tensor<1x16xf32>
  }
}

// -----

// They are gone where any of it was overwritten.
module attributes {gc.arena_bytes = 768 : i64} {
  func.func @rows_overwritten(%x: tensor<4x16xf32> {gc.input = "x", gc.offsets = array<i64: 0>}) -> tensor<1x16xf32> attributes {gc.list = "micro_batch"} {
    %0 = gc.neg %x {gc.offsets = array<i64: 256>} : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %1 = gc.slice %0 {axis = 0 : i64, offset = 1 : i64, size = 1 : i64, gc.offsets = array<i64: 320>} : (tensor<4x16xf32>) -> tensor<1x16xf32>
    // expected-note@+1 {{overwritten here, bytes [256, 512)}}
    %2 = gc.exp %x {gc.offsets = array<i64: 256>} : (tensor<4x16xf32>) -> tensor<4x16xf32>
    // expected-error@+1 {{operand #0 is 'neg@check-memory-invalid.mlir}}
    %3 = gc.tanh %1 {gc.offsets = array<i64: 512>} : (tensor<1x16xf32>) -> tensor<1x16xf32>
    return %3 : tensor<1x16xf32>
  }
}

// -----

// Nothing was placed.
module attributes {gc.arena_bytes = 512 : i64} {
  gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]> {gc.offset = 0 : i64}
  func.func @not_placed(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
    // expected-error@+1 {{expected gc.offsets of 1 results; run gc-plan-memory first}}
    %r = gc.neg %x : (tensor<16xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// A list that reads an input from other slots than the list before.
module attributes {gc.arena_bytes = 512 : i64} {
  func.func @train(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 64>}) attributes {gc.list = "micro_batch"} {
    return
  }
  // expected-error@+1 {{input 'x' has other slots than in the function before}}
  func.func @evaluate(%x: tensor<16xf32> {gc.input = "x", gc.offsets = array<i64: 128>}) attributes {gc.list = "evaluate"} {
    return
  }
}

// -----

// expected-error@+1 {{has no gc.arena_bytes; run gc-plan-memory first}}
module {
}

// -----

// expected-error@+1 {{no function has a gc.list attribute; run gc-autodiff first}}
module attributes {gc.arena_bytes = 512 : i64} {
}
