// The builder for programs refuses what cannot be, in words; a session refuses samples of another
// size.
#include "api/ModelBuilder.h"
#include "api/Session.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

using gc::ModelBuilder;
using gc::Tensor;

namespace {

std::string faultOf(const std::function<Tensor(ModelBuilder &)> &build) {
  ModelBuilder model("net", {4, 8, 8, 3}, 10);
  auto text = model.finish(build(model));
  return text ? "" : text.error().message;
}

TEST(ModelBuilder, KeepsTheFirstError) {
  auto head = [](ModelBuilder &m, Tensor x) { return m.linear("fc", m.flatten("flat", x), 10); };
  EXPECT_EQ(faultOf([&](ModelBuilder &m) { return head(m, m.input()); }), "");
  struct Case {
    std::function<Tensor(ModelBuilder &)> build;
    const char *message;
  };
  const Case cases[] = {
      {[&](auto &m) { return head(m, m.conv("c", m.input(), {.outputs = 4, .kernel = 9})); },
       "layer 'c' of [4, 8, 8, 3]: it takes [batch, height, width, channels], and a window that"},
      {[&](auto &m) { return head(m, m.conv("c", m.input(), {.outputs = 0, .kernel = 1})); },
       "layer 'c'"},
      {[&](auto &m) { return head(m, m.groupNorm("n", m.input(), 2)); }, "layer 'n'"},
      {[&](auto &m) {
         return head(m, m.maxPool("p", m.input(), {2, 0}));
       },
       "layer 'p'"},
      {[&](auto &m) { return head(m, m.dropout("d", m.input(), 1)); }, "layer 'd'"},
      {[&](auto &m) {
         return head(m, m.layerNorm("n", m.input(), std::numeric_limits<double>::quiet_NaN()));
       },
       "layer 'n'"},
      {[&](auto &m) { return head(m, m.attention("a", m.input(), 1)); }, "layer 'a'"},
      {[&](auto &m) {
         return head(m, m.reshape("r", m.input(), {4, 7}));
       },
       "layer 'r' of [4, 8, 8, 3]: [4, 7] has another number of elements"},
      {[&](auto &m) { return head(m, m.add("s", m.input(), m.flatten("f", m.input()))); },
       "layer 's' of [4, 8, 8, 3]: it is added to [4, 192]"},
      {[&](auto &m) { return head(m, m.relu("x", m.relu("x", m.input()))); },
       "layer 'x' of [4, 8, 8, 3]: there is another layer of this name"},
      {[&](auto &m) { return head(m, m.relu("", m.input())); }, "layer ''"},
      {[&](auto &m) { return head(m, m.relu("x", Tensor())); }, "its input is of no model"},
      {[&](auto &m) { return m.input(); }, "the logits are [4, 8, 8, 3], expected [4, 10]"},
  };
  for (const Case &one : cases)
    EXPECT_NE(faultOf(one.build).find(one.message), std::string::npos)
        << faultOf(one.build) << "\nexpected: " << one.message;
  ModelBuilder impossible("net", {0, 2}, 10);
  auto text = impossible.finish(impossible.relu("x", impossible.input()));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "model 'net': no input of [0, 2] with 10 classes can be");
}

TEST(Session, StepsEvaluatesAndLoads) {
  ModelBuilder model("line", {4, 3}, 2);
  auto text = model.finish(model.linear("fc", model.input(), 2));
  ASSERT_TRUE(text) << text.error().message;
  gc::CompileOptions options;
  options.evaluate = true;
  options.accumulate = 2;
  auto plan = gc::compile(*text, options);
  ASSERT_TRUE(plan) << plan.error().message;
  auto session = gc::Session::create(std::move(*plan));
  ASSERT_TRUE(session) << session.error().message;
  std::vector<float> samples = {1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1};
  std::vector<int32_t> labels = {0, 1, 0, 1};
  auto before = session->evaluate(samples, labels);
  ASSERT_TRUE(before) << before.error().message;
  std::string path = testing::TempDir() + "gc-api-session.safetensors";
  ASSERT_TRUE(session->save(path));
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(session->step(samples, labels));
  auto after = session->evaluate(samples, labels);
  EXPECT_LT(after->loss, before->loss);
  EXPECT_EQ(session->evaluate(samples, labels)->loss, after->loss); // it changes nothing
  ASSERT_TRUE(session->load(path));
  EXPECT_EQ(session->evaluate(samples, labels)->loss, before->loss);

  EXPECT_EQ(session->step(std::span(samples).first(9), labels).error().message,
            "a step takes 12 numbers, 4 samples of 3, and as many labels; got 9 and 4");
  labels[2] = 2;
  EXPECT_EQ(session->step(samples, labels).error().message,
            "sample 2 has label 2, the model has classes 0 to 1");
}

TEST(Session, SaysWhyAModelDoesNotCompile) {
  auto plan = gc::compile("module {}");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, gc::runtime::ErrorClass::BadInput);
}

} // namespace
