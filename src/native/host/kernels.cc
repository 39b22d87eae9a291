#include "canonical.h"
#include "compact.h"
#include "elements.h"
#include "gather.h"
#include "histogram.h"
#include "member_table.h"
#include "rank_select.h"
#include "search.h"
#include "select.h"

namespace clsort {

namespace {

using namespace host;

constexpr size_t kWord = sizeof(uint32_t), kWide = sizeof(uint64_t);

/** Arguments from 2: from, width, positions, their width, to. */
struct GatherWork {
  static constexpr char kName[] = "hostGatherAsync";
  Keys from;
  Positions positions;
  Elements to;

  bool Read(Call& call) {
    return from.Read(call, 2) && positions.Read(call, 4, 0) && to.Read(call, 6, from.width, positions.n);
  }
  bool Run(Threads& threads) const {
    AdviseHugePages(to.memory.data, to.memory.bytes);
    positions.With([&](const auto* at) {
      Gather({from.memory.data, from.n, from.width}, at, positions.n, to.memory.data, true, threads);
    });
    return true;
  }
};

/** Arguments from 2: keys, width, codec, selected, positions, their width. */
struct SelectWork {
  static constexpr char kName[] = "hostSelectAsync";
  Keys keys;
  CodecArgument codec;
  Elements selected;
  Positions positions;

  bool Read(Call& call) {
    if (!keys.Read(call, 2) || !codec.Read(call, 4) || !selected.Read(call, 5, keys.width)) return false;
    if (selected.n > keys.n) return call.Fail(CL_INVALID_VALUE, "expected at most as many results as keys");
    return positions.Read(call, 6, selected.n) && positions.CanHold(call, 6, keys.n);
  }
  bool Run(Threads& threads) const {
    return ByWidth(keys.width, [&](auto key) {
      using Key = decltype(key);
      Selection<Key> selection(keys.as<Key>(), keys.n, codec.words, threads);
      return positions.With([&](auto* at) { return selection.Run(selected.n, selected.as<Key>(), at); });
    });
  }
};

/** Arguments from 2: keys, width, codec, ascending ranks (u64), which become codes. */
struct SelectRanksWork {
  static constexpr char kName[] = "hostSelectRanksAsync";
  Keys keys;
  CodecArgument codec;
  Elements ranks;

  bool Read(Call& call) {
    if (!keys.Read(call, 2) || !codec.Read(call, 4) || !ranks.Read(call, 5, kWide)) return false;
    const uint64_t *first = ranks.as<uint64_t>(), *last = first + ranks.n;
    const bool fits = ranks.n <= RankSelection::kMaxRanks && (ranks.n == 0 || last[-1] < keys.n);
    return (fits && std::is_sorted(first, last)) ||
           call.FailArgument(5, CL_INVALID_VALUE, "at most 8 ascending ranks below the number of keys");
  }
  bool Run(Threads& threads) const {
    return ByWidth(keys.width, [&](auto key) {
      return RankSelection(threads).Find(keys.as<decltype(key)>(), keys.n, codec.of(key), ranks.as<uint64_t>(), ranks.n,
                                         8 * sizeof key);
    });
  }
};

/** Arguments from 2: keys, width, codec, first bit of the digit, counts (a power of two). */
struct CountDigitsWork {
  static constexpr char kName[] = "hostCountDigitsAsync";
  Keys keys;
  CodecArgument codec;
  unsigned begin = 0;
  Elements counts;

  bool Read(Call& call) {
    if (!keys.Read(call, 2) || !codec.Read(call, 4)) return false;
    begin = call.Uint(5);
    if (!counts.Read(call, 6, kWord, 1)) return false;
    return (begin < 8 * keys.width && (counts.n & (counts.n - 1)) == 0) ||
           call.Fail(CL_INVALID_VALUE, "expected a digit of the code and a power of two of bins");
  }
  bool Run(Threads& threads) const {
    return ByWidth(keys.width, [&](auto key) {
      const auto digit_of = [&](auto code) { return static_cast<size_t>(code >> begin) & (counts.n - 1); };
      return Histogram(keys.as<decltype(key)>(), keys.n, codec.of(key), counts.n, digit_of, counts.as<uint32_t>(),
                       threads);
    });
  }
};

/** Arguments from 2: keys, width, codec, edges, counts. */
struct CountBinsWork {
  static constexpr char kName[] = "hostCountBinsAsync";
  Keys keys;
  CodecArgument codec;
  Elements edges, counts;

  bool Read(Call& call) {
    return keys.Read(call, 2) && codec.Read(call, 4) && counts.Read(call, 6, kWord, 1) &&
           edges.Read(call, 5, kWide, counts.n + 1);
  }
  bool Run(Threads& threads) const {
    return ByWidth(keys.width, [&](auto key) {
      return Histogram(keys.as<decltype(key)>(), keys.n, codec.of(key), counts.n,
                       EdgeBins{edges.as<uint64_t>(), counts.n}, counts.as<uint32_t>(), threads);
    });
  }
};

/** Arguments from 2: keys, width, mask or null, codec, range (low, high), inverted, rest, to, count. */
struct CompactWork {
  static constexpr char kName[] = "hostCompactAsync";
  Keys keys;
  Memory mask;
  CodecArgument codec;
  Elements range, to, count;
  bool inverted = false, rest = false;

