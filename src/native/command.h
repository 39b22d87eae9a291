#pragma once

#include "bounds.h"
#include "wait.h"

namespace clsort {

/**
 * Common end of all enqueue… calls of this file: a wait list and whether an event is wanted.
 *
 * Host memory that a command uses after the driver's call has returned must live until the event of the command. The
 * flag `lasting` therefore both requests the event and keeps the memory alive.
 */
struct Command {
  std::shared_ptr<Object> queue;
  WaitList waits;
  bool wanted = false;
  /** The driver's call does not block. */
  bool lasting = false;
  /** The call was to block: this thread waits for the event instead. */
  bool awaited = false;
  cl_event event = nullptr;

  cl_command_queue raw() const { return queue->As<cl_command_queue>(); }
  cl_bool blocking_flag() const { return lasting ? CL_FALSE : CL_TRUE; }
  cl_event* slot() { return wanted || lasting ? &event : nullptr; }

  template <typename Function, typename... Arguments>
  cl_int Enqueue(const Function& function, Arguments... arguments) {
    return function(raw(), arguments..., waits.count(), waits.data(), slot());
  }
  template <typename Function, typename... Arguments>
  void* Map(const Function& function, cl_int* status, Arguments... arguments) {
    return function(raw(), arguments..., waits.count(), waits.data(), slot(), status);
  }
};

Command ReadCommand(Call& call);

/** Reads whether a command blocks. */
void ReadBlocking(Call& call, int i, Command* command, bool always = false);

void ReadTail(Call& call, Command* command, int wait_list);

/** Completes the call of a command that does not use host memory. */
void Finish(Call& call, Command& command, cl_int status);

/**
 * Checks an image and a region in it; throws for a queue that cannot use images. PoCL ends the process if the queue's
 * device is a sub-device of the one that the context lists.
 */
bool CheckImage(Call& call, const Command& command, Object& image, const Triple& origin, const Triple& region);

}  // namespace clsort
