#include "tools/calibration/MachineOrigin.h"

#include "tools/calibration/MachineKey.h"

#include <unistd.h>

void describeMachine(gc::runtime::OriginReport &origin) {
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) == 0)
    origin.host = name;
  origin.cpu = thisMachine(1).cpu;
}