  bool Read(Call& call) {
    if (!keys.Read(call, 2)) return false;
    mask.Read(call, 4, keys.n);
    inverted = call.Bool(7);
    rest = call.Bool(8);
    return codec.Read(call, 5) && range.Read(call, 6, kWide, 2) && to.Read(call, 9, keys.width) &&
           count.Read(call, 10, kWide, 1);
  }
  bool Run(Threads& threads) const {
    return ByWidth(keys.width, [&](auto key) {
      using Key = decltype(key);
      const auto compact = [&](const auto& selector) {
        return Compact(
            keys.n, selector, [from = keys.as<Key>()](size_t i) { return from[i]; },
            Destination<Key>{to.as<Key>(), to.n}, rest, count.as<uint64_t>(), threads);
      };
      if (mask.given) return compact(MaskSelector{reinterpret_cast<const uint8_t*>(mask.data)});
      const uint64_t* bounds = range.as<uint64_t>();
      return compact(RangeSelector<Key>{keys.as<Key>(), codec.of(key), bounds[0], bounds[1], inverted});
    });
  }
};

/** Arguments from 2: sorted keys, width, places, count. */
struct PlaceHeadsWork {
  static constexpr char kName[] = "hostPlaceHeadsAsync";
  Keys keys;
  Elements places, count;

  bool Read(Call& call) { return keys.Read(call, 2) && places.Read(call, 4, kWord) && count.Read(call, 5, kWide, 1); }
  bool Run(Threads& threads) const {
    return ByWidth(keys.width, [&](auto key) {
      return Compact(
          keys.n, HeadSelector<decltype(key)>{keys.as<decltype(key)>()},
          [](size_t i) { return static_cast<uint32_t>(i); }, Destination<uint32_t>{places.as<uint32_t>(), places.n},
          false, count.as<uint64_t>(), threads);
    });
  }
};

/** Arguments from 2: begins, n, lengths. */
struct RunLengthsWork {
  static constexpr char kName[] = "hostRunLengthsAsync";
  Elements begins, lengths;
  size_t n = 0;

  bool Read(Call& call) {
    n = call.Size(3);
    return lengths.Read(call, 4, kWord) && begins.Read(call, 2, kWord, lengths.n);
  }
  bool Run(Threads& threads) const {
    RunLengths(begins.as<uint32_t>(), lengths.n, n, lengths.as<uint32_t>(), threads);
    return true;
  }
};

/** Arguments from 2: keys, width, codec, sorted keys, right, places, their width. */
struct SearchSortedWork {
  static constexpr char kName[] = "hostSearchSortedAsync";
  Keys keys;
  CodecArgument codec;
  Elements sorted;
  Positions places;
  bool right = false;

  bool Read(Call& call) {
    right = call.Bool(6);
    return keys.Read(call, 2) && codec.Read(call, 4) && sorted.Read(call, 5, keys.width) &&
           places.Read(call, 7, keys.n) && places.CanHold(call, 7, sorted.n);
  }
  bool Run(Threads& threads) const {
    ByWidth(keys.width, [&](auto key) {
      using Key = decltype(key);
      places.With([&](auto* to) {
        SearchSorted(Sorted<Key>{sorted.as<Key>(), sorted.n}, keys.as<Key>(), keys.n, codec.of(key), right, to,
                     threads);
      });
    });
    return true;
  }
};

/** Arguments from 2: keys, width, codec, sorted keys, inverted, mask. */
struct ContainsWork {
  static constexpr char kName[] = "hostContainsAsync";
  Keys keys;
  CodecArgument codec;
  Elements sorted, mask;
  bool inverted = false;

  bool Read(Call& call) {
    inverted = call.Bool(6);
    return keys.Read(call, 2) && codec.Read(call, 4) && sorted.Read(call, 5, keys.width) &&
           mask.Read(call, 7, 1, keys.n);
  }
  bool Run(Threads& threads) const {
    ByWidth(keys.width, [&](auto key) {
      using Key = decltype(key);
      Contains(Sorted<Key>{sorted.as<Key>(), sorted.n}, keys.as<Key>(), keys.n, codec.of(key), inverted,
               mask.as<uint8_t>(), threads);
    });
    return true;
  }
};

/** Arguments from 2: keys, width, codec, other keys, inverted, mask, bytes of the table for each key, used (1 or 0). */
struct ContainsByTableWork {
  static constexpr char kName[] = "hostContainsByTableAsync";
  Keys keys;
  CodecArgument codec;
  Elements others, mask, used;
  bool inverted = false;
  size_t bytes_per_key = 0;

