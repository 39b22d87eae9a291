import type { InfoValue } from './values.js';

/** Function of the addon. It checks its arguments itself, so this type does not describe them. */
export type NativeFunction = (...args: readonly unknown[]) => InfoValue;

/** Functions of src/native by name; the public functions that call them have the precise types. */
export type Native = Record<string, InfoValue>;
