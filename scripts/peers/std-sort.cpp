// Times std::sort on a raw file of keys: std-sort FILE REPEATS u32|f64 → {"version", "seconds", "ok"}, one line of JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

template <typename Key>
int Time(const std::vector<char>& bytes, int repeats) {
  std::vector<Key> keys(bytes.size() / sizeof(Key));
  std::memcpy(keys.data(), bytes.data(), keys.size() * sizeof(Key));
  bool ok = true;
  std::printf("{\"version\": \"%s\", \"seconds\": [", __VERSION__);
  for (int i = 0; i < repeats; i++) {
    auto start = std::chrono::steady_clock::now();
    std::vector<Key> sorted(keys);  // a new array, as the other peers return
    std::sort(sorted.begin(), sorted.end());
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    ok = ok && std::is_sorted(sorted.begin(), sorted.end());
    std::printf("%s%.9f", i ? ", " : "", took.count());
  }
  std::printf("], \"ok\": %s}\n", ok ? "true" : "false");
  return 0;
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  std::ifstream file(arguments[1], std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  int repeats = std::atoi(arguments[2]);
  return arguments[3] == std::string("f64") ? Time<double>(bytes, repeats) : Time<unsigned>(bytes, repeats);
}
