//===- Arguments.cpp - the command line of gc-gen -------------------------===//
#include "tools/gc-gen/Arguments.h"
#include "runtime/plan/ExitCode.h"
#include "runtime/process/Nearest.h"
#include "tools/flags/CommandLine.h"
#include <CLI/CLI.hpp>
#include <cctype>
#include <iostream>

namespace gc::gen {
namespace {

constexpr const char *networks = "mnist, cnn11, vgg, resnet, vit or encoder";

constexpr const char *examples = R"(Examples:
  gc-gen resnet --depth=50 --batch=16 -o resnet50.mlir
  gc-gen mnist --image=224 --norm=group | gc-run - --data=fashion-mnist --epochs=1
  gc-gen vit --size=small --classes=10 | gc-opt --gc-autodiff
  gc-gen mnist --help      the options of one network

Exit codes: 0 done, 1 writing failed, 2 bad usage or input; 130, 143, 129 ended by Ctrl-C, SIGTERM,
SIGHUP, 141 the reader of a pipe has gone.)";

/// Flags as `--key=CHOICES (default)`, and a usage line in the words of the documentation.
class Formatter : public CLI::Formatter {
  std::string make_usage(const CLI::App *app, std::string) const override {
    std::string network = app->get_parent() ? app->get_name() : "NETWORK";
    return "\nUsage: gc-gen " + network + " [options] [-o FILE]\n";
  }
  std::string make_option_opts(const CLI::Option *option) const override {
    if (option->get_type_name().empty()) // a flag
      return "";
    std::string type = option->get_type_name() == "INT"     ? "N"
                       : option->get_type_name() == "FLOAT" ? "P"
                                                            : option->get_type_name();
    std::string value = option->get_default_str();
    return "=" + type + (value.empty() ? "" : " (" + value + ")");
  }
};

/// The options of every network, one of which is filled.
struct AllOptions {
  models::MnistOptions mnist;
  models::Cnn11Options cnn11;
  models::VggOptions vgg;
  models::ResnetOptions resnet;
  models::VitOptions vit;
  models::EncoderOptions encoder;
};

CLI::App *addNetwork(CLI::App &app, const char *name, const char *summary, const char *example) {
  CLI::App *network = app.add_subcommand(name, summary);
  network->group("Networks");
  network->footer(std::string("Example:\n  ") + example);
  return network;
}

template <typename T>
void add(CLI::App *network, const char *flag, T &value, const char *meaning,
         const char *choices = nullptr) {
  CLI::Option *option = network->add_option(flag, value, meaning)->capture_default_str();
  if (choices)
    option->type_name(choices);
}

void addNetworks(CLI::App &app, AllOptions &all) {
  const char *batch = "samples in a step", *classes = "outputs of the last layer";
  const char *image = "pixels a side";
  CLI::App *mnist = addNetwork(app, "mnist", "halving 2x2 convolutions, then two linear layers",
                               "gc-gen mnist --image=224 --norm=group -o mnist224.mlir");
  add(mnist, "--image", all.mnist.image, image, "112|224|448|896|1792|3584");
  add(mnist, "--batch", all.mnist.batch, batch);
  add(mnist, "--norm", all.mnist.norm, "batch norm, or group norm of eight channels",
      "batch|group");
  add(mnist, "--classes", all.mnist.classes, classes);

  CLI::App *cnn11 = addNetwork(app, "cnn11", "eleven 5x5 convolutions at full resolution",
                               "gc-gen cnn11 --image=64 --batch=4 -o cnn11.mlir");
  add(cnn11, "--image", all.cnn11.image, "pixels a side, even");
  add(cnn11, "--batch", all.cnn11.batch, batch);
  add(cnn11, "--classes", all.cnn11.classes, classes);

  CLI::App *vgg = addNetwork(app, "vgg", "torchvision's vgg11, vgg13, vgg16, vgg19",
                             "gc-gen vgg --depth=16 --dropout=0 -o vgg16.mlir");
  add(vgg, "--depth", all.vgg.depth, "layers with weights", "11|13|16|19");
  add(vgg, "--image", all.vgg.image, "pixels a side, 32 or more");
  add(vgg, "--batch", all.vgg.batch, batch);
  add(vgg, "--classes", all.vgg.classes, classes);
  add(vgg, "--dropout", all.vgg.dropout, "probability in the classifier; 0 leaves it out");

  CLI::App *resnet = addNetwork(app, "resnet", "torchvision's resnet18 to resnet152",
                                "gc-gen resnet --depth=50 --batch=32 -o resnet50.mlir");
  add(resnet, "--depth", all.resnet.depth, "layers with weights", "18|34|50|101|152");
  add(resnet, "--image", all.resnet.image, image);
  add(resnet, "--batch", all.resnet.batch, batch);
  add(resnet, "--classes", all.resnet.classes, classes);

  CLI::App *vit = addNetwork(app, "vit", "timm's vision transformers with a class token",
                             "gc-gen vit --size=base --classes=10 -o vit_base.mlir");
  add(vit, "--size", all.vit.size, "width 192, 384 or 768", "tiny|small|base");
  add(vit, "--patch", all.vit.patch, "pixels a side of a patch, a divisor of the image");
  add(vit, "--image", all.vit.image, image);
  add(vit, "--batch", all.vit.batch, batch);
  add(vit, "--classes", all.vit.classes, classes);

  CLI::App *encoder =
      addNetwork(app, "encoder", "torch.nn.TransformerEncoder and a head on the mean",
                 "gc-gen encoder --layers=2 --width=64 --heads=4 --ffn=256 -o encoder.mlir");
  add(encoder, "--layers", all.encoder.layers, "encoder layers");
  add(encoder, "--width", all.encoder.width, "features of a token, a multiple of the heads");
  add(encoder, "--heads", all.encoder.heads, "attention heads");
  add(encoder, "--ffn", all.encoder.ffn, "hidden features between linear1 and linear2");
  add(encoder, "--sequence", all.encoder.sequence, "tokens in a sample");
  add(encoder, "--batch", all.encoder.batch, batch);
  add(encoder, "--classes", all.encoder.classes, classes);
}

models::NetworkOptions chosen(const std::string &name, const AllOptions &all) {
  if (name == "mnist")
    return all.mnist;
  if (name == "cnn11")
    return all.cnn11;
  if (name == "vgg")
    return all.vgg;
  if (name == "resnet")
    return all.resnet;
  if (name == "vit")
    return all.vit;
  return all.encoder;
}

std::vector<std::string> networkNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *network : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(network->get_name());
  return names;
}

