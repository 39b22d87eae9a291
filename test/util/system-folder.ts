import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes the files of a system below a folder, which stands for its root. @return the folder */
export function systemFolder(root: string, files: Record<string, string>): string {
  for (const [file, text] of Object.entries(files)) {
    const at = join(root, file);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, text);
  }
  return root;
}
