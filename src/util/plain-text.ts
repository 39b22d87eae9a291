/** Text that does nothing to a terminal but stand there: names of files may hold anything. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escapeControl = (control: string): string =>
  SHORT_ESCAPES[control] ?? `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A name on one line: what moves a cursor, colours what follows or turns its direction is written as JSON has it. */
export const plainName = (name: string): string => name.replaceAll(CONTROLS, escapeControl);

/** The same of a message, which may have lines and tabs of its own. */
export const plainText = (text: string): string =>
  text.replaceAll(CONTROLS, (control) =>
    control === '\n' || control === '\t' ? control : escapeControl(control),
  );
