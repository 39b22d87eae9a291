import test, { type Implementation } from 'ava';

type Declare = (title: string, body: Implementation<[]>) => void;

/**
 * Returns a function that declares tests that not every machine can run: where `able` is false they are skips, whose
 * titles contain the reason.
 *
 * @param reason why not, as in 'no zsh here'
 */
export const where = (able: boolean, reason: string, declare: Declare = test): Declare =>
  able ? declare : (title, body) => test.skip(`${title} (${reason})`, body);
