// Faults in src/native/: see scripts/mutate.mjs. Each has a file of the addon compiled.

import { MESA } from '../drivers.mjs';
import { tests } from './tests.mjs';

const bounds = tests('opencl/bounds');
const limits = tests('opencl/launch-limits');
const memory = tests('opencl/host-memory');
const transfer = tests('opencl/transfer');
const file = tests('opencl/file-transfer');
const onRusticl = { env: { ...MESA, CLSORT_TEST_DEVICES: 'rusticl' } };
const waits = tests('opencl/waits');
const multiset = tests('io/multiset');
const checksum = tests('sort/proof/checksum', 'the host sums*');

export const ADDON = [
  {
    name: 'memory in flight: swept at every transfer of many',
    file: 'src/native/host_memory.cc',
    find: 'most_ = std::max(kFew, 2 * entries_.size());',
    replace: 'most_ = kFew;',
    tests: [tests('opencl/leaks', '*however many*')],
  },
  {
    name: 'split: keys at the border of two shares belong to the second, wherever they stand',
    file: 'src/native/split.cc',
    find: 'size_t before = border.position <= first ? 0 : std::min<uint64_t>(border.position - first, keys);',
    replace: 'size_t before = 0;',
    tests: [tests('sort/spread/split')],
  },
  {
    name: 'split: two shares are written behind the room that there is for them',
    file: 'src/native/split.cc',
    find: 'size_t begin = next_[2 * i + s], end',
    replace: 'size_t begin = next_[2 * i + s] + 1, end',
    tests: [tests('sort/spread/split')],
  },
  {
    name: 'split: pieces of a share that come by chance are written over each other',
    file: 'src/native/split.cc',
    find: 'begin = counts[s].fetch_add(count);',
    replace: 'begin = counts[s].fetch_add(count / 2);',
    tests: [tests('sort/spread/split')],
  },
  {
    name: 'split: what comes by chance is written behind the room that there is',
    file: 'src/native/split.cc',
    find: 'begin + count <= to.bytes / split_.width ?',
    replace: 'begin + count <= 100 * to.bytes / split_.width ?',
    tests: [tests('sort/spread/split')],
  },
  {
    name: 'split: keys that differ outside of the bits that count come in any order',
    file: 'src/native/split.cc',
    find: 'if (IsDivided() && IsWhole())',
    replace: 'if (IsDivided())',
    tests: [tests('sort/spread/split')],
  },
  {
    name: 'split transfer: the last piece, which is not full, stays',
    file: 'src/native/split_transfer.cc',
    find: 'if (next_[s] <= ring.bytes_) ring.HandOn(next_[s]);',
    replace: '',
    tests: [tests('opencl/split-transfer')],
  },
  {
    name: 'split transfer: what there is no room for is written behind it',
    file: 'src/native/split_transfer.cc',
    find: 'if (at + bytes > ring.bytes_) return;',
    replace: 'if (at > ring.bytes_) return;',
    tests: [tests('opencl/split-transfer')],
  },
  {
    name: 'copies: a share begins at the front of what it copies',
    file: 'src/native/copies.cc',
    find: 'skipped = at - (ends_[i] - copy.bytes)',
    replace: 'skipped = 0',
    tests: [tests('opencl/copies')],
  },
  {
    name: 'transfer ring: the last piece stays',
    file: 'src/native/transfer_ring.cc',
    find: 'last * each + PiecesOf(Length(last), share)',
    replace: 'last * each',
    tests: [tests('opencl/launches')],
  },
  {
    name: 'relay: the other side of one that fails waits for ever',
    file: 'src/native/relay.cc',
    find: '(side == 0 ? to_ : from_)->Fail(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);',
    replace: '',
    tests: [tests('faults/recovery')],
  },
  {
    name: 'relay: a piece comes into a slot of the one ring before what was there has left it',
    file: 'src/native/relay.cc',
    find: 'if (!to_->Enter(i - leaving + slots)) return Stop(1);',
    replace: '',
    tests: [tests('opencl/relay')],
  },
  {
    name: 'relay: what was ended for the other side is told of as a failure',
    file: 'src/native/relay.cc',
    find: 'if (failed_ >= 0) told.status[1 - failed_] = CL_SUCCESS;',
    replace: '',
    tests: [tests('faults/recovery')],
  },
  {
    name: 'split transfer: a slot is filled again while the device reads it',
    file: 'src/native/transfer_ring.cc',
    find: 'return piece < slots_ || Await(pieces_[piece - slots_]) ? Slot(piece) : nullptr;',
    replace: 'return piece < 2 * slots_ || Await(pieces_[piece - 2 * slots_]) ? Slot(piece) : nullptr;',
    tests: [tests('opencl/split-transfer'), tests('opencl/file-transfer')],
  },
  {
    name: 'mapping ahead: the map blocks while it is enqueued',
    file: 'src/native/staging.cc',
    find: 'clEnqueueMapBuffer(queue, buffer, CL_FALSE,',
    replace: 'clEnqueueMapBuffer(queue, buffer, CL_TRUE,',
    tests: [{ ...tests('opencl/file-transfer', '*mapped ahead*'), ...onRusticl }],
  },
  {
    name: 'file transfer: what was hashed before is hashed once more',
    file: 'src/native/file_transfer.cc',
    find: 'size_t skipped = std::min(length, skipped_ > start ? skipped_ - start : 0);',
    replace: 'size_t skipped = 0;',
    tests: [file],
  },
  {
    name: 'file transfer: what the system says is not told',
    file: 'src/native/file_transfer.cc',
    find: 'error_ = error;',
    replace: 'error_ = 0;',
    tests: [file],
  },
  {
    name: 'file transfer: a file that ends early is a failure of the device',
    file: 'src/native/file_transfer.cc',
    find: 'if (status_ == kEndedEarly) status_ = CL_SUCCESS;',
    replace: '',
    tests: [file],
  },
  {
    name: 'range: an offset beyond the end wraps round',
    file: 'src/native/bounds.cc',
    find: 'if (size > extent->bytes || offset > extent->bytes - size) {',
    replace: 'if (offset + size > extent->bytes) {',
    tests: [bounds],
  },
  {
    name: 'box: slices that end within a row',
    file: 'src/native/bounds.cc',
    find: ' || slice % row != 0) {',
    replace: ') {',
    tests: [bounds],
  },
  {
    name: 'overlap: neighbours meet',
    file: 'src/native/bounds.cc',
    find: 'return a < b ? b - a < size : a - b < size;',
    replace: 'return a < b ? b - a <= size : a - b <= size;',
    tests: [bounds],
  },
  {
    name: 'overlap: parts of a buffer begin where it does',
    file: 'src/native/bounds.cc',
    find: 'Meet(source->begin + from_offset, target->begin + to_offset, size);',
    replace: 'Meet(from_offset, to_offset, size);',
    tests: [bounds],
  },
  {
    name: 'multiset: the carry shifted too little',
    file: 'src/native/multiset.cc',
    find: '(low >> 61 | high << 3)',
    replace: '(low >> 61 | high << 2)',
    tests: [multiset],
  },
  {
    name: 'multiset: the last keys are not taken',
    file: 'src/native/multiset.cc',
    find: 'for (; i < keys; i++) take(i, 0);',
    replace: 'for (; i + 1 < keys; i++) take(i, 0);',
    tests: [multiset],
  },
  {
    name: 'checksum: pieces count their words from 0',
    file: 'src/native/checksum.cc',
    find: 'SumWords(data + 4 * first, words, first)',
    replace: 'SumWords(data + 4 * first, words, 0)',
    tests: [checksum],
  },
  {
    name: 'checksum: the last bytes are left out',
    file: 'src/native/checksum.cc',
    find: 'if (bytes % 4) std::memcpy(&rest, data + 4 * whole, bytes % 4);',
    replace: 'if (bytes % 4 > 1) std::memcpy(&rest, data + 4 * whole, bytes % 4 - 1);',
    tests: [checksum],
  },
  {
    name: 'limits: all of the local memory is too much',
    file: 'src/native/launch_limits.cc',
    find: 'if (needs->local_bytes > device->local_bytes) {',
    replace: 'if (needs->local_bytes >= device->local_bytes) {',
    tests: [limits],
  },
  {
    name: 'limits: what a kernel needed before counts',
    file: 'src/native/launch_limits.cc',
    find: `  limits.arguments[index] = bytes;
  limits.device = nullptr;`,
    replace: '  limits.arguments[index] = bytes;',
    tests: [limits],
  },
  {
    name: 'limits: groups are as large as their longest side',
    file: 'src/native/launch_limits.cc',
    find: 'if (size > device.group / items) {',
    replace: 'if (size > device.group) {',
    tests: [limits],
  },
  {
    name: 'transfer: a part of a buffer begins where the whole does',
    file: 'src/native/transfer.cc',
    find: 'to.begin + offset, command.waits.count(),',
    replace: 'offset, command.waits.count(),',
    tests: [transfer, tests('opencl/memory'), bounds],
  },
  {
    name: 'look: a short look is enough',
    file: 'src/native/look.cc',
    find: 'if (LookAtEvent(last.As<cl_event>(), microseconds) == CL_COMPLETE)',
    replace: 'if (LookAtEvent(last.As<cl_event>(), microseconds) <= CL_QUEUED)',
    tests: [tests('opencl/look')],
  },
  {
    name: 'look: what other commands used is not let go',
    file: 'src/native/look.cc',
    find: '== CL_COMPLETE) return (void)call.CheckWait(CL_SUCCESS);',
    replace: '== CL_COMPLETE) return;',
    tests: [tests('opencl/look')],
  },
  {
    name: 'look: memory in flight is let go',
    file: 'src/native/look.cc',
    find: 'for (const SmallRead& read : reads) call.environment()',
    replace: 'for (const SmallRead& read : {reads.front()}) call.environment()',
    tests: [tests('opencl/look')],
  },
  {
    name: 'transfer: memory in flight is let go',
    file: 'src/native/transfer.cc',
    find: 'if (status == CL_SUCCESS && !blocking) {',
    replace: 'if (status == CL_SUCCESS && !blocking && command.waits.count() == 1000) {',
    tests: [memory, tests('opencl/roots'), tests('opencl/leaks')],
  },
  {
    name: 'host memory: memory is swept before its command has ended',
    file: 'src/native/host_memory.cc',
    find: '[](const Entry& entry) { return !Ended(entry.event); });',
    replace: '[](const Entry&) { return false; });',
    tests: [memory, tests('opencl/roots')],
  },
  {
    name: 'wait: the first of several events is enough',
    file: 'src/native/waits.cc',
    find: 'if (found == pending_.end() || --found->second.left > 0) return;',
    replace: 'if (found == pending_.end()) return;',
    tests: [waits, tests('opencl/callbacks')],
  },
  {
    name: 'wait: a failed command counts as done',
    file: 'src/native/waits.cc',
    find: 'if (state < CL_COMPLETE) result = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;',
    replace: 'if (state < CL_COMPLETE) result = CL_SUCCESS;',
    tests: [waits, tests('opencl/errors'), tests('opencl/callbacks')],
  },
  {
    name: 'gate: a user event fails while commands end',
    file: 'src/native/gate.cc',
    find: 'still = AnyUnderWay() ? 0 : still + 1;',
    replace: 'still = kStillLooks;',
    tests: [tests('opencl/gate', '*three looks*')],
  },
];
