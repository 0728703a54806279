#include "runtime/cuda/Cudnn.h"

#include "runtime/plan/CudnnProfile.h"

#include <dlfcn.h>

namespace gc::runtime::cuda {

/// Calls a function of the library and returns an error from the function around on failure.
#define GC_CUDNN(library, call, subject, ...)                                                      \
  do {                                                                                             \
    if (cudnnStatus_t status_ = (library).call(__VA_ARGS__); status_ != CUDNN_STATUS_SUCCESS)      \
      return (library).error(status_, #call, subject);                                             \
  } while (false)

static Result<Cudnn> find() {
  static const char *const kWithout = "; install cuDNN 9 for CUDA, or compile the plan with "
                                      "gc-compile --cuda-library=none, which needs none";
  void *handle = ::dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = ::dlerror();
    return deviceError(std::string("the plan uses cuDNN: cannot load libcudnn.so.9 (") +
                       (reason ? reason : "no reason given") + ")" + kWithout);
  }
  Cudnn library;
#define GC_CUDNN_FIND(name, result, parameters)                                                    \
  library.name = reinterpret_cast<result(*) parameters>(::dlsym(handle, #name));                   \
  if (!library.name)                                                                               \
    return deviceError(std::string("libcudnn.so.9 has no function " #name) + kWithout);
  GC_CUDNN_FUNCTIONS(GC_CUDNN_FIND)
#undef GC_CUDNN_FIND
  return library;
}

Result<const Cudnn *> Cudnn::load() {
  static const Result<Cudnn> library = find();
  if (!library)
    return library.error();
  return &*library;
}

Error Cudnn::error(cudnnStatus_t status, const char *call, const std::string &subject) const {
  const char *name = cudnnGetErrorString(status);
  char words[1024] = "";
  cudnnGetLastErrorString(words, sizeof(words));
  words[sizeof(words) - 1] = '\0';
  std::string message = std::string(call) + " failed for " + subject + ": " +
                        (name ? std::string(name) : "status " + std::to_string(int(status)));
  if (words[0])
    message += std::string(": ") + words;
  return deviceError(message);
}

CudnnGraphs::CudnnGraphs(Context &context, const Graphs &graphs)
    : context_(context), graphs_(graphs), plans_(graphs.size()), whyNot_(graphs.size()),
      warm_(graphs.size()) {
  if (Status opened = open(); !opened) {
    whyNot_.assign(graphs.size(), opened.error().message);
    return;
  }
  for (size_t i = 0; i < graphs.size(); ++i)
    if (Status restored = restore(i); !restored)
      whyNot_[i] = restored.error().message;
}

CudnnGraphs::~CudnnGraphs() {
  if (!handle_)
    return;
  (void)context_.enter(); // or the library would work on another GPU's context, or make one
  plans_.clear();
  (void)library_->cudnnDestroy(handle_);
}

Status CudnnGraphs::open() {
  auto library = Cudnn::load();
  if (!library)
    return library.error();
  library_ = *library;
  version_ = gc::plan::cudnnVersionText(library_->cudnnGetVersion());
  std::string subject = "cuDNN " + version_;
  GC_CUDNN(*library_, cudnnCreate, subject, &handle_);
  GC_CUDNN(*library_, cudnnSetStream, subject, handle_, context_.compute());
  return {};
}

Status CudnnGraphs::restore(size_t number) {
  const gc::plan::LibraryGraph &graph = *graphs_.Get(static_cast<uint32_t>(number));
  std::string subject = "graph " + graph.name()->str();
  // Plans without a profile are taken as they are.
  std::string text = gc::plan::fitCudnnPlan(graph.plan()->string_view(), context_.driverVersion(),
                                            context_.multiprocessors())
                         .value_or(graph.plan()->str());
  CudnnDescriptor plan(*library_);
  GC_CUDNN(*library_, cudnnBackendCreateDescriptor, subject,
           CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, plan.out());
  GC_CUDNN(*library_, cudnnBackendSetAttribute, subject, plan.get(),
           CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle_);
  // The length counts the zero at the end.
  GC_CUDNN(*library_, cudnnBackendSetAttribute, subject, plan.get(),
           CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
           static_cast<int64_t>(text.size()) + 1, text.c_str());
  GC_CUDNN(*library_, cudnnBackendFinalize, subject, plan.get());
  int64_t needs = 0, count = 0;
  GC_CUDNN(*library_, cudnnBackendGetAttribute, subject, plan.get(),
           CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &needs);
  if (needs < 0 || static_cast<uint64_t>(needs) > graph.workspace_bytes())
    return deviceError(subject + " needs " + std::to_string(needs) +
                       " bytes of workspace here, the plan has " +
                       std::to_string(graph.workspace_bytes()));
  plans_[number] = std::move(plan);
  return {};
}

std::string CudnnGraphs::name(size_t graph) const {
  return graphs_.Get(static_cast<uint32_t>(graph))->name()->str();
}

Result<CudnnDescriptor> CudnnGraphs::pack(const CudnnBindings &bindings,
                                          const std::string &subject) const {
  CudnnDescriptor pack(*library_);
  auto count = static_cast<int64_t>(bindings.ids.size());
  GC_CUDNN(*library_, cudnnBackendCreateDescriptor, subject, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
           pack.out());
  GC_CUDNN(*library_, cudnnBackendSetAttribute, subject, pack.get(),
           CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, bindings.ids.data());
  GC_CUDNN(*library_, cudnnBackendSetAttribute, subject, pack.get(),
           CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count,
           bindings.pointers.data());
  GC_CUDNN(*library_, cudnnBackendSetAttribute, subject, pack.get(),
           CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &bindings.workspace);
  GC_CUDNN(*library_, cudnnBackendFinalize, subject, pack.get());
  return pack;
}

Status CudnnGraphs::execute(size_t graph, const CudnnDescriptor &pack,
                            const std::string &subject) const {
  GC_CUDNN(*library_, cudnnBackendExecute, subject, handle_, plans_[graph].get(), pack.get());
  return {};
}

} // namespace gc::runtime::cuda