  bool Read(Call& call) {
    inverted = call.Bool(6);
    bytes_per_key = call.Size(8);
    if (call.ok() && bytes_per_key == 0) return call.FailArgument(8, CL_INVALID_VALUE, "at least one byte", "0");
    return keys.Read(call, 2) && codec.Read(call, 4) && others.Read(call, 5, keys.width) &&
           mask.Read(call, 7, 1, keys.n) && used.Read(call, 9, kWide, 1);
  }
  bool Run(Threads& threads) const {
    *used.as<uint64_t>() = ByWidth(keys.width, [&](auto key) {
      using Key = decltype(key);
      return ContainsByTable(KeySpan<Key>{others.as<Key>(), others.n}, KeySpan<Key>{keys.as<Key>(), keys.n},
                             codec.of(key), inverted, bytes_per_key, mask.as<uint8_t>(), threads);
    });
    return true;
  }
};

/** Arguments from 2: begins, ids, and the place of each number or none. */
struct SegmentIdsWork {
  static constexpr char kName[] = "hostSegmentIdsAsync";
  Elements begins, ids, positions;

  bool Read(Call& call) {
    return begins.Read(call, 2, kWord) && ids.Read(call, 3, kWord) &&
           (!call.Has(4) || positions.Read(call, 4, kWord, ids.n));
  }
  bool Run(Threads& threads) const {
    SegmentIds(begins.as<uint32_t>(), begins.n, positions.as<uint32_t>(), ids.n, ids.as<uint32_t>(), threads);
    return true;
  }
};

/** Arguments from 2: first keys, width, codec, second keys, to. */
struct MergeWork {
  static constexpr char kName[] = "hostMergeAsync";
  Keys a;
  CodecArgument codec;
  Elements b, to;

  bool Read(Call& call) {
    return a.Read(call, 2) && codec.Read(call, 4) && b.Read(call, 5, a.width) && to.Read(call, 6, a.width, a.n + b.n);
  }
  bool Run(Threads& threads) const {
    AdviseHugePages(to.memory.data, to.memory.bytes);
    return ByWidth(a.width, [&](auto key) {
      using Key = decltype(key);
      return Merge(Sorted<Key>{a.as<Key>(), a.n}, Sorted<Key>{b.as<Key>(), b.n}, codec.of(key), to.as<Key>(), threads);
    });
  }
};

/** Arguments from 2: keys, width, bits of infinity, to. */
struct CanonicalWork {
  static constexpr char kName[] = "hostCanonicalAsync";
  Keys keys;
  uint64_t infinity = 0;
  Elements to;

  bool Read(Call& call) {
    infinity = call.Unsigned(4, CL_INVALID_VALUE);
    return keys.Read(call, 2) && to.Read(call, 5, keys.width, keys.n);
  }
  bool Run(Threads& threads) const {
    ByWidth(keys.width, [&](auto key) {
      using Key = decltype(key);
      Canonical(keys.as<Key>(), keys.n, static_cast<Key>(infinity), to.as<Key>(), threads);
    });
    return true;
  }
};

/** Arguments from 2: keys of at most 4 bytes, width, codec, bits of infinity, shift, replaces, width of packed, packed. */
struct AppendCodesWork {
  static constexpr char kName[] = "hostAppendCodesAsync";
  Keys keys;
  CodecArgument codec;
  uint64_t infinity = 0;
  unsigned shift = 0;
  bool replaces = false;
  size_t packed_width = 0;
  Elements packed;

  bool Read(Call& call) {
    infinity = call.Unsigned(5, CL_INVALID_VALUE);
    shift = call.Uint(6);
    replaces = call.Bool(7);
    packed_width = call.Size(8);
    if (!keys.Read(call, 2) || !codec.Read(call, 4)) return false;
    const bool is_packed = packed_width == kWord || packed_width == kWide;
    if (!is_packed || keys.width > kWord || shift >= 8 * packed_width)
      return call.Fail(CL_INVALID_VALUE, "expected codes of at most 32 bits that are packed into 32 or 64 bits");
    return packed.Read(call, 9, packed_width, keys.n);
  }
  bool Run(Threads& threads) const {
    ByWidth(keys.width, [&](auto key) {
      if (packed_width == kWord)
        AppendTo<decltype(key), uint32_t>(threads);
      else
        AppendTo<decltype(key), uint64_t>(threads);
    });
    return true;
  }

 private:
  template <typename Key, typename Packed>
  void AppendTo(Threads& threads) const {
    AppendCodes(keys.as<Key>(), keys.n, static_cast<Key>(infinity), codec.of(Key{}), shift, replaces,
                packed.as<Packed>(), threads);
  }
};

const ExportedJobs<GatherWork, SelectWork, SelectRanksWork, CountDigitsWork, CountBinsWork, CompactWork, PlaceHeadsWork,
                   RunLengthsWork, SearchSortedWork, ContainsWork, ContainsByTableWork, SegmentIdsWork, MergeWork,
                   CanonicalWork, AppendCodesWork>
    kJobs;

}  // namespace

}  // namespace clsort
