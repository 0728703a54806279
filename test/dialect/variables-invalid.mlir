// RUN: gc-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{file_shape, file_split and file_permutation come together}}
gc.parameter @file_shape_alone : tensor<4xf32> = #gc.init<constant, [0.0]> {file_shape = array<i64: 4>}

// -----

// expected-error @below {{file_shape and file_split must have the 4 elements of 'tensor<4xf32>'}}
gc.parameter @file_elements : tensor<4xf32> = #gc.init<constant, [0.0]> {file_shape = array<i64: 5>, file_split = array<i64: 4>, file_permutation = array<i64: 0>}

// -----

// expected-error @below {{file_permutation must name each axis of file_split once}}
gc.parameter @file_permutation_count : tensor<4xf32> = #gc.init<constant, [0.0]> {file_shape = array<i64: 4>, file_split = array<i64: 4>, file_permutation = array<i64: 0, 1>}

// -----

// expected-error @below {{dimension 1 is out of range for rank 1}}
gc.parameter @file_permutation_range : tensor<4xf32> = #gc.init<constant, [0.0]> {file_shape = array<i64: 4>, file_split = array<i64: 4>, file_permutation = array<i64: 1>}

// -----

// expected-error @below {{initializer 'normal' takes 2 values, got 1}}
gc.parameter @init_values : tensor<4xf32> = #gc.init<normal, [0.0]>

// -----

// expected-error @below {{has 3 values for the 4 elements of 'tensor<4xf32>'}}
gc.state @count constant : tensor<4xf32> = #gc.init<values, [0.0, 1.0, 2.0]>

// -----

// expected-error @below {{of given values must be in the role 'constant'}}
gc.state @role optimizer : tensor<2xf32> = #gc.init<values, [0.0, 1.0]>

// -----

// expected-error @below {{cannot hold the value 1.5}}
gc.state @whole constant : tensor<2xi32> = #gc.init<values, [1.0, 1.5]>

// -----

// expected-error @below {{of given values is for constants: declare a gc.state in the role 'constant', or put the values into a weight file}}
gc.parameter @trained : tensor<2xf32> = #gc.init<values, [0.0, 1.0]>
