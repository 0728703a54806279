// What the self-test trains: small networks that together have every kind of layer.
#ifndef GC_TOOLS_SELFTEST_SELFTESTNETWORKS_H
#define GC_TOOLS_SELFTEST_SELFTESTNETWORKS_H

#include <string>
#include <vector>

struct SelfTestNetwork {
  std::string name, text; // gc IR
  /// Statistics are of a micro-batch: in several of them the gradient is another one.
  bool hasBatchNorm = false;
};

/// Quick ones take an interpreted GPU seconds.
std::vector<SelfTestNetwork> selfTestNetworks(bool quick);
/// Large enough to keep a GPU busy; quick ones are the same as above.
std::vector<SelfTestNetwork> selfTestRateNetworks(bool quick);

#endif // GC_TOOLS_SELFTEST_SELFTESTNETWORKS_H
