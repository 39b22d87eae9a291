/** Most letters of a value that are shown. */
const MAX_LETTERS = 200;

/**
 * A value as a message shows it, or how it begins: as JSON where that can hold it, so that words stand in quotes. Never throws,
 * whatever a caller has passed.
 */
export function shown(value: unknown): string {
  const all = allOf(value);
  return all.length > MAX_LETTERS ? `${all.slice(0, MAX_LETTERS)}…` : all;
}

function allOf(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return String(value);
  try {
    const told = (_: string, part: unknown): unknown =>
      typeof part === 'bigint'
        ? `${part}n`
        : typeof part === 'number' && !Number.isFinite(part)
          ? `${part}`
          : part;
    return JSON.stringify(value, told) ?? String(value);
  } catch {
    return 'a value that cannot be shown'; // it contains itself or too many in each other, or what is read of it throws
  }
}
