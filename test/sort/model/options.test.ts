import test from 'ava';
import { dtypeInfo } from '../../../src/keys/dtype.js';
import { bitWindow, type SortOptions } from '../../../src/sort/model/options.js';
import { parseOpenOptions, parseSortOptions } from '../../../src/sort/model/parse-options.js';
import { UsageError } from '../../../src/util/errors.js';

test('missing and undefined options get their defaults', (t) => {
  const settings = parseSortOptions({ verify: undefined } as unknown as SortOptions);
  t.like(settings, { descending: false, nan: 'last', algorithm: 'auto', scan: 'auto', verify: false });
  t.is(settings.bits, undefined);
});

test('an unknown option throws an error that suggests a known name', (t) => {
  const error = t.throws(() => parseSortOptions({ decending: true } as SortOptions), {
    instanceOf: UsageError,
  });
  t.regex(error?.message ?? '', /for an option but got "decending"\. Did you mean "descending"\?/);
  const other = t.throws(() => parseSortOptions({ colour: 1 } as never), { instanceOf: UsageError });
  t.regex(other?.message ?? '', /expected one of descending, .* for an option but got "colour"$/);
  t.is(error?.code, 'ERR_CLSORT_USAGE');
});

test('invalid option values throw an error that names the expected values', (t) => {
  for (const [options, expected] of [
    [{ descending: 1 }, /true or false/],
    [{ nan: 'middle' }, /'first', 'last'/],
    [{ bitRange: [8, 4] }, /begin <= end/],
    [{ bitRange: [0.5, 4] }, /begin <= end/],
    [{ bitRange: '0:4' }, /begin <= end/],
    [{ dtype: 'float' }, /'u8'/],
    [{ device: ' ' }, /a name/],
    [{ advanced: { scan: 4 } }, /expected .*3, 5, 'auto' for advanced\.scan but got 4/],
    [{ advanced: { radixBits: 0 } }, /1 to 12/],
    [{ onMismatch: 'ignore' }, /'retry', 'throw'/],
    [{ signal: {} }, /AbortSignal/],
    [{ onReport: true }, /a function/],
    [{ timeout: -1 }, /above 0/],
    [{ advanced: { tuning: { chunk: 'large' } } }, /numbers/],
    [{ advanced: { tuning: 'chunk' } }, /an object of numbers/],
    [{ advanced: [4] }, /an object such as { radixBits: 4 }/],
    [
      { advanced: { radxBits: 4 } },
      /for an option of advanced but got "radxBits"\. Did you mean "radixBits"/,
    ],
    [{ advanced: { tuning: { chnk: 4 } } }, /for advanced\.tuning but got "chnk"\. Did you mean "chunk"/],
  ] as const) {
    const error = t.throws(() => parseSortOptions(options as unknown as SortOptions), {
      instanceOf: UsageError,
    });
    t.regex(error?.message ?? '', expected);
    t.regex(error?.message ?? '', new RegExp(Object.keys(options)[0] ?? ''));
  }
});

test('options that are not an object throw', (t) => {
  for (const options of [null, [], 'descending', 3]) {
    t.throws(() => parseSortOptions(options as unknown as SortOptions), { instanceOf: UsageError });
  }
});

test('the options of open accept a device and reject sort options', (t) => {
  t.is(parseOpenOptions().device, 'auto');
  t.is(parseOpenOptions({ device: 'host' }).device, 'host');
  t.throws(() => parseOpenOptions({ descending: true } as never), { instanceOf: UsageError });
});

test('a bit window lies within the key and is the whole key by default', (t) => {
  t.deepEqual(bitWindow(undefined, dtypeInfo('u16')), [0, 16]);
  t.deepEqual(bitWindow([3, 3], dtypeInfo('u16')), [3, 3]);
  t.throws(() => bitWindow([0, 17], dtypeInfo('u16')), { instanceOf: UsageError, message: /16 bits/ });
});
