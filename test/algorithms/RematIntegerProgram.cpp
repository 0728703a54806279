#include "test/algorithms/RematIntegerProgram.h"

#include <coin/Cbc_C_Interface.h>

#include <algorithm>
#include <memory>

namespace gc::test {
namespace {

// A number, or a variable of the program: what is known beforehand needs no variable.
struct Term {
  double known = 0;
  int column = -1;
};

// A linear expression compared with zero: expression <= 0.
class Row {
public:
  Row &add(Term term, double factor = 1) {
    constant += factor * term.known;
    if (term.column < 0)
      return *this;
    auto found = std::find(columns.begin(), columns.end(), term.column);
    if (found == columns.end()) {
      columns.push_back(term.column);
      factors.push_back(factor);
    } else {
      factors[found - columns.begin()] += factor;
    }
    return *this;
  }
  Row &add(double number) { return add(Term{number}); }

  std::vector<int> columns;
  std::vector<double> factors;
  double constant = 0;
};

class Program {
public:
  Program(const StepGraph &graph, int64_t budget, int sweeps)
      : graph(graph), budget(budget), model(Cbc_newModel(), Cbc_deleteModel),
        readers(graph.values.size()) {
    Cbc_setLogLevel(model.get(), 0);
    for (size_t i = 0; i < graph.ops.size(); ++i)
      for (int operand : graph.ops[i].operands)
        if (readers[operand].empty() || readers[operand].back() != static_cast<int>(i))
          readers[operand].push_back(static_cast<int>(i));
    for (size_t i = 0; i < graph.ops.size(); ++i)
      for (int sweep = 1; sweep <= sweeps; ++sweep)
        stages.push_back({static_cast<int>(i), sweep == sweeps});
    makeVariables();
    for (size_t s = 0; s < stages.size(); ++s)
      constrain(static_cast<int>(s));
  }

  ProgramOptimum solve(int nodes) {
    ProgramOptimum optimum;
    if (impossible)
      return {true, std::nullopt, 0};
    Cbc_setMaximumNodes(model.get(), nodes);
    // On programs as small as these they take longer than the search.
    Cbc_setParameter(model.get(), "cuts", "off");
    Cbc_setParameter(model.get(), "heuristics", "off");
    Cbc_solve(model.get());
    if (Cbc_isProvenInfeasible(model.get()))
      return {true, std::nullopt, 0};
    if (!Cbc_isProvenOptimal(model.get()))
      return {};
    const double *solution = Cbc_getColSolution(model.get());
    FlatGraph flat(graph);
    Schedule schedule;
    std::vector<int> current(graph.values.size(), -1);
    for (size_t s = 0; s < stages.size(); ++s)
      for (int i = 0; i <= stages[s].op; ++i) {
        const Term &run = runs[s][i];
        if (run.column < 0 ? run.known < 0.5 : solution[run.column] < 0.5)
          continue;
        bool again = i != stages[s].op;
        optimum.recomputeSeconds += again ? graph.ops[i].seconds : 0;
        int instance = schedule.append(flat, i, again, current);
        // What is there to the end is not replaced by its twin.
        for (int result : graph.ops[i].results) {
          if (!again || !graph.values[result].untilEnd)
            current[result] = instance;
          ++instance;
        }
      }
    optimum.schedule = std::move(schedule);
    optimum.decided = true;
    return optimum;
  }

private:
  struct Stage {
    int op;     // ops before it have run
    bool final; // it runs at the end of this stage
  };

  Term variable(bool integer, double cost = 0) {
    Cbc_addCol(model.get(), "", 0, 1, cost, integer, 0, nullptr, nullptr);
    return {0, variables++};
  }

  void require(const Row &row) {
    if (row.columns.empty()) {
      impossible |= row.constant > 1e-9;
      return;
    }
    Cbc_addRow(model.get(), "", static_cast<int>(row.columns.size()), row.columns.data(),
               row.factors.data(), 'L', -row.constant);
  }

  bool mayRunAgain(int op, int done) const {
    const StepOp &candidate = graph.ops[op];
    if (candidate.backward || !candidate.repeatable || candidate.results.empty())
      return false;
    for (int i = 0; i < done; ++i)
      for (int changed : graph.ops[i].changes)
        for (int operand : candidate.operands)
          if (operand == changed)
            return false;
    return true;
  }

  // With the runs integral, the smallest carries that satisfy all rows are so by themselves.
  void makeVariables() {
    runs.resize(stages.size());
    carried.assign(stages.size() + 1, std::vector<Term>(graph.values.size()));
    for (size_t s = 0; s < stages.size(); ++s) {
      for (int i = 0; i < stages[s].op; ++i)
        runs[s].push_back(mayRunAgain(i, stages[s].op) ? variable(true, graph.ops[i].seconds)
                                                       : Term{0});
      runs[s].push_back(Term{stages[s].final ? 1.0 : 0.0});
      for (size_t v = 0; v < graph.values.size(); ++v)
        if (int producer = graph.values[v].producer; producer >= 0 && producer < stages[s].op)
          carried[s][v] = graph.values[v].untilEnd ? Term{1} : variable(false);
    }
    for (size_t v = 0; v < graph.values.size(); ++v)
      if (graph.values[v].producer >= 0 && graph.values[v].untilEnd)
        carried.back()[v] = Term{1};
  }

