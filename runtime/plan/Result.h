// Errors as values. The runtime is called from tools that turn an error into a message and an exit
// code, and from a compiler that is built without exceptions; neither wants a throw to cross it.
#ifndef GC_RUNTIME_PLAN_RESULT_H
#define GC_RUNTIME_PLAN_RESULT_H

#include "runtime/plan/ExitCode.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace gc::runtime {

/// What went wrong, as the tools' exit code says it.
enum class ErrorClass : int {
  RunFailed = exits::RunFailed,
  BadInput = exits::BadInput,
  NoBudget = exits::NoBudget,
  Device = exits::Device,
};

/// A message (what, where, what to do; lower-case start, no final period) and its class.
struct [[nodiscard]] Error {
  ErrorClass kind = ErrorClass::RunFailed;
  std::string message;

  int exitCode() const { return static_cast<int>(kind); }
};

inline Error badInput(std::string message) { return {ErrorClass::BadInput, std::move(message)}; }
inline Error deviceError(std::string message) { return {ErrorClass::Device, std::move(message)}; }
inline Error runFailed(std::string message) { return {ErrorClass::RunFailed, std::move(message)}; }

/// A value or an error; owns either. Asking for the one that is not there is a programming error.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return value_.has_value(); }
  bool ok() const { return value_.has_value(); }

  T &operator*() {
    assert(value_);
    return *value_;
  }
  const T &operator*() const {
    assert(value_);
    return *value_;
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }

  const Error &error() const {
    assert(!value_);
    return error_;
  }

private:
  std::optional<T> value_;
  Error error_;
};

/// Success, or an error.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_; }
  bool ok() const { return !error_; }
  const Error &error() const {
    assert(error_);
    return *error_;
  }

private:
  std::optional<Error> error_;
};

using Status = Result<void>;

} // namespace gc::runtime

#endif // GC_RUNTIME_PLAN_RESULT_H
