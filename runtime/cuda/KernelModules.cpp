#include "runtime/cuda/KernelModules.h"

#include "runtime/plan/CudaVersions.h"

#include <charconv>
#include <set>

namespace gc::runtime::cuda {

/// Bytes of shared memory that a block may have without opting in.
static constexpr int kSharedWithoutAsking = 48 * 1024;

Result<ImageKind> imageFor(const std::string &target, int architecture, const std::string &gpu) {
  int wanted = 0;
  const char *end = target.data() + target.size(), *stop = nullptr;
  if (target.rfind("sm_", 0) == 0)
    stop = std::from_chars(target.data() + 3, end, wanted).ptr;
  // A letter binds code to one architecture (sm_90a) or to a family of them (sm_100f).
  bool exact = stop && stop + 1 == end && *stop == 'a',
       family = stop && stop + 1 == end && *stop == 'f';
  if (wanted < 10 || !(stop == end || exact || family))
    return badInput("the plan's architecture '" + target + "' is none; compile it again");
  bool sameMajor = wanted / 10 == architecture / 10;
  if (exact ? wanted == architecture : sameMajor && wanted <= architecture)
    return ImageKind::Cubin;
  if (wanted <= architecture && !exact && !family)
    return ImageKind::Text;
  std::string has = "sm_" + std::to_string(architecture);
  return deviceError("the plan was compiled for " + target + ", this GPU (" + gpu + ") is " + has +
                     "; compile it with --target=" + has);
}

Result<std::unique_ptr<KernelModules>> KernelModules::load(Context &context,
                                                           const gc::plan::Plan &plan) {
  const gc::plan::Target &target = *plan.target();
  if (target.device()->string_view() != "cuda")
    return deviceError("the plan was compiled for device '" + target.device()->str() +
                       "', not for cuda; compile it with --device=cuda");
  if (Status entered = context.enter(); !entered)
    return entered.error();
  std::unique_ptr<KernelModules> modules(new KernelModules(context, plan));
  const gc::plan::Kernels *kernels = plan.kernels();
  if (kernels && kernels->images() && kernels->images()->size()) {
    auto kind = imageFor(target.architecture() ? target.architecture()->str() : "",
                         context.architecture(), context.name());
    if (!kind)
      return kind.error();
    modules->cubinsSuit_ = *kind == ImageKind::Cubin;
    size_t symbols = kernels->symbols()->size(), images = kernels->images()->size();
    for (uint32_t i = 0; i < images; ++i) {
      const gc::plan::KernelImage &image = *kernels->images()->Get(i);
      if (Status loaded = modules->loadImage(image, i); !loaded)
        return loaded.error();
      size_t last = i + 1 < images ? kernels->images()->Get(i + 1)->first_symbol() : symbols;
      for (size_t s = image.first_symbol(); s < last; ++s)
        if (Status found =
                modules->findFunction(modules->modules_.back().get(),
                                      kernels->symbols()->Get(static_cast<uint32_t>(s))->str());
            !found)
          return found.error();
    }
  }
  if (plan.graphs() && plan.graphs()->size()) {
    modules->graphs_ = std::make_unique<CudnnGraphs>(context, *plan.graphs());
    if (Status fine = modules->checkTwins(); !fine)
      return fine.error();
  }
  return modules;
}

/// Calls `body` with each command that executes a graph of the library, until it fails.
static Status forGraphCalls(const gc::plan::Plan &plan, const auto &body) {
  for (const auto *list : {plan.once(), plan.micro_batch(), plan.step(), plan.evaluate()})
    for (uint32_t i = 0; list && list->commands() && i < list->commands()->size(); ++i)
      if (const auto *call = list->commands()->Get(i)->operation_as_GraphCall())
        if (Status fine = body(*list->commands()->Get(i), *call); !fine)
          return fine;
  return {};
}

std::string KernelModules::madeForText() const {
  std::string planned = target_.library_version() ? target_.library_version()->str() : "";
  const std::string &installed = graphs_->version();
  std::string text;
  if (!installed.empty())
    text = "; installed is cuDNN " + installed +
           (planned.empty() ? "" : ", the plan was made with " + planned);
  if (target_.card())
    text += "; it was made for up to " + std::to_string(target_.multiprocessors()) +
            " multiprocessors (" + target_.card()->str() + "), this GPU has " +
            std::to_string(context_.multiprocessors());
  return text;
}

Status KernelModules::checkTwins() const {
  return forGraphCalls(plan_, [&](const auto &command, const auto &call) -> Status {
    if (usesGraph(call) || hasTwin(call))
      return {};
    return deviceError("command '" + command.name()->str() + "': " + graphs_->whyNot(call.graph()) +
                       madeForText() +
                       "; compile the plan again for this GPU and this cuDNN, or with "
                       "--cuda-library=none");
  });
}

std::string KernelModules::withoutLibrary() const {
  if (!graphs_)
    return "";
  // What does not run, and why the first of it does not.
  std::set<std::string> names;
  std::string why;
  size_t count = 0;
  (void)forGraphCalls(plan_, [&](const auto &, const auto &call) -> Status {
    if (usesGraph(call))
      return {};
    ++count;
    names.insert(graphs_->name(call.graph()));
    if (why.empty())
      why = graphs_->whyNot(call.graph());
    return {};
  });
  if (count == 0)
    return "";
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return "generated kernels run instead of cuDNN for " + std::to_string(count) + " commands (" +
         text + "): " + why + madeForText();
}

std::vector<std::string> KernelModules::notices() const {
  std::vector<std::string> all = notices_;
  if (std::string notice = withoutLibrary(); !notice.empty())
    all.push_back(notice);
  return all;
}

void KernelModules::noteUncaptured(const std::string &list, const std::string &why) {
  if (std::exchange(toldUncaptured_, true))
    return;
  notices_.push_back("commands are submitted one by one, which takes the host longer, as " + list +
                     " could not be captured into a CUDA graph: " + why);
}

std::string KernelModules::newerDriver(int neededCuda) const {
  int installed = context_.driverVersion();
  if (neededCuda == 0 || installed >= neededCuda)
    return "";
  return "needs " + plan::describeCuda(neededCuda) + " or newer, and installed is " +
         plan::describeCuda(installed);
}

// Machine code is the first choice. Drivers that are older than the assembler refuse it with one
// error or another; whatever the reason, they may still compile the PTX.
Status KernelModules::loadImage(const gc::plan::KernelImage &image, size_t index) {
  std::string log(8192, '\0');
  const Driver &d = context_.driver();
  modules_.emplace_back(context_);
  auto load = [&](const void *data) {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log.data(), reinterpret_cast<void *>(static_cast<uintptr_t>(log.size()))};
    log[0] = '\0';
    return d.cuModuleLoadDataEx(modules_.back().out(), data, 2, options, values);
  };
  auto failure = [&](CUresult result, const char *kind) {
    Error error = d.error(result, "cuModuleLoadDataEx",
                          std::string("the plan's kernels (") + kind + " of image " +
                              std::to_string(index) + ")");
    if (log[0])
      error.message += ": " + std::string(log.c_str());
    return error;
  };
  if (cubinsSuit_ && image.cubin() && image.cubin()->size()) {
    CUresult result = load(image.cubin()->data());
    if (result == CUDA_SUCCESS)
      return {};
    cubinsSuit_ = false;
    std::string why = newerDriver(plan::cudaForCubin(static_cast<int>(target_.cubin_cuda())));
    notices_.push_back(
        "the driver compiles the kernels from PTX, as it refuses the machine code: " +
        failure(result, "cubin").message +
        (why.empty() ? ""
                     : "; machine code of CUDA " +
                           plan::versionText(static_cast<int>(target_.cubin_cuda())) + " " + why));
  }
  CUresult result = load(image.ptx()->c_str());
  if (result == CUDA_SUCCESS)
    return {};
  Error error = failure(result, "PTX");
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    error.message += context_.memoryText();
  int version = plan::ptxVersionOf(image.ptx()->string_view());
  if (std::string why = newerDriver(plan::cudaForPtx(version)); !why.empty())
    error.message += "; PTX " + std::to_string(version / 10) + "." + std::to_string(version % 10) +
                     " " + why + ": install a newer NVIDIA driver, or use --device=cpu";
  return error;
}

