//===- MoveTest.cpp - Copies: slices, transposes, tables ------------------===//
#include "test/compiler/emitters/KernelRunner.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

std::string array(const std::vector<int64_t> &values) {
  std::string text = "array<i64";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(values[i]);
  return text + ">";
}

/// Row-major position of an element.
std::vector<int64_t> positionOf(int64_t i, const std::vector<int64_t> &shape) {
  std::vector<int64_t> position(shape.size());
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    position[d] = i % shape[d];
    i /= shape[d];
  }
  return position;
}
int64_t elementAt(const std::vector<int64_t> &position, const std::vector<int64_t> &shape) {
  int64_t i = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    i = i * shape[d] + position[d];
  return i;
}

TEST(MoveTest, RollAndFlip) {
  for (const auto &[shape, axis, shift] :
       {std::tuple<std::vector<int64_t>, int64_t, int64_t>{{5}, 0, 2},
        {{4, 8}, 0, 3},
        {{3, 37}, 1, 36},
        {{2, 7, 8, 12}, 1, 3},
        {{2, 5, 6, 3}, 2, 1},
        {{3, 4, 64}, 2, 8}}) {
    Tensor x = Tensor::random(shape, 1);
    std::vector<double> rolled(x.size()), flipped(x.size());
    for (int64_t i = 0; i < x.size(); ++i) {
      std::vector<int64_t> to = positionOf(i, shape);
      int64_t place = to[axis];
      to[axis] = (place + shift) % shape[axis];
      rolled[elementAt(to, shape)] = x[i];
      to[axis] = shape[axis] - 1 - place;
      flipped[elementAt(to, shape)] = x[i];
    }
    std::string along = " {axis = " + std::to_string(axis) + " : i64";
    expectClose(run("%r = gc.roll %0" + along + ", shift = " + std::to_string(shift) + " : i64}" +
                        signature({x}, {x.type()}),
                    {x})
                    .results[0],
                rolled, 0, x.type());
    expectClose(run("%r = gc.flip %0" + along + "}" + signature({x}, {x.type()}), {x}).results[0],
                flipped, 0, x.type());
  }
}

TEST(MoveTest, Transpose) {
  struct Case {
    std::vector<int64_t> shape, permutation;
  };
  for (const Case &c :
       {Case{{1}, {0}}, Case{{5, 7}, {1, 0}}, Case{{33, 50}, {1, 0}}, Case{{3, 5, 7}, {1, 0, 2}},
        Case{{3, 17, 19}, {0, 2, 1}}, Case{{2, 3, 4, 5}, {3, 1, 0, 2}},
        Case{{2, 18, 4, 21}, {0, 3, 2, 1}}, Case{{70, 33}, {1, 0}},
        Case{{2, 40, 5, 36}, {0, 3, 2, 1}}, Case{{64, 32}, {1, 0}}, Case{{3, 300, 7}, {2, 0, 1}},
        Case{{5, 6, 8}, {1, 0, 2}}}) {
    Tensor x = Tensor::random(c.shape, 1);
    std::vector<int64_t> shape;
    for (int64_t d : c.permutation)
      shape.push_back(c.shape[d]);
    std::vector<double> expected(x.size());
    for (int64_t i = 0; i < x.size(); ++i) {
      std::vector<int64_t> from = positionOf(i, c.shape), to;
      for (int64_t d : c.permutation)
        to.push_back(from[d]);
      expected[elementAt(to, shape)] = x[i];
    }
    expectClose(run("%r = gc.transpose %0 {permutation = " + array(c.permutation) + "}" +
                        signature({x}, {typeOf(shape)}),
                    {x})
                    .results[0],
                expected, 0, x.type());
  }
}