  bool canRun(int s, int i) const { return runs[s][i].column >= 0 || runs[s][i].known > 0; }

  void constrain(int s) {
    int last = stages[s].op;
    for (int i = 0; i <= last; ++i)
      if (canRun(s, i))
        for (int operand : graph.ops[i].operands)
          if (int producer = graph.values[operand].producer; producer >= 0)
            require(Row().add(runs[s][i]).add(runs[s][producer], -1).add(carried[s][operand], -1));
    for (size_t v = 0; v < graph.values.size(); ++v)
      if (int producer = graph.values[v].producer; producer >= 0 && producer <= last)
        require(Row().add(carried[s + 1][v]).add(runs[s][producer], -1).add(carried[s][v], -1));
    std::vector<std::vector<Term>> needed(graph.values.size());
    for (size_t v = 0; v < graph.values.size(); ++v)
      if (graph.values[v].producer >= 0 && graph.values[v].producer <= last)
        needed[v] = neededFrom(s, static_cast<int>(v));
    for (int i = 0; i <= last; ++i)
      if (canRun(s, i))
        limitBytes(s, i, needed);
  }

  // Whether the value is needed behind each of its readers that may run in the stage, and at it.
  std::vector<Term> neededFrom(int s, int v) {
    std::vector<Term> needed{carried[s + 1][v]};
    for (auto reader = readers[v].rbegin(); reader != readers[v].rend(); ++reader) {
      if (*reader > stages[s].op || !canRun(s, *reader)) {
        needed.push_back(needed.back());
        continue;
      }
      Term behind = needed.back(), reads = runs[s][*reader];
      bool certain = (behind.column < 0 && behind.known > 0) || (reads.column < 0);
      Term at = Term{1};
      if (!certain && behind.column < 0)
        at = reads;
      else if (!certain) {
        at = variable(false);
        require(Row().add(reads).add(at, -1));
        require(Row().add(behind).add(at, -1));
      }
      needed.push_back(at);
    }
    std::reverse(needed.begin(), needed.end());
    return needed;
  }

  void limitBytes(int s, int i, const std::vector<std::vector<Term>> &needed) {
    auto units = [](int64_t bytes) { return static_cast<double>((bytes + 63) / 64); };
    const StepOp &op = graph.ops[i];
    Row bytes;
    bytes.add(-static_cast<double>(budget / 64)).add(runs[s][i], units(op.workspace));
    for (size_t v = 0; v < graph.values.size(); ++v) {
      int producer = graph.values[v].producer;
      if (producer < 0 || producer > stages[s].op)
        continue;
      double size = units(graph.values[v].bytes);
      if (i <= producer)
        bytes.add(carried[s][v], size);
      if (i == producer)
        bytes.add(runs[s][i], size);
      if (i > producer)
        bytes.add(needed[v][firstReader(v, i)], size);
    }
    saveInPlace(s, i, needed, bytes);
    require(bytes);
  }

  // Of the value's readers, the first that does not come before op i.
  size_t firstReader(size_t v, int i) const {
    return std::lower_bound(readers[v].begin(), readers[v].end(), i) - readers[v].begin();
  }

  void saveInPlace(int s, int i, const std::vector<std::vector<Term>> &needed, Row &bytes) {
    const StepOp &op = graph.ops[i];
    std::vector<Row> overOperand(op.operands.size()), overResult(op.results.size());
    auto units = [](int64_t size) { return static_cast<double>((size + 63) / 64); };
    auto allowed = [&](size_t operand, size_t result) {
      return std::find(op.inPlace.begin(), op.inPlace.end(),
                       std::pair<int, int>(operand, result)) != op.inPlace.end();
    };
    for (size_t o = 0; o < op.operands.size(); ++o) {
      int value = op.operands[o];
      if (graph.values[value].producer < 0 || graph.values[value].untilEnd ||
          std::find(op.operands.begin(), op.operands.begin() + o, value) != op.operands.begin() + o)
        continue;
      double size = units(graph.values[value].bytes);
      for (size_t r = 0; r < op.results.size(); ++r) {
        bool each = size == units(graph.values[op.results[r]].bytes);
        for (size_t other = o; other < op.operands.size(); ++other)
          each &= op.operands[other] != value || allowed(other, r);
        if (!each)
          continue;
        Term over = variable(true);
        require(Row().add(over).add(runs[s][i], -1));
        require(Row().add(over).add(needed[value][firstReader(value, i + 1)]).add(-1.0));
        overOperand[o].add(over);
        overResult[r].add(over);
        bytes.add(over, -size);
      }
    }
    for (std::vector<Row> *rows : {&overOperand, &overResult})
      for (Row &row : *rows)
        if (row.columns.size() > 1)
          require(row.add(-1.0));
  }

  const StepGraph &graph;
  int64_t budget;
  std::unique_ptr<Cbc_Model, decltype(&Cbc_deleteModel)> model;
  std::vector<std::vector<int>> readers; // ops, of each value
  std::vector<Stage> stages;
  std::vector<std::vector<Term>> runs;    // of each stage and op
  std::vector<std::vector<Term>> carried; // of each stage and value, into the stage
  int variables = 0;
  bool impossible = false;
};

} // namespace

ProgramOptimum solveByIntegerProgram(const StepGraph &graph, int64_t budget, int sweeps,
                                     int nodes) {
  return Program(graph, budget, sweeps).solve(nodes);
}

} // namespace gc::test
