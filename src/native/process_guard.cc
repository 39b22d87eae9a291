#include <signal.h>

#include "call.h"

#ifndef _WIN32
#include <ftw.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#endif
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace clsort {

namespace {

#ifndef _WIN32

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr size_t kSignalCount = sizeof kSignals / sizeof *kSignals;
/** File descriptors that nftw may open to remove a folder. */
constexpr int kMaxFolders = 16;

/** Never destroyed: the thread that uses it runs until the process ends. */
struct Guard {
  std::mutex mutex;
  std::set<std::string> files;
  struct sigaction replaced[kSignalCount];
  int pipe[2] = {-1, -1};
};

Guard& TheGuard() {
  static Guard* guard = new Guard();
  return *guard;
}

/** Passes the signal to the thread of the guard and to the handler that was installed before. Async-signal-safe. */
void OnSignal(int signal) {
  int error = errno;
  Guard& guard = TheGuard();
  auto byte = static_cast<char>(signal);
  if (write(guard.pipe[1], &byte, 1) < 0) errno = error;
  for (size_t i = 0; i < kSignalCount; i++) {
    void (*handler)(int) = guard.replaced[i].sa_handler;
    if (kSignals[i] == signal && handler != SIG_DFL && handler != SIG_IGN) handler(signal);
  }
  errno = error;
}

int Remove(const char* path, const struct stat*, int, struct FTW*) {
  remove(path);
  return 0;  // goes on after a failure
}

/** Waits for a signal, gives the main thread time to end the process, and then ends it. */
void Watch(std::chrono::milliseconds grace) {
  Guard& guard = TheGuard();
  char signal = 0;
  while (read(guard.pipe[0], &signal, 1) != 1) {
    if (errno != EINTR) return;
  }
  std::this_thread::sleep_for(grace);
  std::lock_guard<std::mutex> lock(guard.mutex);
  for (const std::string& path : guard.files) nftw(path.c_str(), Remove, kMaxFolders, FTW_DEPTH | FTW_PHYS);
  ::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
  _exit(128 + signal);  // process 1 of a container ignores default actions
}

/** Passes a signal to the guard if the event loop has caught it and not handled it yet. */
void PassCaught(uv_handle_t* handle, void*) {
  if (handle->type != UV_SIGNAL) return;
  auto signal = reinterpret_cast<uv_signal_t*>(handle);
  if (signal->caught_signals == signal->dispatched_signals) return;
  for (int one : kSignals) {
    auto byte = static_cast<char>(one);
    if (one == signal->signum && write(TheGuard().pipe[1], &byte, 1) < 0) return;
  }
}

/** @param received a signal that was received before, or 0 */
void Install(std::chrono::milliseconds grace, int received) {
  Guard& guard = TheGuard();
  if (guard.pipe[0] >= 0 || ::pipe(guard.pipe) != 0) return;
  std::thread(Watch, grace).detach();
  for (size_t i = 0; i < kSignalCount; i++) {
    struct sigaction action = {};
    action.sa_handler = OnSignal;
    action.sa_flags = SA_RESTART;
    sigaction(kSignals[i], &action, &guard.replaced[i]);
  }
  uv_walk(Nan::GetCurrentEventLoop(), PassCaught, nullptr);
  auto byte = static_cast<char>(received);
  if (received != 0 && write(guard.pipe[1], &byte, 1) < 0) return;
}

#endif

/**
 * Ends the process the given milliseconds after SIGINT, SIGTERM or SIGHUP even if its main thread is blocked: removes
 * the temporary files and raises the signal with its default action. The second argument is a signal that was received
 * before, or 0.
 */
CLSORT_EXPORT(guardProcess, "guardProcess") {
  auto grace = call.Unsigned(0, CL_INVALID_VALUE, UINT32_MAX);
  auto received = static_cast<int>(call.Unsigned(1, CL_INVALID_VALUE, SIGTERM));
  if (!call.ok()) return;
#ifndef _WIN32
  Install(std::chrono::milliseconds(grace), received);
#endif
}

/** Adds a file or folder to those that the guard removes, or takes it out. Arguments: path, whether to add it. */
CLSORT_EXPORT(guardFile, "guardFile") {
  std::string path = call.Text(0);
  if (!call.ok()) return;
#ifndef _WIN32
  Guard& guard = TheGuard();
  std::lock_guard<std::mutex> lock(guard.mutex);
  if (call.Bool(1)) {
    guard.files.insert(path);
  } else {
    guard.files.erase(path);
  }
#endif
}

/** Ends the process when its parent ends, even if the main thread is blocked. Works on Linux only. */
CLSORT_EXPORT(endWithParent, "endWithParent") {
  auto parent = call.Unsigned(0, CL_INVALID_VALUE, INT32_MAX);
  if (!call.ok()) return;
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != static_cast<pid_t>(parent)) raise(SIGKILL);  // the parent ended before the call
#endif
}

}  // namespace

}  // namespace clsort