TEST(MoveTest, SlicePadConcat) {
  struct Case {
    std::vector<int64_t> shape;
    int64_t axis, offset, size;
  };
  for (const Case &c :
       {Case{{7}, 0, 2, 3}, Case{{3, 197, 37}, 1, 0, 1}, Case{{3, 11, 5}, 1, 4, 7},
        Case{{5, 9}, 1, 3, 2}, Case{{9001, 2}, 0, 13, 8000}, Case{{6, 8, 12}, 1, 4, 4},
        Case{{3, 16}, 1, 4, 8}, Case{{5, 16}, 1, 2, 8}}) {
    Tensor x = Tensor::random(c.shape, 1);
    std::vector<int64_t> part = c.shape;
    part[c.axis] = c.size;
    Tensor y(part);
    std::vector<double> sliced(y.size()), padded(x.size());
    for (int64_t i = 0; i < y.size(); ++i) {
      std::vector<int64_t> position = positionOf(i, part);
      position[c.axis] += c.offset;
      sliced[i] = x[elementAt(position, c.shape)];
      padded[elementAt(position, c.shape)] = sliced[i];
    }
    std::string axis = "axis = " + std::to_string(c.axis) + " : i64";
    Outcome slice =
        run("%r = gc.slice %0 {" + axis + ", offset = " + std::to_string(c.offset) +
                " : i64, size = " + std::to_string(c.size) + " : i64}" + signature({x}, {y.type()}),
            {x});
    expectClose(slice.results[0], sliced, 0, x.type());
    int64_t high = c.shape[c.axis] - c.offset - c.size;
    Outcome pad = run("%r = gc.pad %0 {" + axis + ", low = " + std::to_string(c.offset) +
                          " : i64, high = " + std::to_string(high) + " : i64}" +
                          signature({slice.results[0]}, {x.type()}),
                      {slice.results[0]});
    expectClose(pad.results[0], padded, 0, x.type());

    std::vector<int64_t> joined = c.shape;
    joined[c.axis] = c.shape[c.axis] * 2 + c.size;
    std::vector<double> concatenated(Tensor(joined).size());
    int64_t offset = 0;
    std::vector<Tensor> inputs{x, slice.results[0], Tensor::random(c.shape, 2)};
    for (const Tensor &input : inputs) {
      for (int64_t i = 0; i < input.size(); ++i) {
        std::vector<int64_t> position = positionOf(i, input.shape);
        position[c.axis] += offset;
        concatenated[elementAt(position, joined)] = input[i];
      }
      offset += input.shape[c.axis];
    }
    expectClose(
        run("%r = gc.concat %0, %1, %2 {" + axis + "}" + signature(inputs, {typeOf(joined)}),
            inputs)
            .results[0],
        concatenated, 0, x.type());
  }
}

// Over the whole, and beside it.
TEST(MoveTest, PutRows) {
  struct Case {
    std::vector<int64_t> shape;
    int64_t from, rows;
  };
  for (const Case &c : {Case{{7}, 2, 3}, Case{{4, 16}, 0, 2}, Case{{4, 16}, 2, 2},
                        Case{{5, 3, 7}, 1, 2}, Case{{3, 5000}, 1, 1}, Case{{2, 8}, 0, 2}})
    for (bool isOver : {false, true}) {
      Tensor whole = Tensor::random(c.shape, 1);
      std::vector<int64_t> shape = c.shape;
      shape[0] = c.rows;
      Tensor part = Tensor::random(shape, 2);
      int64_t row = whole.size() / c.shape[0];
      std::vector<double> expected(whole.size());
      for (int64_t i = 0; i < whole.size(); ++i)
        expected[i] =
            i / row >= c.from && i / row < c.from + c.rows ? part[i - c.from * row] : whole[i];
      Outcome put = run("%r = gc.put_rows %0, %1 {from = " + std::to_string(c.from) + " : i64}" +
                            signature({whole, part}, {whole.type()}),
                        {whole, part}, {}, isOver ? std::vector<int>{0, -1} : std::vector<int>{});
      expectClose(put.results[0], expected, 0, whole.type());
      // Only the part is copied where the rest is in its place.
      EXPECT_EQ(put.launches.size(),
                isOver ? 1 : 1 + (c.from > 0) + (c.from + c.rows < c.shape[0]));
    }
}

