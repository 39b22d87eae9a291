#ifndef CLSORT_NATIVE_DUAL_STAGING_H_
#define CLSORT_NATIVE_DUAL_STAGING_H_

#include <memory>
#include <vector>

#include "transfer_ring.h"

namespace clsort {

/** Rings of two buffers, mostly of two devices, that one transfer has to do with. */
struct DualStaging {
  std::vector<std::unique_ptr<TransferRing>> rings;
  /** On whose thread it is to run. */
  const Platform* platform = nullptr;
};

/** What such rings are made of; of each member the first one's and the second one's. */
struct DualStagingArguments {
  const std::vector<v8::Local<v8::Value>>&queues, &buffers, &rings;
  const bool* writes;
  const uint64_t *offsets, *bytes;
  size_t piece;
  unsigned threads;
};

/** Checks the arguments, and makes the rings. @return false where one was wrong */
bool ReadDualStaging(Call& call, const DualStagingArguments& arguments, DualStaging* made);

}  // namespace clsort

#endif  // CLSORT_NATIVE_DUAL_STAGING_H_
