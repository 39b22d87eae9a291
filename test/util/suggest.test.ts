import test from 'ava';
import { nearest, suggestion } from '../../src/util/suggest.js';

const words = ['descending', 'device', 'dtype', 'nan'];

test('the nearest known word is suggested', (t) => {
  t.is(nearest('desending', words), 'descending');
  t.is(nearest('dtpye', words), 'dtype');
  t.is(nearest('NAN', words), 'nan');
});

test('what is like nothing known is not', (t) => {
  t.is(nearest('algorithm', words), undefined);
  t.is(nearest('x', words), undefined);
  t.is(suggestion('algorithm', words), '');
});
