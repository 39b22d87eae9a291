/** A CSV reader as simple as possible, for comparison. */

/** The records of a text; an empty line is not a record. */
export function recordsOf(text: string, delimiter: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let field = '';
  let isQuoted = false;
  let isBegun = false;
  const endRecord = (): void => {
    if (isBegun || record.length > 0) records.push([...record, field]);
    record = [];
    field = '';
    isBegun = false;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (isQuoted) {
      if (character !== '"') field += character;
      else if (text[at + 1] === '"') field += text[++at];
      else isQuoted = false;
    } else if (character === '"' && field === '' && !isBegun) {
      isQuoted = true;
      isBegun = true;
    } else if (character === delimiter) {
      record.push(field);
      field = '';
      isBegun = false;
    } else if (character === '\n' || character === '\r') {
      endRecord();
    } else {
      field += character;
      isBegun = true;
    }
  }
  endRecord();
  return records;
}
