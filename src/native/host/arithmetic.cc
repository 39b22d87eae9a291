#include <atomic>
#include <type_traits>

#include "elements.h"
#include "reduce.h"
#include "rounding.h"
#include "scan.h"

namespace clsort {

namespace {

using namespace host;

constexpr size_t kWord = sizeof(uint32_t), kWide = sizeof(uint64_t);

/** Kinds of dtypes and operations, with the numbers that src/primitives/possible.ts gives them. */
enum { kUnsigned, kSigned, kFloat };
enum Operation { kSum, kMin, kMax, kProduct };

/** A kind and an operation: two adjacent arguments. */
struct KindAndOperation {
  cl_uint kind = kUnsigned, operation = kSum;

  /** Throws unless the operation is at most `last` and defined for keys of this width. @return whether it is */
  bool Read(Call& call, int i, size_t width, Operation last) {
    kind = call.Uint(i);
    operation = call.Uint(i + 1);
    if (!call.ok()) return false;
    const bool known = kind <= kFloat && operation <= static_cast<cl_uint>(last);
    const bool narrow = kind == kFloat && !extreme() && width < kWord;
    return (known && !narrow) || call.Fail(CL_INVALID_VALUE, "expected an operation on a dtype that has it");
  }
  bool extreme() const { return operation == kMin || operation == kMax; }
};

/** Calls `use(element)` with a zero of the number type that has this width: for sums and products. */
template <typename Use>
auto ByNumber(cl_uint kind, size_t width, const Use& use) {
  return ByWidth(width, [&](auto key) {
    using Key = decltype(key);
    if constexpr (sizeof(Key) == kWord) {
      if (kind == kFloat) return use(float{});
    }
    if constexpr (sizeof(Key) == kWide) {
      if (kind == kFloat) return use(double{});
    }
    return kind == kSigned ? use(std::make_signed_t<Key>{}) : use(key);
  });
}

/** Arguments from 2: keys, width, codec, kind, operation, result (bits of 64-bit integer, double or code). */
struct ReduceWork {
  static constexpr char kName[] = "hostReduceAsync";
  Keys keys;
  CodecArgument codec;
  KindAndOperation by;
  Elements result;

  bool Read(Call& call) {
    return keys.Read(call, 2) && codec.Read(call, 4) && by.Read(call, 5, keys.width, kMax) &&
           result.Read(call, 7, kWide, 1);
  }
  bool Run(Threads& threads) const {
    uint64_t* const to = result.as<uint64_t>();
    if (by.extreme()) {
      ByWidth(keys.width, [&](auto key) {
        *to = ExtremeCode(keys.as<decltype(key)>(), keys.n, codec.of(key), by.operation == kMax, threads);
      });
      return true;
    }
    ByNumber(by.kind, keys.width, [&](auto number) {
      using Number = decltype(number);
      if constexpr (std::is_floating_point_v<Number>) {
        const double sum = FloatSum(keys.as<Number>(), keys.n, threads);
        std::memcpy(to, &sum, sizeof sum);
      } else {
        *to = IntegerSum(keys.as<Number>(), keys.n, threads);
      }
    });
    return true;
  }
};

/** Arguments from 2: values, width, codec, kind, operation, begins of the runs, results. */
struct ReduceRunsWork {
  static constexpr char kName[] = "hostReduceRunsAsync";
  Keys values;
  CodecArgument codec;
  KindAndOperation by;
  Elements begins, results;

  bool Read(Call& call) {
    if (!values.Read(call, 2) || !codec.Read(call, 4) || !by.Read(call, 5, values.width, kMax)) return false;
    const bool wide = by.operation == kSum && by.kind != kFloat;
    return begins.Read(call, 7, kWord) && results.Read(call, 8, wide ? kWide : values.width, begins.n);
  }
  bool Run(Threads& threads) const {
    if (by.extreme()) {
      ByWidth(values.width, [&](auto key) {
        using Key = decltype(key);
        const auto own = codec.of(key);
        const bool largest = by.operation == kMax;
        RunAll<Key, Key>([&](const Key* keys, size_t n) { return own.KeyOf(ExtremeCode(keys, n, own, largest)); },
                         threads);
      });
      return true;
    }
    ByNumber(by.kind, values.width, [&](auto number) {
      using Number = decltype(number);
      if constexpr (std::is_floating_point_v<Number>) {
        RunAll<Number, Number>(
            [&](const Number* keys, size_t n) { return static_cast<Number>(FloatSum(keys, n, threads)); }, threads);
      } else {
        RunAll<Number, uint64_t>([](const Number* keys, size_t n) { return IntegerSum(keys, n); }, threads);
      }
    });
    return true;
  }