Status KernelModules::findFunction(CUmodule module, const std::string &name) {
  const Driver &d = context_.driver();
  Function f;
  std::string subject = "kernel " + name;
  CUresult found = d.cuModuleGetFunction(&f.function, module, name.c_str());
  if (found == CUDA_ERROR_NOT_FOUND)
    return deviceError(d.error(found, "cuModuleGetFunction", subject).message +
                       "; the plan's kernels lack it, compile the plan again");
  if (Status fine = d.check(found, "cuModuleGetFunction", subject); !fine)
    return fine;
  GC_CUDA(d, cuFuncGetAttribute, subject, &f.staticShared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
          f.function);
  GC_CUDA(d, cuFuncGetAttribute, subject, &f.maxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
          f.function);
  functions_.push_back(f);
  names_.push_back(name);
  return {};
}

Status KernelModules::prepare(size_t kernel, unsigned threads, unsigned sharedBytes) {
  Function &f = functions_[kernel];
  if (threads > static_cast<unsigned>(f.maxThreads))
    return deviceError("kernel " + names_[kernel] + " is launched in blocks of " +
                       std::to_string(threads) + " threads, this GPU allows it " +
                       std::to_string(f.maxThreads) + "; compile the plan for this GPU");
  int64_t all = int64_t(f.staticShared) + sharedBytes;
  if (all > std::max(context_.sharedPerBlock(), kSharedWithoutAsking))
    return deviceError("kernel " + names_[kernel] + " needs " + std::to_string(all) +
                       " bytes of shared memory for a block, this GPU has " +
                       std::to_string(context_.sharedPerBlock()) +
                       "; compile the plan for this GPU");
  if (all <= kSharedWithoutAsking || sharedBytes <= f.dynamicShared)
    return {};
  GC_CUDA(context_.driver(), cuFuncSetAttribute, "kernel " + names_[kernel], f.function,
          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(sharedBytes));
  f.dynamicShared = sharedBytes;
  return {};
}

} // namespace gc::runtime::cuda
