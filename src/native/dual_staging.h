#ifndef CLSORT_NATIVE_DUAL_STAGING_H_
#define CLSORT_NATIVE_DUAL_STAGING_H_

#include <memory>
#include <vector>

#include "transfer_ring.h"

namespace clsort {

/** Staging rings of the two buffers of one transfer, usually of two devices. */
struct DualStaging {
  std::vector<std::unique_ptr<TransferRing>> rings;
  /** Platform whose thread the transfer runs on. */
  const Platform* platform = nullptr;
};

/** Arguments of both rings; each member has the value of the first and of the second ring. */
struct DualStagingArguments {
  const std::vector<v8::Local<v8::Value>>&queues, &buffers, &rings;
  const bool* writes;
  const uint64_t *offsets, *bytes;
  size_t piece;
  unsigned threads;
};

/** Checks the arguments and creates the rings. @return false if an argument is invalid */
bool ReadDualStaging(Call& call, const DualStagingArguments& arguments, DualStaging* made);

}  // namespace clsort

#endif  // CLSORT_NATIVE_DUAL_STAGING_H_
