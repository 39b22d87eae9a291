import test from 'ava';
import { nearest, suggestion } from '../../src/util/suggest.js';

const words = ['descending', 'device', 'dtype', 'nan'];

test('the nearest known word is suggested', (t) => {
  t.is(nearest('desending', words), 'descending');
  t.is(nearest('dtpye', words), 'dtype');
  t.is(nearest('NAN', words), 'nan');
});

test('two letters that changed places are one edit, also in short words', (t) => {
  t.is(nearest('cup', ['auto', 'cpu', 'gpu']), 'cpu');
  t.is(nearest('rwa', ['auto', 'raw']), 'raw');
  t.is(nearest('war', ['auto', 'raw']), undefined);
});

test('of words that are as near, the one that begins alike is meant', (t) => {
  t.is(nearest('fsh', ['bash', 'zsh', 'fish']), 'fish');
  t.is(nearest('dsc', ['asc', 'desc']), 'desc');
});

test('a word that is known is meant, although there is no such thing', (t) => {
  t.is(nearest('gpu', ['auto', 'cpu', 'gpu']), undefined);
  t.is(nearest('GPU', ['auto', 'cpu', 'gpu']), 'gpu');
});

test('what is like nothing known is not', (t) => {
  t.is(nearest('algorithm', words), undefined);
  t.is(nearest('x', words), undefined);
  t.is(suggestion('algorithm', words), '');
});
