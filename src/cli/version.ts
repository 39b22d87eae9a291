import { writeSync } from 'node:fs';
import { VERSION } from '../util/version.js';

/**
 * Prints the version with minimal loading time. Returns false when stdout rejects it; the full command then reports the
 * error.
 */
export function versionText(): boolean {
  const line = `${VERSION}\n`;
  try {
    return writeSync(1, line) === line.length;
  } catch {
    return false;
  }
}
