import test from 'ava';
import { DtypeError, UsageError } from '../../src/util/errors.js';
import { didYouMean, invalidName, nearest } from '../../src/util/suggest.js';

const words = ['descending', 'device', 'dtype', 'nan'];

test('the nearest known word is suggested', (t) => {
  t.is(nearest('desending', words), 'descending');
  t.is(nearest('dtpye', words), 'dtype');
  t.is(nearest('NAN', words), 'nan');
});

test('two transposed letters count as one edit, also in short words', (t) => {
  t.is(nearest('cup', ['auto', 'cpu', 'gpu']), 'cpu');
  t.is(nearest('rwa', ['auto', 'raw']), 'raw');
  t.is(nearest('war', ['auto', 'raw']), undefined);
});

test('among equally near words, the one with the same first letter is suggested', (t) => {
  t.is(nearest('fsh', ['bash', 'zsh', 'fish']), 'fish');
  t.is(nearest('dsc', ['asc', 'desc']), 'desc');
});

test('a known word gets no suggestion unless its case differs', (t) => {
  t.is(nearest('gpu', ['auto', 'cpu', 'gpu']), undefined);
  t.is(nearest('GPU', ['auto', 'cpu', 'gpu']), 'gpu');
});

test('options of other programs are mapped to the names used here', (t) => {
  t.is(nearest('double', ['f32', 'f64']), 'f64');
  t.is(nearest('--reverse', ['--resume', '--descending']), '--descending');
  t.is(nearest('double', words), undefined);
});

test('leading dashes do not count as similarity', (t) => {
  t.is(nearest('-z', ['-o', '-V']), undefined);
  t.is(nearest('--colour', ['--column', '--columns']), undefined);
  t.is(nearest('--verison', ['--version', '--verify']), '--version');
});

test('a word unlike every known word gets no suggestion', (t) => {
  t.is(nearest('algorithm', words), undefined);
  t.is(nearest('x', words), undefined);
  t.is(didYouMean('algorithm', words), undefined);
});

test('the error of an unknown name lists the known names, and the one that was probably meant', (t) => {
  const error = invalidName('mode', 'fsat', ['fast', 'slow']);
  t.true(error instanceof UsageError);
  t.is(error.message, `expected one of fast, slow for mode but got "fsat". Did you mean "fast"?`);
  const other = invalidName('mode', 7, ['fast', 'slow'], DtypeError);
  t.true(other instanceof DtypeError);
  t.is(other.message, 'expected one of fast, slow for mode but got 7');
});