TEST(MoveTest, Broadcast) {
  struct Case {
    std::vector<int64_t> from, dimensions, to;
  };
  for (const Case &c :
       {Case{{}, {}, {3, 5}}, Case{{4}, {1}, {7, 4}}, Case{{7}, {0}, {7, 13}},
        Case{{2, 5}, {0, 2}, {2, 3, 5}}, Case{{1, 5}, {0, 1}, {6, 5}},
        Case{{3, 1}, {1, 2}, {2, 3, 9}}, Case{{8}, {1}, {5, 8}}, Case{{5}, {0}, {5, 8}}}) {
    Tensor x = Tensor::random(c.from, 1);
    std::vector<double> expected;
    for (int64_t i = 0; i < Tensor(c.to).size(); ++i) {
      std::vector<int64_t> to = positionOf(i, c.to), from;
      for (size_t d = 0; d < c.from.size(); ++d)
        from.push_back(c.from[d] == 1 ? 0 : to[c.dimensions[d]]);
      expected.push_back(x[elementAt(from, c.from)]);
    }
    expectClose(run("%r = gc.broadcast %0 {dimensions = " + array(c.dimensions) + "}" +
                        signature({x}, {typeOf(c.to)}),
                    {x})
                    .results[0],
                expected, 0, x.type());
  }
}

TEST(MoveTest, ClassToken) {
  for (int64_t width : {37, 64}) {
    int64_t batch = 3, sequence = 10;
    Tensor x = Tensor::random({batch, sequence - 1, width}, 1);
    Tensor token = Tensor::random({1, 1, width}, 2),
           position = Tensor::random({1, sequence, width}, 3);
    std::vector<double> expected;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t s = 0; s < sequence; ++s)
        for (int64_t c = 0; c < width; ++c)
          expected.push_back(
              double(s == 0 ? token[c] : x[(b * (sequence - 1) + s - 1) * width + c]) +
              position[s * width + c]);
    std::vector<Tensor> operands{x, token, position};
    expectClose(run("%r = gc.class_token %0, %1, %2" +
                        signature(operands, {typeOf({batch, sequence, width})}),
                    operands)
                    .results[0],
                expected, 1e-7);
  }
}

TEST(MoveTest, Embedding) {
  int64_t size = 13, width = 37;
  Tensor table = Tensor::random({size, width}, 1);
  Tensor indices = Tensor::ofInt32({2, 4}, {0, 12, 3, 3, 7, 0, 3, 11});
  std::vector<double> expected, gradient(size * width);
  Tensor dy = Tensor::random({2, 4, width}, 2);
  for (int64_t i = 0; i < indices.size(); ++i)
    for (int64_t c = 0; c < width; ++c) {
      int64_t row = indices.data<int32_t>()[i];
      expected.push_back(table[row * width + c]);
      gradient[row * width + c] += dy[i * width + c];
    }
  expectClose(
      run("%r = gc.embedding %0, %1" + signature({indices, table}, {dy.type()}), {indices, table})
          .results[0],
      expected, 0);
  expectClose(
      run("%r = gc.embedding_grad %0, %1" + signature({indices, dy}, {table.type()}), {indices, dy})
          .results[0],
      gradient, 1e-6);
}

TEST(MoveTest, GradientOfManyUses) {
  int64_t size = 300, width = 36, count = 700;
  std::vector<int32_t> rows;
  for (int64_t i = 0; i < count; ++i)
    rows.push_back(i % 50 == 0 ? int32_t(size) : int32_t(i * i % 97)); // every 50th is outside
  Tensor indices = Tensor::ofInt32({count}, rows), dy = Tensor::random({count, width}, 2);
  std::vector<double> gradient(size * width);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t c = 0; c < width && rows[i] < size; ++c)
      gradient[rows[i] * width + c] += dy[i * width + c];
  expectClose(
      run("%r = gc.embedding_grad %0, %1" + signature({indices, dy}, {typeOf({size, width})}),
          {indices, dy})
          .results[0],
      gradient, 5e-6);
}

TEST(MoveTest, EmbeddingOutsideTheTableIsNaN) {
  Tensor table = Tensor::random({3, 5}, 1), indices = Tensor::ofInt32({2}, {3, -1});
  Outcome outcome =
      run("%r = gc.embedding %0, %1" + signature({indices, table}, {"tensor<2x5xf32>"}),
          {indices, table});
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(std::isnan(outcome.results[0][i]));
}

} // namespace
