// Faults in cl/: see scripts/mutate.mjs.

import { accesses, races, racesIn, sorts, tests } from './tests.mjs';

const amd = tests('algorithms/amd-radix');
const plannedPasses = tests('algorithms/planned-passes');
const several = (algorithm) => tests('algorithms/several-groups', `*${algorithm}*`);
const memberTable = tests('sort/operations/member-table');
const primitives = (title) => tests('primitives/primitives', title);
const labSteps = (title) => tests('lab/steps', title);
const operations = (title) => tests('sort/operations/operations', title);
const verify = tests('sort/verification/verify');
const columnVerifiers = tests('sort/backend/column-verifier');
const gridStride = tests('primitives/primitive-program', '*compaction*');
const compactionOfI32 = tests('primitives/primitive-program', '*compaction of i32*');
const lanes = tests('algorithms/segments-serial');
const scansInLanes = tests('primitives/prefix-scan', 'scans of u32*');
const shortSegments = (dtype) => tests('algorithms/short-segments', `*of ${dtype}`);
const sweeps = tests('algorithms/segmented', 'single-pass sweeps*');
const checkedLanes = tests('algorithms/radix-sorts', 'onesweep by lanes*');
const hybridRadix = (title) => tests('algorithms/hybrid-radix', title);
const dtypes = (algorithm) => tests('algorithms/radix-sorts', `${algorithm} argsorts every dtype*`);

/** A barrier that a fault removes. */
const BARRIER = 'barrier(CLK_LOCAL_MEM_FENCE);';

