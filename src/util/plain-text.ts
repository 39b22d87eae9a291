/** Escaping of text for terminals: names of files may hold any characters. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escapeControl = (control: string): string =>
  SHORT_ESCAPES[control] ?? `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes a name to one line. Control characters and direction marks are written as in JSON. */
export const plainName = (name: string): string => name.replaceAll(CONTROLS, escapeControl);

/** Escapes a message like a name, but keeps its newlines and tabs. */
export const plainText = (text: string): string =>
  text.replaceAll(CONTROLS, (control) =>
    control === '\n' || control === '\t' ? control : escapeControl(control),
  );