 private:
  template <typename Value, typename Result, typename Reduce>
  void RunAll(const Reduce& reduce, Threads& threads) const {
    ReduceRuns(values.as<Value>(), values.n, begins.as<uint32_t>(), begins.n, results.as<Result>(), reduce, threads);
  }
};

/** Calls `use(combine, codec)` with the operation of a scan of keys, and the codec in whose codes it computes. */
template <typename Key, typename Use>
auto ByScan(cl_uint operation, const CodecArgument& codec, const Use& use) {
  const Codec<Key> identity = CodecArgument().of(Key{});
  switch (operation) {
    case kSum: return use(SumScan<Key>(), identity);
    case kMin: return use(MinScan<Key>(), codec.of(Key{}));
    case kMax: return use(MaxScan<Key>(), codec.of(Key{}));
    default: return use(ProductScan<Key>(), identity);
  }
}

/** Arguments from 2: keys, width, codec (for minimum and maximum), kind, operation, inclusive, to. */
struct ScanWork {
  static constexpr char kName[] = "hostScanAsync";
  Keys keys;
  CodecArgument codec;
  KindAndOperation by;
  bool inclusive = false;
  Elements to;

  bool Read(Call& call) {
    inclusive = call.Bool(7);
    return keys.Read(call, 2) && codec.Read(call, 4) && by.Read(call, 5, keys.width, kProduct) &&
           to.Read(call, 8, keys.width, keys.n);
  }
  bool Run(Threads& threads) const {
    if (by.kind == kFloat && !by.extreme()) {
      if (keys.width == kWord)
        ScanBy<float>(threads);
      else
        ScanBy<double>(threads);
      return true;
    }
    return ByWidth(keys.width, [&](auto key) {
      using Key = decltype(key);
      return ByScan<Key>(by.operation, codec, [&](const auto& combine, const Codec<Key>& code) {
        return Scan(keys.as<Key>(), keys.n, code, to.as<Key>(), inclusive, combine, threads);
      });
    });
  }

 private:
  template <typename Float>
  void ScanBy(const Threads& threads) const {
    const auto scan = [&](auto running) {
      ScanFloats(keys.as<Float>(), keys.n, to.as<Float>(), inclusive, running, threads);
    };
    if (by.operation == kSum)
      scan(RunningSum());
    else
      scan(RunningProduct<Float>());
  }
};

/**
 * Finds the first result of a scan that is not the one before it combined with one more key; of sums and products of
 * floats, the first one outside of the bounds of rounding. Arguments from 2: keys, width, codec (for minimum and
 * maximum), kind, operation, inclusive, results, found (the number of results if all are right).
 */
struct VerifyScanWork {
  static constexpr char kName[] = "hostVerifyScanAsync";
  Keys keys;
  CodecArgument codec;
  KindAndOperation by;
  bool inclusive = false;
  Elements results, found;

  bool Read(Call& call) {
    inclusive = call.Bool(7);
    if (!keys.Read(call, 2) || !codec.Read(call, 4) || !by.Read(call, 5, keys.width, kProduct)) return false;
    return results.Read(call, 8, keys.width, keys.n) && found.Read(call, 9, kWide, 1);
  }
  bool Run(Threads& threads) const {
    if (by.kind == kFloat && !by.extreme()) {
      const bool wide = keys.width == kWide;
      *found.as<uint64_t>() = wide ? FirstOutside<double>(threads) : FirstOutside<float>(threads);
      return true;
    }
    std::atomic<uint64_t> wrong{keys.n};
    ByWidth(keys.width, [&](auto key) {
      using Key = decltype(key);
      ByScan<Key>(by.operation, codec, [&](const auto& combine, const Codec<Key>& code) {
        ForSlices(keys.n, threads, [&](size_t, size_t first, size_t last) {
          const size_t at = FirstWrong(combine, code, first, last);
          uint64_t known = wrong;
          while (at < last && at < known && !wrong.compare_exchange_weak(known, at)) continue;
        });
      });
    });
    *found.as<uint64_t>() = wrong;
    return true;
  }

 private:
  template <typename Key, typename Combine>
  size_t FirstWrong(const Combine& combine, const Codec<Key>& code, size_t first, size_t last) const {
    const Key *from = keys.as<Key>(), *to = results.as<Key>();
    for (size_t i = first; i < last; i++) {
      Key expected = Combine::kInitial;
      if (i > 0) expected = code.CodeOf(to[i - 1]);
      if (inclusive || i > 0) expected = combine(expected, code.CodeOf(from[inclusive ? i : i - 1]));
      if (code.CodeOf(to[i]) != expected) return i;
    }
    return last;
  }

  template <typename Float>
  size_t FirstOutside(const Threads& threads) const {
    return by.operation == kSum ? FirstOutside<Float>(SumBounds<Float>(keys.n), threads)
                                : FirstOutside<Float>(ProductBounds<Float>(), threads);
  }
  /** One thread reads in order, as the scan does. */
  template <typename Float, typename Bounds>
  size_t FirstOutside(Bounds bounds, const Threads& threads) const {
    const Float *from = keys.as<Float>(), *to = results.as<Float>();
    for (size_t first = 0; first < keys.n && !threads.stopped(); first += kSlice) {
      const size_t last = std::min(first + kSlice, keys.n);
      for (size_t i = first; i < last; i++) {
        if (inclusive) bounds.Add(static_cast<double>(from[i]));
        if (!bounds.Allow(static_cast<double>(to[i]))) return i;
        if (!inclusive) bounds.Add(static_cast<double>(from[i]));
      }
    }
    return keys.n;
  }
};

const ExportedJobs<ReduceWork, ReduceRunsWork, ScanWork, VerifyScanWork> kJobs;

}  // namespace

}  // namespace clsort