export const KERNELS = [
  // --- the codec
  {
    name: 'encode: bound off by one',
    file: 'cl/key_codec.clh',
    find: `code <= CODEC_LAST_NUMBER(codec))
        code = CODEC_LAST_NUMBER(codec) - code;
    return`,
    replace: `code < CODEC_LAST_NUMBER(codec))
        code = CODEC_LAST_NUMBER(codec) - code;
    return`,
    tests: [dtypes('serial')],
  },
  {
    name: 'decode: NaNs shifted the wrong way',
    file: 'cl/key_codec.clh',
    find: '(code - CODEC_NAN_SHIFT(codec))',
    replace: '(code + CODEC_NAN_SHIFT(codec))',
    tests: [dtypes('serial')],
  },
  {
    name: 'encode: not masked after the rotation',
    file: 'cl/key_codec.clh',
    find: 'code = (code - CODEC_ROTATE(codec)) & CODE_MAX;',
    replace: 'code = code - CODEC_ROTATE(codec);',
    equivalent:
      'such a code is above every number either way, so that it is not turned round, and the last line cuts it all the same',
    tests: [dtypes('serial')],
  },
  // --- digits, counting
  {
    name: 'digit: upper word taken for the lower',
    file: 'cl/digit.clh',
    find: 'digit.high = shift >> 5;',
    replace: 'digit.high = shift >> 6;',
    tests: [tests('algorithms/radix-sorts', 'tiled writes 8-byte positions')],
  },
  {
    name: 'count: one vector too many at the end',
    file: 'cl/digit_count.clh',
    find: 'i + 3 * stride < whole;',
    replace: 'i + 3 * stride <= whole;',
    tests: [several('tiled')],
  },
  {
    name: 'count: keys after the last vector left out',
    file: 'cl/digit_count.clh',
    find: 'rest < n; rest += stride)',
    replace: 'rest + 1 < n; rest += stride)',
    tests: [sorts('tiled', 3001)],
  },
  {
    name: 'count: columns added in another order',
    file: 'cl/digit_count.clh',
    find: '((i + item) & (DIGIT_COLUMNS - 1))',
    replace: '((i + entry) & (DIGIT_COLUMNS - 1))',
    equivalent: 'all columns are added up, wherever one begins',
    tests: [sorts('tiled', 3001)],
  },
  // --- ranking
  {
    name: 'masks: no barrier before the next key',
    file: 'cl/digit_rank.clh',
    find: `        ${BARRIER}
        const uint rank = (word >> 16) + before;`,
    replace: '        const uint rank = (word >> 16) + before;',
    tests: [races('tiled')],
  },
  {
    name: 'masks: no barrier between read and write',
    file: 'cl/digit_rank.clh',
    find: `        ${BARRIER}
        const uint before = count_ones(word & (bit - 1));`,
    replace: '        const uint before = count_ones(word & (bit - 1));',
    tests: [races('tiled')],
  },
  {
    name: 'masks: a work-item counts itself',
    file: 'cl/digit_rank.clh',
    find: 'const uint before = count_ones(word & (bit - 1));',
    replace: 'const uint before = count_ones(word & (2 * bit - 1));',
    tests: [sorts('tiled')],
  },
  {
    name: 'masks: rank stored one bit too low',
    file: 'cl/digit_rank.clh',
    find: 'ranks[k / 2] = k % 2 ? ranks[k / 2] | rank << 16 : rank;',
    replace: 'ranks[k / 2] = k % 2 ? ranks[k / 2] | rank << 15 : rank;',
    tests: [sorts('tiled', 3001)],
  },
  // --- tiles
  {
    name: 'tile: the first counters are not cleared',
    file: 'cl/radix_tile.clh',
    find: 'for (uint round = 0; round < (ROWS * BINS',
    replace: 'for (uint round = 1; round < (ROWS * BINS',
    tests: [several('tiled')],
  },
  {
    name: 'tile: padding begins a key too late',
    file: 'cl/radix_tile.clh',
    find: `if ((int)(k * ROW_ITEMS) >= tile.left)
                codes[k] = CODE_MAX;`,
    replace: `if ((int)(k * ROW_ITEMS) > tile.left)
                codes[k] = CODE_MAX;`,
    tests: [sorts('tiled')],
  },
  {
    name: 'tile: count of a row is included in its own prefix',
    file: 'cl/radix_tile.clh',
    find: `local_store32(tile.memory, column + row * ROW_BYTES, totals[j]);
                totals[j] += count;`,
    replace: `totals[j] += count;
                local_store32(tile.memory, column + row * ROW_BYTES, totals[j]);`,
    tests: [sorts('single-workgroup')],
  },
  {
    name: 'tile: no barrier after the scan of bins',
    file: 'cl/radix_tile.clh',
    find: `* CODE_BYTES + address);
        }
    }
    ${BARRIER}`,
    replace: `* CODE_BYTES + address);
        }
    }`,
    tests: [races('single-workgroup')],
  },
  {
    name: 'tile: position of a value truncated',
    file: 'cl/radix_tile.clh',
    find: '(places)[(k) / 2] >> 16 :',
    replace: '(places)[(k) / 2] >> 17 :',
    tests: [sorts('tiled', 3001)],
  },
  {
    name: 'tile: one key stored beyond the end',
    file: 'cl/radix_tile.clh',
    find: `if ((int)(k * GROUP_SIZE) < left)
                descends`,
    replace: `if ((int)(k * GROUP_SIZE) <= left)
                descends`,
    tests: [accesses('tiled')],
  },
  {
    name: 'values after: no barrier before the codes are overwritten',
    file: 'cl/radix_tile.clh',
    find: `    ${BARRIER}
    exchange_values(tile, loaded, places);`,
    replace: '    exchange_values(tile, loaded, places);',
    tests: [racesIn('algorithms/several-groups', '*values after*')],
  },
  {
    name: 'copied tile: placed as if it were of the first bin',
    file: 'cl/radix_tile.clh',
    find: 'keys += load_origin(tile, digit_offset(codes[0], digit)) + tile.first;',
    replace: 'keys += load_origin(tile, 0) + tile.first;',
    tests: [checkedLanes],
  },
  {
    name: 'copied tile: left encoded by the last pass',
    file: 'cl/radix_tile.clh',
    find: 'decode ? decode_key(RARE_CODE(codes, first, i), codec)',
    replace: 'decode ? (key_t)RARE_CODE(codes, first, i)',
    tests: [checkedLanes],
  },
  {
    name: 'copied tile: any tile with a crowded bin is copied',
    file: 'cl/radix_tile.clh',
    find: 'if (totals[j] == TILE)',
    replace: 'if (totals[j] > CROWD)',
    tests: [checkedLanes],
  },
  // --- short segments in rows
  {
    name: 'rows: the second of two runs is not reversed before the merge',
    file: 'cl/row_network.clh',
    find: 'compare_lanes(codes, 2 * run - 1, run, room);',
    replace: 'compare_lanes(codes, run, run, room);',
    tests: [shortSegments('u32')],
  },
  {
    name: 'rows: the upper half of 64 codes is compared with itself',
    file: 'cl/row_network.clh',
    find: 'max(codes[slot + 1], others[slot]);',
    replace: 'max(codes[slot + 1], others[slot + 1]);',
    tests: [shortSegments('u32')],
  },
  {
    name: 'rows: equal keys are swapped',
    file: 'cl/segment_rows.cl',
    find: '(c == mine && j < i)',
    replace: '(c == mine && j > i)',
    tests: [shortSegments('u64')],
  },
  {
    name: 'rows: keys with bit windows use the network',
    file: 'cl/segment_rows.cl',
    find: 'if (begin == 0 && mask == CODE_MAX) {',
    replace: 'if (begin == 0) {',
    tests: [shortSegments('u32')],
  },
  {
    name: 'rows: a row sorts one segment too many',
    file: 'cl/segment_rows.cl',
    find: 'if (which < count)',
    replace: 'if (which <= count)',
    tests: [shortSegments('u32')],
  },
  // --- segments by sweeps
  {
    name: 'sweep: positions of a run are counted from its start',
    file: 'cl/segment_sweep.cl',
    find: 'run.start - (flags & FLAG_FROM_SEGMENT ? run.first : 0)',
    replace: 'flags & FLAG_FROM_SEGMENT ? 0 : run.start',
    tests: [sweeps],
  },
  {
    name: 'sweep: runs of a row are counted from the first row',
    file: 'cl/segment_sweep.cl',
    find: 'row_segment(row, each), run - row * of, TILE',
    replace: 'row_segment(row, each), run, TILE',
    tests: [sweeps],
  },
  {
    name: 'sweep: counts of the previous segment are not added at a segment boundary',
    file: 'cl/segment_sweep.cl',
    find: 'if (r + 1 == behind || run.number + 1 == run.of)',
    replace: 'if (r + 1 == behind)',
    tests: [sweeps],
  },
  {
    name: 'sweep: the first run includes its own keys in its prefix',
    file: 'cl/segment_sweep.cl',
    find: '(STATE_VALUE(load_state(&state[j])) - totals[j])',
    replace: '(STATE_VALUE(load_state(&state[j])))',
    tests: [sweeps],
  },
  {
    name: 'sweep: unpublished counts are read as published',
    file: 'cl/tile_look_back.clh',
    find: 'more = more && seen[i] >= STATE_COUNT;',
    replace: 'more = more && seen[i] != 0;',
    tests: [sweeps],
  },
  {
    name: 'sweep: no barrier between two scans',
    file: 'cl/segment_sweep.cl',
    find: `        ${BARRIER}
    } else if (item < BIN_ITEMS) {`,
    replace: '    } else if (item < BIN_ITEMS) {',
    equivalent:
      "only NVIDIA's scan by shuffles reads behind its last barrier; by local memory it ends with one, and that is what is simulated",
    tests: [racesIn('algorithms/segmented', 'single-pass sweeps sort a long segment among*')],
  },
  // --- scans in lanes
  {
    name: 'scan in lanes: a step of the scan is left out',
    file: 'cl/prefix_scan.cl',
    find: 'own = COMBINE(own, QUARTERS_HALF ? none : own.s010145458989cdcd);',
    replace: '',
    tests: [scansInLanes],
  },
  {
    name: 'scan in lanes: keys after the last lanes are missing from the total of a part',
    file: 'cl/prefix_scan.cl',
    find: `for (; at < stop; at++)
        sum = (key_t)COMBINE(sum, (key_t)operand_of(in[at], codec));`,
    replace: '',
    tests: [tests('primitives/prefix-scan')],
  },
  {
    name: 'scan in lanes: an exclusive scan starts with its own keys',
    file: 'cl/prefix_scan.cl',
    find: '(lanes_t)(before.sf, sums.s01234567, sums.s89ab, sums.scd, sums.se)',
    replace: '(lanes_t)(sums.s0, sums.s01234567, sums.s89ab, sums.scd, sums.se)',
    tests: [scansInLanes],
  },
  // --- tiled
  {
    name: 'tiled: carry of the spine dropped',
    file: 'cl/tiled_radix.cl',
    find: 'row[first + item] = carry + before;',
    replace: 'row[first + item] = before;',
    tests: [several('tiled')],
  },
  {
    name: 'tiled: spine without its last barrier',
    file: 'cl/tiled_radix.cl',
    find: `        carry += scratch[GROUP_SIZE - 1];
        ${BARRIER}`,
    replace: '        carry += scratch[GROUP_SIZE - 1];',
    tests: [racesIn('algorithms/several-groups', '*tiled*')],
  },
  {
    name: 'tiled: keys of a tile not added for the next tile',
    file: 'cl/run_move.clh',
    find: 'next[j] += totals[j];',
    replace: '',
    tests: [several('tiled')],
  },
  {
    name: 'tiled: no barrier before the next tile',
    equivalent:
      'what comes before the next barrier clears counters, which nobody reads any more, and all else of the tile is written behind it',
    file: 'cl/run_move.clh',
    find: `#endif
        ${BARRIER}
    }
}`,
    replace: `#endif
    }
}`,
    tests: [racesIn('algorithms/several-groups', '*tiled*')],
  },
  // --- onesweep
  {
    name: 'look-back: counts of tiles are not added',
    file: 'cl/tile_look_back.clh',
    find: '*before += more ? (offset_t)STATE_VALUE(seen[i]) : 0;',
    replace: '*before += more && seen[i] & STATE_SUM ? (offset_t)STATE_VALUE(seen[i]) : 0;',
    tests: [several('look-back')],
  },
  {
    name: 'look-back: steps back by one tile too few',
    file: 'cl/tile_look_back.clh',
    find: '*state -= steps * BINS;',
    replace: '*state -= (steps > 1 ? steps - 1 : steps) * BINS;',
    tests: [several('look-back')],
  },
  {
    name: 'look-back: a tile that published nothing counts as empty',
    file: 'cl/onesweep.cl',
    find: 'before += count_in_tile(keys_in + (ulong)(missing - 1) * TILE, digit, bin, codec, flags);',
    replace: '',
    tests: [several('counts itself')],
  },
  {
    name: 'look-back: digits begin at 0 if nothing was published',
    file: 'cl/onesweep.cl',
    find: 'before += begin_of(counts, histogram_groups, bin);',
    replace: '',
    tests: [several('counts itself')],
  },
  {
    name: 'look-back: states before a sum are added',
    file: 'cl/tile_look_back.clh',
    find: `                found |= more;
                more = false;`,
    replace: '                found |= more;',
    tests: [several('look-back')],
  },
  {
    name: 'onesweep: a sort that gave up continues with its tiles',
    file: 'cl/onesweep.cl',
    find: 'memory[ORIGINS_AT / 4] = stops ? NO_TICKET : ticket;',
    replace: 'memory[ORIGINS_AT / 4] = ticket;',
    tests: [several('a pass that failed')],
  },
  {
    name: 'onesweep: no barrier before the histogram is added up',
    file: 'cl/onesweep.cl',
    find: `codec, encode);
#endif
    ${BARRIER}

    for (uint entry = item; entry < PASSES * BINS;`,
    replace: `codec, encode);
#endif
    for (uint entry = item; entry < PASSES * BINS;`,
    tests: [races('onesweep')],
  },
  {
    name: 'onesweep: equal codes count as a descent',
    file: 'cl/order.clh',
    find: 'earlier > later ? SEEN_DESCENT : SEEN_ASCENT',
    replace: 'earlier >= later ? SEEN_DESCENT : SEEN_ASCENT',
    tests: [tests('algorithms/arrays-in-order', 'onesweep*pair*')],
  },
  {
    name: 'onesweep: a vector of keys is not compared with the next one',
    file: 'cl/digit_count.clh',
    find: 'if (is_followed)',
    replace: 'if (false)',
    tests: [tests('algorithms/arrays-in-order', 'onesweep*pair*')],
  },
  {
    name: 'onesweep: a group that finds no order reports nothing',
    file: 'cl/onesweep.cl',
    find: 'atomic_or(&control[CONTROL_SEEN], IN_NO_ORDER);',
    replace: ';',
    tests: [tests('algorithms/arrays-in-order', 'onesweep*pair*')],
  },
  // --- hybrid radix
  {
    name: 'hybrid radix: a varying digit counts as constant',
    file: 'cl/hybrid_radix.cl',
    find: 'const bool varies = same[number] != (uint)n;',
    replace: 'const bool varies = same[number] < (uint)n / 2;',
    tests: [hybridRadix('*plan*')],
  },
  {
    name: 'hybrid radix: the parity of moves is ignored',
    file: 'cl/hybrid_radix.cl',
    find: '(moves == 0 || (low == 0 && !ends_right(moves, parity)))',
    replace: 'moves == 0',
    tests: [hybridRadix('*plan*')],
  },
  {
    name: 'hybrid radix: the sample is taken at regular intervals',
    file: 'cl/hybrid_radix.cl',
    find: 'return mul_hi(mixed(i), n);',
    replace: 'return i * (n / SAMPLE);',
    tests: [hybridRadix('the sample of hybrid-radix*')],
  },
  {
    name: 'hybrid radix: equal words of a bucket count as equal keys',
    file: 'cl/hybrid_radix.cl',
    find: 'if (no_larger - smaller > 1)',
    replace: 'if (no_larger - smaller > FINISH_WINDOW)',
    tests: [hybridRadix('*each kernel*'), hybridRadix('*every size*')],
  },
  {
    name: 'hybrid radix: equal keys of a bucket are swapped',
    file: 'cl/hybrid_bucket.clh',
    find: 'before += i < at ? other <= code : other < code;',
    replace: 'before += i > at ? other <= code : other < code;',
    tests: [hybridRadix('*every size*')],
  },
  {
    name: 'hybrid radix: a bucket ends with the window',
    file: 'cl/hybrid_radix.cl',
    find: 'if (before != 0 && behind != 0) {',
    replace: 'if (before != 0) {',
    tests: [hybridRadix('*every size*'), hybridRadix('*each kernel*')],
  },
  {
    name: 'hybrid radix: a bucket begins with the window',
    file: 'cl/hybrid_radix.cl',
    find: 'if (before != 0 && behind != 0) {',
    replace: 'if (behind != 0) {',
    tests: [hybridRadix('*extend beyond*')],
  },
  {
    name: 'hybrid radix: the next tile is read while this one is still counted',
    file: 'cl/hybrid_radix.cl',
    find: `#endif
        }
        ${BARRIER}
    }
}`,
    replace: `#endif
        }
    }
}`,
    tests: [racesIn('algorithms/hybrid-radix', '*many tiles*')],
  },
  {
    name: 'hybrid radix: a large bucket ends in the wrong array',
    file: 'cl/hybrid_rest.cl',
    find: 'passes += passes % 2 == 0;',
    replace: 'passes += passes == 0;',
    tests: [hybridRadix('*misses*')],
  },
  {
    name: 'hybrid radix: no barrier after the words of differing bits',
    file: 'cl/hybrid_rest.cl',
    find: `    atomic_or(&differing[1], (uint)(own >> 32));
    ${BARRIER}`,
    replace: '    atomic_or(&differing[1], (uint)(own >> 32));',
    tests: [racesIn('algorithms/hybrid-radix', '*many tiles*')],
  },
  {
    name: 'hybrid radix: the first pass reads an unwritten array',
    file: 'cl/onesweep.cl',
    find: 'keys_in = pass == first_pass ? input : to_output ? alternate : output;',
    replace: 'keys_in = pass == 0 ? input : to_output ? alternate : output;',
    tests: [hybridRadix('*plan*')],
  },
  // --- persistent
  {
    name: 'persistent: the last group is not waited for',
    file: 'cl/persistent_radix.cl',
    find: 'const uint expected = number * (uint)get_num_groups(0);',
    replace: 'const uint expected = (number - 1) * (uint)get_num_groups(0);',
    tests: [several('persistent')],
  },
  {
    name: 'persistent: the words of a launch are not cleared',
    file: 'cl/persistent_radix.cl',
    find: 'word <= CONTROL_FAILED; word++)',
    replace: 'word < CONTROL_LEFT; word++)',
    tests: [several('persistent')],
  },
  {
    name: 'persistent: a tile is included in its own prefix',
    file: 'cl/persistent_radix.cl',
    find: 'earlier += other + i * PARTS < group ?',
    replace: 'earlier += other + i * PARTS <= group ?',
    tests: [several('persistent')],
  },
  // --- single-workgroup
  {
    name: 'single-workgroup: no barrier before codes are read back',
    file: 'cl/tile_sort.clh',
    find: `        exchange_values(tile, values, places);
#endif
        ${BARRIER}`,
    replace: `        exchange_values(tile, values, places);
#endif`,
    tests: [races('single-workgroup')],
  },
  {
    name: 'single-workgroup: one key written beyond the end',
    file: 'cl/tile_sort.clh',
    find: 'if (number < n) {',
    replace: 'if (number <= n) {',
    tests: [accesses('single-workgroup')],
  },
  // --- segments in lanes
  {
    name: 'lanes: padding that is smaller than keys',
    file: 'cl/lane_sort.clh',
    find: 'codes[i] = all > (lanes_t)(key_t)i ? codes[i] : (lanes_t)(key_t)CODE_MAX;',
    replace: 'codes[i] = all >= (lanes_t)(key_t)i ? codes[i] : (lanes_t)(key_t)CODE_MAX;',
    tests: [lanes],
  },
  {
    name: 'lanes: the first step of a merge leaves out a pair',
    file: 'cl/lane_sort.clh',
    find: 'for (uint i = run - end; i < run; i++)',
    replace: 'for (uint i = run - end + 1; i < run; i++)',
    tests: [lanes],
  },
  {
    name: 'lanes: quarters in the wrong place',
    file: 'cl/lane_sort.clh',
    find: 'block[i + 4] = QUARTERS_EVEN(odd, next_odd);',
    replace: 'block[i + 4] = QUARTERS_ODD(odd, next_odd);',
    tests: [lanes],
  },
  {
    name: 'lanes: keys with equal codes on a bit window are swapped',
    file: 'cl/serial_segments.cl',
    find: 'begin == 0 && mask == CODE_MAX;',
    replace: 'begin == 0;',
    tests: [lanes],
  },
  {
    name: 'lanes: a segment that did not fit is left out',
    file: 'cl/serial_segments.cl',
    find: 'return left > 0 ? most + 1 : UINT_MAX;',
    replace: 'return left > 1 ? most + 1 : UINT_MAX;',
    tests: [lanes],
  },
  {
    name: 'lanes: a value is written to the position of the adjacent row',
    file: 'cl/lane_sort.clh',
    find: 'to[i] = from[places[i * LANES + row]];',
    replace: 'to[i] = from[places[i * LANES + (row ^ 1)]];',
    tests: [lanes],
  },
  {
    name: 'lanes: positions in a segment are counted from the start of the array',
    file: 'cl/lane_sort.clh',
    find: 'values->from_row ? 0 : first;',
    replace: 'first;',
    tests: [lanes],
  },
  {
    name: 'lanes: equal wide keys are unstable',
    file: 'cl/lane_sort.clh',
    find: ' | (convert_int16(first == second) & (place > other));',
    replace: ';',
    tests: [lanes],
  },
  {
    name: 'lanes: values are read from overwritten memory',
    file: 'cl/lane_sort.clh',
    find: 'values->from + row * values->stride;',
    replace: 'values->to + first;',
    tests: [lanes],
  },
  // --- compaction in lanes
  {
    name: 'compaction in lanes: one element too many is written',
    file: 'cl/compact.cl',
    find: 'if (GIVE != 3 && to + LANES <= own.s0 && rest + LANES <= own.s1) {',
    replace: 'if (GIVE != 3 && rest != NO_REST) {',
    tests: [gridStride],
  },
  {
    name: 'compaction in lanes: the first key is compared with itself',
    file: 'cl/compact.cl',
    find: '(key_t)~keys.s0',
    replace: '(key_t)keys.s0',
    tests: [gridStride],
  },
  {
    name: 'compaction in lanes: inversion of the selection is ignored',
    file: 'cl/compact.cl',
    find: '(invert != 0 ? -1 : 0)',
    replace: '0',
    tests: [gridStride],
  },
  {
    name: 'compaction: elements beyond the end count as unselected',
    file: 'cl/compact.cl',
    find: '(invert != 0 ? ~0u : 0)) & some;',
    replace: '(invert != 0 ? ~0u : 0));',
    tests: [gridStride],
  },
  {
    name: 'compaction: cached keys of all rounds are those of the first round',
    file: 'cl/compact.cl',
    find: '(keys_t)(PACK_KEYS(keys[round], 0));',
    replace: '(keys_t)(PACK_KEYS(keys[0], 0));',
    tests: [compactionOfI32],
  },
  {
    name: 'compaction: a moved key comes from another tile',
    file: 'cl/compact.cl',
    find: 'GIVE == 3 ? carried[from + placed]',
    replace: 'GIVE == 3 ? carried[placed]',
    tests: [compactionOfI32],
  },
  {
    name: 'scan: cached tiles are always exclusive',
    file: 'cl/prefix_scan.cl',
    find: 'sums[i] = inclusive ? next : sum;',
    replace: 'sums[i] = sum;',
    tests: [tests('primitives/prefix-scan', '*of u32*')],
  },
  {
    name: 'histogram: vectors of the partial last round are left out',
    file: 'cl/histogram_columns.cl',
    find: '    if (vector < vectors) {',
    replace: '    if (false) {',
    tests: [tests('primitives/primitive-program', '*histogram*')],
  },
  {
    name: 'reduction: vectors of the partial last round are left out',
    file: 'cl/reduce_once.cl',
    find: '    if (at < vectors) {',
    replace: '    if (false) {',
    tests: [tests('primitives/primitive-program', '*histogram*')],
  },
  {
    name: 'reduction in lanes: keys after the last lanes are left out',
    file: 'cl/reduce_once.cl',
    find: `for (; at < stop; at++)
        ADD_OPERAND(sum, operand_of(in[at], codec))`,
    replace: '',
    tests: [tests('primitives/primitive-program', '*histogram*')],
  },
  {
    name: 'reduction in lanes: a part starts at the start of the previous one',
    file: 'cl/reduce_once.cl',
    find: 'ulong at = blocks * group / groups * (2 * LANES);',
    replace: 'ulong at = blocks * (group - (group > 0)) / groups * (2 * LANES);',
    tests: [tests('primitives/primitive-program', '*histogram*')],
  },
  {
    name: 'status words: a launch gets words of the previous one',
    file: 'src/device/status-words.ts',
    find: 'this.#usedWords += count;',
    replace: 'this.#usedWords += 1;',
    tests: [tests('device/status-words')],
  },
  {
    name: 'status words: words are not reset to zero',
    file: 'src/device/status-words.ts',
    find: "if (this.#initial === 'zero' && this.#readback && !this.#readback.isZero)",
    replace: "if (this.#initial === 'uninitialized')",
    tests: [tests('device/status-words')],
  },
  // --- pass plan, serial
  {
    name: 'pass plan: decoded in the last digit, even if its pass is skipped',
    file: 'cl/pass_plan.clh',
    find: 'rank == window.passes - 1 ? sort & FLAG_DECODE',
    replace: 'digit == digits - 1 ? sort & FLAG_DECODE',
    tests: [plannedPasses],
  },
  {
    name: 'pass plan: the alternate array is used in place of the output',
    file: 'cl/pass_plan.clh',
    find: 'in_place ? rank % 2 == 0 :',
    replace: 'in_place ? rank % 2 == 1 :',
    tests: [plannedPasses],
  },
  {
    name: 'serial: differing bits are those of the last key',
    file: 'cl/serial_radix.cl',
    find: `        for (; i < end; i++) {
            const code_t code = code_of(input[i], codec, sort);
            differ |= code ^ first;`,
    replace: `        for (; i < end; i++) {
            const code_t code = code_of(input[i], codec, sort);
            differ = code ^ first;`,
    tests: [plannedPasses, sorts('serial', 3001)],
  },
  {
    name: 'serial: the last lines are not written',
    file: 'cl/serial_radix.cl',
    find: `    for (uint bin = 0; bin < BINS; bin++) {
        WRITE_LINE(key_t`,
    replace: `    for (uint bin = 0; bin + 1 < BINS; bin++) {
        WRITE_LINE(key_t`,
    tests: [tests('algorithms/radix-sorts', 'serial with cache lines sorts every distribution*')],
  },
  {
    name: 'serial: no positions when no key moves',
    equivalent:
      'positions are never made in place (valuesInPlace in planned-passes.ts), so that they are brought anyway',
    file: 'cl/serial_radix.cl',
    find: ' || (turn.flags & FLAG_POSITIONS)) {',
    replace: ') {',
    tests: [plannedPasses, tests('algorithms/radix-sorts', 'serial sorts every distribution*')],
  },
  // --- amd
  {
    name: 'amd: carry between tiles of run totals dropped',
    file: 'cl/amd_radix.cl',
    find: 'uint prefix = carry + work_group_scan_total(sum, sums, &total);',
    replace: 'uint prefix = work_group_scan_total(sum, sums, &total);',
    tests: [several('amd')],
  },
  {
    name: 'amd: scan along blocks leaves one block out',
    file: 'cl/amd_radix.cl',
    find: 'block >= distance ? sums[from][at - distance]',
    replace: 'block > distance ? sums[from][at - distance]',
    tests: [amd],
  },
  {
    name: 'amd: counters not cleared before all count',
    file: 'cl/amd_radix.cl',
    find: `        bins[bin] = 0;
    ${BARRIER}`,
    replace: '        bins[bin] = 0;',
    tests: [races('amd')],
  },
  {
    name: 'amd: no barrier between the steps of the scan',
    file: 'cl/amd_radix.cl',
    find: `distance <<= 1) {
        ${BARRIER}`,
    replace: 'distance <<= 1) {',
    tests: [races('amd')],
  },
  {
    name: 'amd: prefix of another bin',
    file: 'cl/amd_radix.cl',
    find: 'prefix[2 * runs], prefix[3 * runs]',
    replace: 'prefix[runs], prefix[3 * runs]',
    tests: [amd],
  },
  {
    name: 'amd: padding written beyond the end',
    file: 'cl/amd_radix.cl',
    find: `        if (from >= n)
            continue;`,
    replace: `        if (from > n)
            continue;`,
    tests: [accesses('amd')],
  },
  {
    name: 'amd: equal digits in reverse',
    file: 'cl/amd_radix.cl',
    find: `    for (uint k = 0; k < STRETCH; k++) {
        const size_t from = first + k;`,
    replace: `    for (uint k = STRETCH; k-- > 0;) {
        const size_t from = first + k;`,
    tests: [sorts('amd')],
  },
  // --- the classic sorts
  {
    name: 'split: carry of the scan dropped',
    file: 'cl/split_radix.cl',
    find: 'uint before = carry + work_group_scan_total(sum, sums, &total);',
    replace: 'uint before = work_group_scan_total(sum, sums, &total);',
    tests: [sorts('split', 2 ** 20 + 3)],
  },
  {
    name: 'merge: equal keys of the left run do not count',
    file: 'cl/merge.cl',
    find: 'other < code || (equal && other == code)',
    replace: 'other < code',
    tests: [sorts('merge', 3001)],
  },
  {
    name: 'merge: an equal right key before the left one',
    file: 'cl/merge.cl',
    find: '<= (keys[middle + b] & (code_t)window))',
    replace: '< (keys[middle + b] & (code_t)window))',
    tests: [sorts('merge', 3001)],
  },
  {
    name: 'bitonic: ties in the wrong order',
    file: 'cl/bitonic.cl',
    find: '((a) == (b) && (order_a) > (order_b))',
    replace: '((a) == (b) && (order_a) < (order_b))',
    tests: [sorts('bitonic')],
  },
  {
    name: 'bitonic: the mirror is one off',
    file: 'cl/bitonic.cl',
    find: '*upper = base + size - 1 - within;',
    replace: '*upper = base + size - within;',
    tests: [sorts('bitonic')],
  },
  {
    name: 'bitonic: no barrier between steps in a block',
    file: 'cl/bitonic.cl',
    find: `distance >>= 1, stride = distance) {
            ${BARRIER}`,
    replace: 'distance >>= 1, stride = distance) {',
    tests: [races('bitonic')],
  },
  {
    name: 'odd-even: equal keys swapped',
    file: 'cl/odd_even.cl',
    find: '(code_a & (code_t)window) > (code_b & (code_t)window)',
    replace: '(code_a & (code_t)window) >= (code_b & (code_t)window)',
    tests: [sorts('odd-even')],
  },
  {
    name: 'row: values of a row read while others are written',
    file: 'cl/row_sort.cl',
    find: '    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n',
    replace: '',
    tests: [races('row')],
  },
  {
    name: 'row: ones placed after too few zeros',
    file: 'cl/row_sort.cl',
    find: 'all_zeros + at - smaller',
    replace: 'all_zeros + at - smaller - (at > 40)',
    tests: [sorts('row', 64)],
  },
  // --- primitives
  {
    name: 'work-group scan: the last step left out',
    file: 'cl/work_group_scan.clh',
    find: 'for (uint distance = 1; distance < items; distance <<= 1) {',
    replace: 'for (uint distance = 1; 2 * distance < items; distance <<= 1) {',
    tests: [sorts('tiled', 3001)],
  },
  {
    name: "scan: a tile's own sum added",
    file: 'cl/scan.cl',
    find: 'out[i] += sums[i / tile];',
    replace: 'out[i] += sums[i / tile + (i % tile == 0)];',
    tests: [labSteps('scan*')],
  },
  {
    name: 'scan: no barrier between read and addition',
    file: 'cl/scan.cl',
    find: `totals[item - distance] : (scan_t)0;
        ${BARRIER}`,
    replace: 'totals[item - distance] : (scan_t)0;',
    tests: [racesIn('lab/steps', 'scan*')],
  },
  {
    name: 'reduce: rounding errors are lost',
    file: 'cl/reduce.cl',
    find: 'const sum_t next = COMBINE(sum, (value) - lost);',
    replace: 'const sum_t next = COMBINE(sum, (value));',
    tests: [tests('primitives/long-inputs', 'reduce*')],
  },
  {
    name: 'histogram: the last edge is in no bin',
    file: 'cl/histogram.cl',
    find: 'code > edges[bins])',
    replace: 'code >= edges[bins])',
    tests: [primitives('*histogram*')],
  },
  {
    name: 'histogram lab: a tagged counter is complete without a check of its tag',
    file: 'cl/histogram_lab.cl',
    find: 'if (pending && row[bin] == mine)',
    replace: 'if (pending)',
    tests: [tests('lab/histogram', '*tagged*')],
  },
  {
    name: 'scan lab: a tile does not wait for its predecessors',
    file: 'cl/scan_lab.cl',
    find: 'before += atomic_or(&sums[of - 1], 0);',
    replace: 'before += 0;',
    tests: [tests('explain/explain', 'scan single_pass*')],
  },
  {
    name: 'scan lab: a group that reaches the poll limit leaves out the missing sums',
    file: 'cl/scan_lab.cl',
    find: 'before += in[i];',
    replace: 'before += 0;',
    tests: [labSteps('*single pass*')],
  },
  {
    name: 'gather: an index equal to the length is accepted',
    file: 'cl/gather.cl',
    find: 'if (from >= length)',
    replace: 'if (from > length)',
    tests: [tests('sort/operations/column-primitives', '*gather*')],
  },
  {
    name: 'compaction: a count above the number of keys is accepted',
    file: 'src/primitives/compact.ts',
    find: 'if (count > n)',
    replace: 'if (count > 2 ** 32)',
    tests: [tests('faults/faults', 'filter and partition of host arrays, verified: a word*')],
  },
  {
    name: 'gather of columns: an index equal to the length is accepted',
    file: 'cl/gather_columns.cl',
    find: 'const bool is_inside = from < length;',
    replace: 'const bool is_inside = from <= length;',
    tests: [tests('primitives/gather-columns')],
  },
  {
    name: 'gather of columns: every launch uses the columns of the first one',
    file: 'src/primitives/gather-columns.ts',
    find: 'const at = first + (i < count ? i : 0);',
    replace: 'const at = i < count ? i : 0;',
    tests: [tests('primitives/gather-columns')],
  },
  // --- operations
  {
    name: 'top-k: one key equal to the threshold too many',
    file: 'cl/top_k.cl',
    find: '(mine && equal_before < missing)',
    replace: '(mine && equal_before <= missing)',
    tests: [{ ...tests('sort/operations/top-k'), oclgrind: true }],
  },
  {
    name: 'first keys: the digit is in the wrong bin',
    file: 'cl/find_bin.clh',
    find: 'while (of_rank - before >= bins[bin])',
    replace: 'while (of_rank - before > bins[bin])',
    tests: [tests('sort/operations/top-few')],
  },
  {
    name: 'few first keys: a list is read from the wrong half',
    file: 'cl/top_few.cl',
    find: 'const ulong from = state.source == 2 ? capacity : 0',
    replace: 'const ulong from = state.source == 1 ? capacity : 0',
    tests: [tests('sort/operations/top-few')],
  },
  {
    name: 'few first keys: positions of equal keys are not compared',
    file: 'cl/top_few.cl',
    find: 'if (masked == code && (place & position_mask) > position)',
    replace: 'if (false)',
    tests: [tests('sort/operations/top-few')],
  },
  {
    name: 'few first keys: equal keys share a rank',
    file: 'cl/top_few.cl',
    find: '(theirs == code && list_positions[from + other] < position)',
    replace: 'false',
    tests: [tests('sort/operations/top-few')],
  },
  {
    name: 'keys by rank: the keys before a digit count again',
    file: 'cl/rank_select.cl',
    find: 'state.rank -= found_bin[1];',
    replace: '',
    tests: [tests('primitives/rank-select')],
  },
  {
    name: 'keys by rank: a list is read from the wrong half',
    file: 'cl/rank_select.cl',
    find: '(state.source - 1) * capacity',
    replace: '(2 - state.source) * capacity',
    tests: [tests('primitives/rank-select')],
  },
  {
    name: 'top-k of segments: one key equal to the threshold too many',
    file: 'cl/select_segments.cl',
    find: '(mine[i] && equal_before < missing)',
    replace: '(mine[i] && equal_before <= missing)',
    tests: [tests('primitives/select-segments')],
  },
  {
    name: 'top-k of short segments: one key equal to the threshold is missing',
    file: 'cl/top_short.cl',
    find: '(agrees[i] && equal < missing)',
    replace: '(agrees[i] && equal + 1 < missing)',
    tests: [tests('sort/operations/select', '*from short*')],
  },
  {
    name: 'top-k of short segments: counting of digits ends with one candidate too many',
    file: 'cl/top_short.cl',
    find: 'shift > 0 && missing < candidates',
    replace: 'shift > 0 && missing + 1 < candidates',
    tests: [tests('sort/operations/select', '*from short*')],
  },
  {
    name: 'top-k of short segments: equal keys are unstable',
    file: 'cl/top_short.cl',
    find: '(chosen[other] == code && other < item)',
    replace: '(chosen[other] == code && other > item)',
    tests: [tests('sort/operations/select', '*from short*')],
  },
  {
    name: 'top-k of short segments: equal keys are unstable if there are many',
    file: 'cl/top_short.cl',
    find: '(code == other_code && at > other_at)',
    replace: '(code == other_code && at < other_at)',
    tests: [tests('sort/operations/select', '*from short*')],
  },
  {
    name: 'top-k of short segments: candidates of one digit stay candidates of the next',
    file: 'cl/top_short.cl',
    find: 'agrees[i] &= code_digit',
    replace: 'agrees[i] |= code_digit',
    tests: [tests('sort/operations/select', '*from short*')],
  },
  {
    name: 'top-k of segments: descending offsets are accepted',
    file: 'cl/top_segments.cl',
    find: '(end < begin ||',
    replace: '(false ||',
    tests: [tests('sort/operations/select', '*selected from long*')],
  },
  {
    name: 'look-back: a sum computed for another tile is left out',
    file: 'cl/look_back.clh',
    find: 'before = COMBINE(worked_out_, before);',
    replace: 'before = COMBINE(IDENTITY, before);',
    tests: [tests('primitives/prefix-scan')],
  },
  {
    name: 'top-k: no barrier before the total is read',
    file: 'cl/top_k.cl',
    find: `            total = before + mine;
        ${BARRIER}`,
    replace: '            total = before + mine;',
    tests: [racesIn('sort/operations/top-k')],
  },
  {
    name: 'top-k: no barrier after a tile',
    file: 'cl/top_k.cl',
    find: `        equal += total >> 16;
        ${BARRIER}`,
    replace: '        equal += total >> 16;',
    equivalent: 'before the total is written again, all have come to the barriers of the scan',
    tests: [racesIn('sort/operations/top-k')],
  },
  {
    name: 'segments: the first key belongs to the previous segment',
    file: 'cl/segment.cl',
    find: 'if (offsets[middle] <= i)',
    replace: 'if (offsets[middle] < i)',
    tests: [operations('*segment*')],
  },
  {
    name: 'member table: a key beyond the range is looked up in the table',
    file: 'cl/member_table.cl',
    find: 'offset <= range ? table[offset] : 0',
    replace: 'table[min((ulong)offset, range)]',
    tests: [memberTable],
  },
  {
    name: 'member table: keys that are missing are not marked',
    file: 'cl/member_table.cl',
    find: 'found ^ inverted',
    replace: 'found',
    tests: [memberTable],
  },
  {
    name: 'member table: the greatest key is not marked',
    file: 'cl/member_table.cl',
    find: 'offset <= range && table[offset] == 0',
    replace: 'offset < range && table[offset] == 0',
    tests: [memberTable],
  },
  {
    name: 'unique: the count of the last key is one too low',
    file: 'cl/unique.cl',
    find: 'places[i + 1] : n) - places[i]',
    replace: 'places[i + 1] : n - 1) - places[i]',
    tests: [operations('*unique*')],
  },
  {
    name: 'canonical: infinity becomes NaN',
    file: 'cl/canonical_key.clh',
    find: 'magnitude > (code_t)infinity',
    replace: 'magnitude >= (code_t)infinity',
    tests: [operations('*unique*')],
  },
  {
    name: 'verify: no comparison across blocks',
    file: 'cl/verify.cl',
    find: 'const uint pairs = block + count < n ? count : count - 1;',
    replace: 'const uint pairs = count - 1;',
    tests: [verify],
  },
  {
    name: 'verify: equal keys with the same position are accepted',
    file: 'cl/verify.cl',
    find: '(beside[i] >= beside[i + 1])',
    replace: '(beside[i] > beside[i + 1])',
    tests: [verify],
  },
  {
    name: 'verify scan: an exclusive result that includes its own key is accepted',
    file: 'cl/verify_scan.cl',
    find: 'operand_of(in[i - 1], codec)',
    replace: 'operand_of(in[i], codec)',
    tests: [columnVerifiers],
  },
  {
    name: 'verify unique: counts are ignored',
    file: 'cl/verify_unique.cl',
    find: 'hash_key(key) * counts[i]',
    replace: 'hash_key(key)',
    tests: [columnVerifiers],
  },
  {
    name: 'verify top: any position is accepted',
    file: 'cl/verify_top.cl',
    find: 'wrong += keys[position] != top[i];',
    replace: '',
    tests: [columnVerifiers],
  },
  {
    name: 'verify sequence: inversion of the selection is ignored',
    file: 'cl/verify_sequence.cl',
    find: 'if (is_inside == (invert != 0))',
    replace: 'if (!is_inside)',
    tests: [columnVerifiers],
  },
  {
    name: 'checksum: the last bytes overlap',
    file: 'cl/checksum.cl',
    find: '<< (8 * (i & 3));',
    replace: '<< (4 * (i & 3));',
    tests: [tests('sort/verification/checksum')],
  },
];
