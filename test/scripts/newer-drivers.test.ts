import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { withTree } from './tree.js';

test('test names and paths reach the chroot without shell interpretation', (t) => {
  withTree((tree) => {
    // Programs that need root are replaced: the mounts do nothing, and chroot records its arguments.
    tree.program('debootstrap', 'for folder; do :; done; mkdir -p "$folder/usr/local/bin"');
    tree.program('unshare', 'shift; exec "$@"');
    tree.program('mount', ':');
    tree.program('chroot', 'printf "%s\\n" "$@" >> "$RECORD"');
    mkdirSync(join(tree.folder, 'dist/test/layer'), { recursive: true });
    writeFileSync(
      join(tree.folder, 'dist/test/layer/layer.js'),
      'export const layerLibrary = () => undefined;',
    );
    // The name would make a shell create a file if it interpreted it.
    const folder = join(tree.folder, `$(touch "$PWNED")'; touch "$PWNED"; '`);
    mkdirSync(folder);
    for (const name of ['scripts', 'dist']) renameSync(join(tree.folder, name), join(folder, name));
    const pins = JSON.parse(readFileSync(join(folder, 'scripts/node-releases.json'), 'utf8')) as Record<
      string,
      { version: string }
    >;
    const major = process.versions.node.split('.')[0] ?? '';
    const home = join(folder, '.setup/node', `linux-${process.arch}-${pins[major]?.version}`, 'bin');
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'node'), '');
    const record = join(tree.folder, 'record');
    const pwned = join(tree.folder, 'pwned');
    const name = `a'; touch "$PWNED"; '"$(touch "$PWNED")".test.js`;
    const ran = spawnSync(process.execPath, [join(folder, 'scripts/newer-drivers.mjs'), name], {
      cwd: tree.folder,
      encoding: 'utf8',
      env: { ...tree.env, RECORD: record, PWNED: pwned },
    });
    t.is(ran.stdout.match(/^===/gm)?.length, 5, ran.stderr);
    t.false(existsSync(pwned));
    const lines = existsSync(record) ? readFileSync(record, 'utf8').split('\n') : [];
    t.true(lines.includes(name), `${ran.stdout}${ran.stderr}${lines.join('\n')}`);
    t.true(lines.some((line) => line.startsWith(folder)));
  });
});
