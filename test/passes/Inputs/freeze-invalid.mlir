// expected-error @below {{'gc.frozen' belongs to a parameter, not to state}}
gc.state @m running_statistic : tensor<3xf32> = #gc.init<constant, [0.0]> {gc.frozen}

// -----

// expected-error @below {{'gc.frozen' must be no value, got true}}
gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]> {gc.frozen = true}
