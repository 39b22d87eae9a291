#include <cmath>

#include "call.h"
#include "thread_pool.h"
#include "v8_versions.h"

// The readers of arguments.

namespace clsort {

namespace {

/** Limit against sparse arrays: an empty array may have a length of 2^32. */
constexpr uint32_t kMaxElements = 1 << 20;

}  // namespace

uint64_t Call::Unsigned(v8::Local<v8::Value> value, cl_int status, uint64_t max) {
  if (failed_) return 0;
  if (value->IsUint32()) {
    uint64_t number = value.As<v8::Uint32>()->Value();
    if (number <= max) return number;
  } else if (value->IsNumber()) {
    double number = value.As<v8::Number>()->Value();
    if (number >= 0 && number <= 9007199254740991.0 && std::floor(number) == number &&
        static_cast<uint64_t>(number) <= max) {
      return static_cast<uint64_t>(number);
    }
  } else if (value->IsBigInt()) {
    bool lossless = false;
    uint64_t number = value.As<v8::BigInt>()->Uint64Value(&lossless);
    if (lossless && number <= max) return number;
  }
  FailValue(status, "a whole number from 0 to " + std::to_string(max), value);
  return 0;
}

unsigned Call::Threads(int i) {
  auto threads = static_cast<unsigned>(Unsigned(i, CL_INVALID_VALUE, kMaxPoolThreads));
  if (threads == 0) FailArgument(i, CL_INVALID_VALUE, "at least one thread");
  return threads;
}

int64_t Call::Signed(v8::Local<v8::Value> value, cl_int status) {
  if (failed_) return 0;
  if (value->IsInt32()) return value.As<v8::Int32>()->Value();
  if (value->IsNumber()) {
    double number = value.As<v8::Number>()->Value();
    if (std::fabs(number) <= 9007199254740991.0 && std::floor(number) == number) {
      return static_cast<int64_t>(number);
    }
  } else if (value->IsBigInt()) {
    bool lossless = false;
    int64_t number = value.As<v8::BigInt>()->Int64Value(&lossless);
    if (lossless) return number;
  }
  FailValue(status, "a whole number", value);
  return 0;
}

std::string Call::Text(v8::Local<v8::Value> value, cl_int status) {
  if (failed_) return {};
  if (!value->IsString()) {
    FailValue(status, "a string", value);
    return {};
  }
  Nan::Utf8String text(value);
  std::string read(*text, text.length());
  // Drivers would silently use only the text before the NUL.
  if (read.find('\0') != std::string::npos) FailExpected(status, "a string without NUL characters", "a NUL");
  return read;
}

cl_bitfield Call::Bits(int i) {
  if (i < info_.Length() && info_[i]->IsUndefined()) {
    FailArgument(i, CL_INVALID_VALUE, "flags", "undefined, as for a misspelt name of a constant");
  }
  return Has(i) ? Unsigned(i, CL_INVALID_VALUE) : 0;
}

cl_int Call::Int(v8::Local<v8::Value> value, cl_int status) {
  int64_t number = Signed(value, status);
  if (number != static_cast<cl_int>(number)) FailValue(status, "a whole number of 32 bits", value);
  return static_cast<cl_int>(number);
}

v8::Local<v8::Array> Call::Array(v8::Local<v8::Value> value, cl_int status) {
  if (failed_) return {};
  if (!value->IsArray()) {
    FailValue(status, "an array", value);
    return {};
  }
  auto array = value.As<v8::Array>();
  if (array->Length() > kMaxElements) {
    FailValue(status, "at most " + std::to_string(kMaxElements) + " elements", value);
    return {};
  }
  return array;
}

bool Call::Element(v8::Local<v8::Array> array, uint32_t k, v8::Local<v8::Value>* element) {
  ran_javascript_ = true;
  if (!array->Get(Nan::GetCurrentContext(), k).ToLocal(element)) failed_ = true;  // a getter has thrown
  return !failed_;
}

std::vector<v8::Local<v8::Value>> Call::Elements(v8::Local<v8::Value> value, cl_int status) {
  auto array = Array(value, status);
  std::vector<v8::Local<v8::Value>> elements(failed_ ? 0 : array->Length());
  for (uint32_t k = 0; k < elements.size(); k++) {
    if (!Element(array, k, &elements[k])) return {};
  }
  return elements;
}

std::vector<v8::Local<v8::Value>> Call::Elements(int i, cl_int status) {
  ArgumentScope scope(this, i);
  return Elements(info_[i], status);
}

std::vector<size_t> Call::Sizes(int i, size_t length, cl_int status) {
  std::vector<size_t> sizes;
  if (failed_ || !Has(i)) return sizes;
  ArgumentScope scope(this, i);
  auto elements = Elements(info_[i], status);
  if (!failed_ && elements.size() != length) {
    FailExpected(status, std::to_string(length) + " numbers", std::to_string(elements.size()));
  }
  for (auto element : elements) sizes.push_back(Unsigned(element, status, SIZE_MAX));
  if (failed_) sizes.clear();
  return sizes;
}

WorkSize Call::Work(int i, cl_uint dimensions, cl_int status) {
  WorkSize work;
  if (failed_ || !Has(i)) return work;
  work.given = true;
  bool alone = info_[i]->IsNumber();
  ArgumentScope scope(this, i);
  auto array = alone ? v8::Local<v8::Array>() : Array(info_[i], status);
  if (failed_) return work;
  uint32_t length = alone ? 1 : array->Length();
  if (length != dimensions) {
    FailExpected(status, std::to_string(dimensions) + " numbers", std::to_string(length));
    return work;
  }
  if (alone) {
    work.sizes[0] = Unsigned(info_[i], status, SIZE_MAX);
    return work;
  }
  for (uint32_t k = 0; k < dimensions && !failed_; k++) {
    v8::Local<v8::Value> element;
    if (Element(array, k, &element)) work.sizes[k] = Unsigned(element, status, SIZE_MAX);
  }
  return work;
}

std::vector<size_t> Call::Origin(int i, cl_int status) {
  if (!failed_ && !Has(i)) FailArgument(i, status, "3 numbers");
  auto sizes = Sizes(i, 3, status);
  sizes.resize(3);  // so that callers may pass data() before they check ok()
  return sizes;
}

v8::Local<v8::Value> Call::Property(v8::Local<v8::Object> object, const char* name) {
  v8::Local<v8::Value> value = Nan::Undefined();
  if (failed_) return value;
  ran_javascript_ = true;
  if (!Nan::Get(object, Nan::New(name).ToLocalChecked()).ToLocal(&value)) failed_ = true;  // a getter has thrown
  return failed_ ? v8::Local<v8::Value>(Nan::Undefined()) : value;
}

HostMemory Call::Memory(v8::Local<v8::Value> value, size_t bytes, cl_int status) {
  HostMemory memory;
  if (failed_) return memory;
  if (!HostMemory::Of(value, &memory)) {
    FailValue(status, "a Buffer, a typed array, a DataView or an ArrayBuffer", value);
  } else if (memory.bytes < bytes) {
    FailExpected(status, "at least " + std::to_string(bytes) + " bytes", std::to_string(memory.bytes) + " bytes");
  }
  if (failed_) return {};
  environment_->mappings().Claim(&memory);
  if (!memory.buffer.IsEmpty() && memory.bytes > 0) {
    size_t start = static_cast<char*>(memory.data) - static_cast<char*>(memory.store->Data());
    environment_->handed_out().push_back({nullptr, memory.buffer, start + memory.bytes, status});
  }
  return memory;
}

HostMemory Call::LastingMemory(v8::Local<v8::Value> value, size_t bytes, cl_int status) {
  HostMemory memory = Memory(value, bytes, status);
  if (memory.resizable) {
    FailExpected(status, "an ArrayBuffer of fixed length", "a resizable one");
  }
  return memory;
}

WaitList Call::Events(int i) {
  WaitList list;
  if (failed_ || !Has(i)) return list;
  ArgumentScope scope(this, i);
  for (auto element : Elements(info_[i], CL_INVALID_EVENT_WAIT_LIST)) {
    auto event = Handle(element, Kind::kEvent, CL_INVALID_EVENT_WAIT_LIST);
    if (!event) continue;
    list.events.push_back(event->As<cl_event>());
    // OpenCL asks programs to flush the other queue; without it rusticl waits forever.
    auto queue = event->queue.lock();
    if (queue && queue->raw && queue.get() != first_object_) api.clFlush(queue->As<cl_command_queue>());
  }
  // PoCL never ends a command that waits for a failed event, nor a call that waits for that command.
  for (cl_event event : list.events) {
    cl_int state = CL_COMPLETE;
    AskState(event, &state);
    if (state >= CL_COMPLETE) continue;
    Fail(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
         Ordinal(i) + ": an event failed with status " + std::to_string(state));
    break;
  }
  return list;
}

std::vector<uint64_t> Call::RawProperties(int i, cl_int status) {
  std::vector<uint64_t> list;
  if (failed_ || !Has(i)) return list;
  ArgumentScope scope(this, i);
  for (auto element : Elements(info_[i], status)) {
    if (failed_) break;
    if (element->IsBoolean()) {
      list.push_back(element->IsTrue() ? CL_TRUE : CL_FALSE);
    } else if (element->IsObject()) {
      std::shared_ptr<Object> object;
      for (size_t kind = 0; kind < kKinds && !object; kind++) {
        object = Unwrap(*environment_, static_cast<Kind>(kind), element);
      }
      if (object) object = Handle(element, object->kind, status);
      if (object) {
        list.push_back(reinterpret_cast<uintptr_t>(object->raw));
      } else {
        FailValue(status, "numbers and handles", element);
      }
    } else {
      list.push_back(static_cast<uint64_t>(Signed(element, status)));
    }
  }
  // Drivers read up to the terminating 0; a second one after it is harmless.
  if (!failed_) list.push_back(0);
  return list;
}

v8::Local<v8::Function> Call::Callable(int i) {
  if (failed_ || !Has(i)) return {};
  if (!info_[i]->IsFunction()) {
    FailArgument(i, CL_INVALID_VALUE, "a function");
    return {};
  }
  ran_javascript_ = true;  // hooks of async_hooks
  v8::Local<v8::Value> arguments[] = {info_[i]}, bound;
  if (!Nan::Call(Nan::New(environment_->bind_callback), Nan::New<v8::Object>(), 1, arguments).ToLocal(&bound)) {
    failed_ = true;
    return {};
  }
  return bound.As<v8::Function>();
}

}  // namespace clsort