std::string fullCommand(CLI::App *network) {
  std::string command = "gc-gen " + network->get_name();
  for (const CLI::Option *option : network->get_options())
    if (option != network->get_help_ptr() && option->get_configurable())
      command += " " + option->get_name() + "=" + option->as<std::string>();
  return command;
}

} // namespace

std::optional<Arguments> parseArguments(int argc, char **argv, int &exitCode) {
  AllOptions all;
  Arguments arguments;
  CLI::App app("Writes a network as gc IR: its parameters, named as in PyTorch, and @model, which "
               "maps a batch to loss and accuracy.",
               "gc-gen");
  app.formatter(std::make_shared<Formatter>());
  app.get_formatter()->column_width(36);
  app.footer(examples);
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", std::string("gc-gen ") + GC_VERSION, "print the version");
  app.fallthrough(); // -o may follow the network
  app.require_subcommand(0, 1);
  app.add_option("-o,--output", arguments.output, "write this file instead of standard output")
      ->type_name("FILE");
  bool noLocations = false;
  app.add_flag("--no-locations", noLocations,
               "leave out loc(...), by which reports name the layer of an op");
  addNetworks(app, all);

  addPrintedTexts(app);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty())
      throw CLI::ParseError(std::string("no network given: use ") + networks,
                            CLI::ExitCodes::RequiredError);
  } catch (const CLI::Success &answer) { // --help and --version
    exitCode = app.exit(answer);
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    std::string reason = error.what();
    bool isFlag = argc > 1 && argv[1][0] == '-';
    if (app.get_subcommands().empty() && argc > 1 && !isFlag)
      reason = std::string("unknown network '") + argv[1] + "': use " + networks +
               runtime::didYouMean(runtime::nearestName(argv[1], networkNames(app)));
    else if (dynamic_cast<const CLI::ExtrasError *>(&error))
      reason += runtime::didYouMean(nearestFlag(app));
    reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
    std::cerr << "gc-gen: " << reason << "\nrun 'gc-gen --help' or 'gc-gen NETWORK --help' for the "
              << "options and examples\n";
    exitCode = exits::BadInput;
    return std::nullopt;
  }
  CLI::App *network = app.get_subcommands().front();
  arguments.network = chosen(network->get_name(), all);
  arguments.locations = !noLocations;
  arguments.command = fullCommand(network);
  return arguments;
}

} // namespace gc::gen
