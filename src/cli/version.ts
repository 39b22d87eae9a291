import { writeSync } from 'node:fs';
import { VERSION } from '../util/version.js';

/** Tells the version at once, with next to nothing loaded; false where stdout does not take it, which others have to explain. */
export function versionText(): boolean {
  const line = `${VERSION}\n`;
  try {
    return writeSync(1, line) === line.length;
  } catch {
    return false;
  }
}
