#include "tools/gc-run/CompareReference.h"

#include "runtime/trainer/Reference.h"
#include "tools/flags/ModelFile.h"
#include "tools/gc-run/LoadModel.h"
#include "tools/gc-run/WithoutDropout.h"

#include <fmt/format.h>

using namespace gc::runtime;

Status compareReference(Arguments &a) {
  Result<SafetensorsFile> file = SafetensorsFile::open(a.reference);
  if (!file)
    return file.error();
  Result<ReferenceSetting> setting = readReferenceSetting(*file);
  if (!setting)
    return setting.error();
  Result<std::string> text = readModelFile(a.model);
  if (!text)
    return text.error();
  if (isPlan(*text))
    return badInput(fmt::format("--reference needs the model, to compile it with the reference's "
                                "optimizer and without dropout; '{}' is a finished plan",
                                displayName(a.model)));
  Result<std::string> plain = withoutDropout(*text);
  if (!plain)
    return plain.error();
  a.compile.optimizer.name = "sgd";
  a.compile.optimizer.lr = setting->learningRate;
  Result<PlanFile> plan = compilePlan(*plain, a);
  if (!plan)
    return plan.error();
  Result<ReferenceReport> report = compareWithReference(*plan, a.train, *file);
  if (!report)
    return report.error();
  std::fputs(referenceText(*report).c_str(), stdout);
  std::fflush(stdout);
  if (const ComparedTensor *off = firstOff(*report))
    return runFailed(fmt::format("the model and '{}' differ: '{}' is the first tensor that is off",
                                 a.reference, off->name));
  return {};
}
