import { readFileSync } from 'node:fs';
import { tableFromIPC } from 'apache-arrow';
import ava from 'ava';
import { ClsortError } from '../../../../src/util/errors.js';
import { scratchFolder } from '../../../cli/cli.js';
import { type SortedJob, sorted } from './sorted.js';

const test = ava.serial; // all write the same files
const { path, remove } = scratchFolder();
ava.after.always(remove);

/** Lines, how they are sorted, and the expected result: line numbers, the output or the error. */
type Case = readonly [
  lines: readonly string[],
  job: SortedJob,
  expected: readonly number[] | string | RegExp,
];

function cases(title: string, all: readonly Case[]): void {
  test(title, async (t) => {
    for (const [lines, job, expected] of all) {
      const label = JSON.stringify([lines[0]?.slice(0, 60), job]);
      const input = `${lines.join('\n')}\n`;
      const run = sorted(path, input, { from: 'ndjson', ...job });
      if (expected instanceof RegExp) {
        const error = await t.throwsAsync(run, { instanceOf: ClsortError }, label);
        t.regex(error?.message ?? '', expected, label);
      } else {
        const wanted =
          typeof expected === 'string' ? expected : `${expected.map((i) => lines[i]).join('\n')}\n`;
        t.is((await run).text, wanted, label);
      }
    }
  });
}

cases('numbers are compared exactly', [
  [['{"a":18446744073709551617,"n":1}', '{"a":18446744073709551616,"n":2}'], { by: 'a' }, [1, 0]],
  [['{"a":9007199254740993}', '{"a":9007199254740992}'], { by: 'a' }, [1, 0]],
  [['{"a":0.30000000000000000002}', '{"a":0.30000000000000000001}', '{"a":3e-1}'], { by: 'a' }, [2, 1, 0]],
  [['{"a":-1e400}', '{"a":1}', '{"a":null}', '{}', '{"a":-2e400}'], { by: 'a' }, [4, 0, 1, 2, 3]],
  [['{"a":NaN}', '{"a":1}', '{"a":-Infinity}'], { by: 'a' }, [2, 1, 0]],
]);

cases('scalars on lines are keys', [
  [['3', '1', '2'], { by: '0' }, [1, 2, 0]],
  [['3', '1', '2'], { by: 'json', head: 1 }, [1]],
  [['"b"', '"a"', 'null'], { by: 'json' }, [1, 0, 2]],
  [['[2]', '[1]'], { by: 'json' }, /column json: it holds a list or an object on line 1, which has no order/],
  [['1', '{"a":1}'], { by: 'json' }, /line 2 is an object but line 1 is not/],
  [['{"a":1}', '1'], { by: 'a' }, /line 1 is an object but line 2 is not/],
]);

cases('keys are found by name or by path, whatever the names are', [
  [['{"":2}', '{"":1}'], { by: '""' }, [1, 0]],
  [['{"a":2,"A":1}', '{"a":1,"A":2}'], { by: 'A' }, [0, 1]],
  [['{"u":{"id":2}}', '{"u":{"id":1}}', '{"u":3}'], { by: '/u/id' }, [1, 0, 2]],
  [['{"u":[1,{"v":2}]}', '{"u":[2,{"v":1}]}', '{"u":[]}'], { by: '/u/1/v' }, [1, 0, 2]],
  [['{"u":[5,1]}', '{"u":[ 4 ,9]}', '{"u":{"0":3}}'], { by: '/u/0' }, [2, 1, 0]],
  [['{"u":[2]}', '{"u":[1]}'], { by: '/u/00' }, [0, 1]],
  [['{"/u":2,"u":1}', '{"/u":1,"u":2}'], { by: '/u' }, [1, 0]],
  [['{"a~/":{"b":2}}', '{"a~/":{"b":1}}'], { by: '/a~0~1/b' }, [1, 0]],
  [['{"\\u0061":2}', '{"a":1}'], { by: 'a' }, [1, 0]],
  [['{"a":1,"a":2}'], { by: 'a' }, /line 1 has the name "a" twice/],
  [['{"a":1}', '{"b":1,"b":2}'], { by: 'a' }, /line 2 has the name "b" twice/],
  [['{"a":1}'], { by: 'b' }, /cannot find column b in .*: its columns are a/],
]);

cases('texts are ordered by their characters, and other kinds beside them as they are written', [
  [['{"a":"\\u0062"}', '{"a":"a"}', '{"a":"\\n"}'], { by: 'a' }, [2, 1, 0]],
  [['{"a":"10"}', '{"a":"9"}'], { by: 'a' }, [0, 1]],
  [['{"a":"10"}', '{"a":"9"}'], { by: 'a:i64' }, [1, 0]],
  [['{"a":true}', '{"a":false}'], { by: 'a' }, [1, 0]],
  [['{"a":"2020-01-02"}', '{"a":"2020-01-01"}'], { by: 'a' }, [1, 0]],
]);

cases('errors name the right line', [
  [['{"a":"\\ud800"}', '{"a":"b"}'], { by: 'a' }, /line 1 has a string with half of a surrogate pair/],
  [['{"a":1}', '', '{bad'], { by: 'a' }, /line 3 is not JSON: a name in quotes is missing at character 2/],
  [['{"a":1} x'], { by: 'a' }, /line 1 is not JSON: other text follows the value/],
  [['{"a":01}'], { by: 'a' }, /line 1 is not JSON/],
  [['{"a":"\\x"}'], { by: 'a' }, /line 1 is not JSON: an escape sequence is unknown/],
  [['{"a":1}', '{"a":"x"}'], { by: 'a:f64' }, /line 2 has 'x' in column a, which is not of type f64/],
]);

cases('lines become records of CSV with the same digits, and lists are refused', [
  [
    ['{"a":18446744073709551617,"n":1}', '{"a":2,"t":"x,\\"y"}'],
    { by: 'n', into: 'csv' },
    'a,n,t\n18446744073709551617,1,\n2,,"x,""y"\n',
  ],
  [['{"a":1.10}', '{"a":""}'], { by: 'a', into: 'csv' }, 'a\n""\n1.10\n'],
  [['{"a":[1]}'], { by: 'a', into: 'csv' }, /column a: it holds a list or an object/],
  [
    ['{"a":1,"b":[1]}'],
    { by: 'a', into: 'csv' },
    /cannot write column b to .*: csv cannot hold lists and objects/,
  ],
  [['{"a":1,"b":[1,  2.50]}'], { by: 'a', columns: 'b' }, '{"b":[1,  2.50]}\n'],
]);

test('values of more kinds than one, lists and objects are JSON as it is written in formats with types', async (t) => {
  const lines = '{"a":2,"l":[1, 2.50],"m":"10"}\n{"a":1,"l":null,"m":10}\n';
  await sorted(path, lines, { from: 'ndjson', into: 'arrow', by: 'a' });
  const table = tableFromIPC(readFileSync(path('out.arrow')));
  t.deepEqual([...(table.getChild('l') ?? [])], [null, '[1, 2.50]']);
  t.deepEqual([...(table.getChild('m') ?? [])], ['10', '"10"']);
  t.deepEqual([...(table.getChild('a') ?? [])], [1n, 2n]);
});

test('lines of any number of names stay as they are, CRLF and all', async (t) => {
  const line = (n: number): string =>
    `{${Array.from({ length: 400 }, (_, i) => `"c${i}" :  ${i === 0 ? n : i}`).join(', ')}}`;
  const { text } = await sorted(path, `${line(2)}\r\n${line(1)}`, { from: 'ndjson', by: 'c0' });
  t.true(text === `${line(1)}\r\n${line(2)}\r\n`);
});
