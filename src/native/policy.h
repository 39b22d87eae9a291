#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>

// Policy of the addon: its heuristics, with their units. docs/contributing/POLICY.md lists those that can be switched
// off.

namespace clsort {

/** Returns `without` if CLSORT_POLICY contains NAME=off, otherwise `on`. src/util/policy.ts checks the variable. */
inline size_t Policy(const char* name, size_t on, size_t without) {
  const char* list = std::getenv("CLSORT_POLICY");
  bool off = list && ("," + std::string(list) + ",").find("," + std::string(name) + "=off,") != std::string::npos;
  return off ? without : on;
}

/** Keys of a partition per work item of the thread pool. */
constexpr size_t kPartitionKeys = size_t{1} << 16;
/** Words of a checksum per work item. */
constexpr size_t kChecksumWords = size_t{1} << 20;
/** Keys of a multiset per work item. */
constexpr size_t kMultisetKeys = size_t{1} << 18;
/** Bytes of a copy per work item. */
constexpr size_t kCopyBytes = size_t{64} << 10;
/** Bytes that a thread copies at a time in a staged transfer: a share of a piece. */
constexpr size_t kStagedBytes = size_t{256} << 10;

/** Jobs that run concurrently: builds, releases and copies, many of which only wait for a driver. */
constexpr size_t kMaxJobThreads = 64;
/**
 * Slice of time that a thread of the pool asks for, in nanoseconds; 0 asks for none. Linux 6.12 and newer lets a thread
 * with a shorter slice run as soon as it wakes: the JavaScript thread, while others sort on every core.
 */
inline const size_t kThreadSliceNs = Policy("longSlices", 20'000'000, 0);
/** Pause between two polls of commands that the JavaScript thread waits for. */
constexpr auto kMinPollPause = std::chrono::microseconds(16), kMaxPollPause = std::chrono::microseconds(4096);

/**
 * Number of blocking waits, which report the end of a command soonest on a GPU. One or two are typical; some drivers
 * spin in each of them.
 */
inline const size_t kBlockers = Policy("blockingWaits", 4, 0);
/** Pause of the watcher of other waits: grows from the minimum to the maximum. */
constexpr auto kMinWatchPause = std::chrono::milliseconds(1), kMaxWatchPause = std::chrono::milliseconds(32);
/** The same pause as a multiple of the time that the queries take, at least. */
constexpr int kWatchPauseFactor = 50;

/** Number of held events, or of memory in flight, below which no sweep is worthwhile. */
constexpr size_t kMinSweepSize = 64;

/** Consecutive polls without a running command before a user event fails. */
constexpr int kIdlePolls = 3;
constexpr auto kPollInterval = std::chrono::microseconds(100);
/** Limit of polls: a command that runs this long hardly ends at the moment in which the user event fails. */
constexpr int kMaxPolls = 500;

}  // namespace clsort
