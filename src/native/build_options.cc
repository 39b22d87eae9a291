#include "build_options.h"

#include <vector>

namespace clsort {

namespace {

/**
 * Splits options at unquoted whitespace like a shell and replaces that whitespace by spaces; returns false for an
 * unterminated quote.
 */
bool SplitAsShells(std::string* options, std::vector<std::string>* words) {
  char quote = 0;
  bool within = false;
  for (size_t i = 0; i < options->size(); i++) {
    char& next = (*options)[i];
    if (!quote && (next == ' ' || (next >= '\t' && next <= '\r'))) {
      next = ' ';
      within = false;
      continue;
    }
    if (!within) words->emplace_back();
    within = true;
    if (next == quote) {
      quote = 0;
    } else if (!quote && (next == '"' || next == '\'')) {
      quote = next;
    } else {
      if (next == '\\' && quote != '\'' && i + 1 < options->size()) i++;
      words->back() += (*options)[i];
    }
  }
  return !quote;
}

/** Splits options like rusticl, which also cuts at each quotation mark. */
std::vector<std::string> SplitAtQuotes(const std::string& options) {
  std::vector<std::string> words;
  bool quoted = false, within = false;
  for (char next : options) {
    if (next == '"') quoted = !quoted;
    if (next == '"' || (next == ' ' && !quoted)) {
      within = false;
      continue;
    }
    if (!within) words.emplace_back();
    within = true;
    words.back() += next;
  }
  return words;
}

/**
 * Returns whether the value of an option is the next word: OpenCL's options, and those that NVIDIA's manual writes so.
 */
bool TakesNextWord(const std::string& option) {
  return option == "-D" || option == "-I" || option == "-x" || option == "-cl-nv-maxrregcount" ||
         option == "-cl-nv-opt-level";
}

/** Returns the problem with the value of an option; empty for none. */
std::string ProblemOfValue(const std::string& option, const std::string& value) {
  if (value.empty() || value[0] == '-' || value[0] == '@') return "option " + option + " has no value";
  if (option == "-x" && value != "spir") return "expected spir for option -x but got " + value;
  return {};
}

std::string ProblemOf(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); i++) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') return "'" + word + "' is neither an option nor the value of one";
    if (!TakesNextWord(word)) continue;
    std::string problem = ProblemOfValue(word, ++i < words.size() ? words[i] : std::string());
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace

std::string ReadBuildOptions(Call& call, int i, const Object* of, cl_int code) {
  std::string options = call.Has(i) ? call.Text(i, code) : std::string();
  if (!call.ok()) return {};
  std::vector<std::string> words;
  if (!SplitAsShells(&options, &words)) {
    call.Fail(code, "a quote is not closed");
    return {};
  }
  std::string problem = ProblemOf(words);
  if (problem.empty() && of->platform->cuts_at_quotes) {
    problem = ProblemOf(SplitAtQuotes(options));
    if (!problem.empty()) problem += ": this driver supports quotes only around whole options";
  }
  if (!problem.empty()) call.Fail(code, problem);
  return options;
}

}  // namespace clsort
