/** Most letters of a value that are shown. */
const MAX_CHARACTERS = 200;

/**
 * A value as a message shows it, or how it begins: as JSON where that can hold it, so that words stand in quotes. Never throws,
 * whatever a caller has passed.
 */
export function formatValue(value: unknown): string {
  const text = toText(value);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

function toText(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return String(value);
  try {
    const replacer = (_: string, part: unknown): unknown =>
      typeof part === 'bigint'
        ? `${part}n`
        : typeof part === 'number' && !Number.isFinite(part)
          ? `${part}`
          : part;
    return JSON.stringify(value, replacer) ?? String(value);
  } catch {
    return 'a value that cannot be shown'; // it contains itself or too many in each other, or what is read of it throws
  }
}
