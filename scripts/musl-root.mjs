// A folder with the programs of a system whose C library is musl, as Alpine's is: musl and BusyBox from Debian, Bun for
// musl and npm from npm, and Node for musl, which npm has only inside the program of pnpm 11.
//
// Debian has no C++ library for musl. The functions that Bun and Node require are linked from the static library for
// glibc, with substitutes for the functions of glibc that it calls.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The packages of npm: Bun, npm itself, and the program that contains Node 26. */
const PACKAGES = ['@oven/bun-linux-x64-musl@1.4.4', 'npm@latest', '@pnpm/linuxstatic-x64@11.21.0'];

/** Functions of glibc, and of newer C++ libraries, that musl or Debian's library lacks. */
const SUBSTITUTES = `
#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

char __libc_single_threaded = 0;
int _dl_find_object(void* address, void* found) { return -1; }
int __pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) { return pthread_key_create(key, destroy); }

unsigned arc4random(void) {
  unsigned bits = 0;
  getrandom(&bits, sizeof bits, 0);
  return bits;
}

// The C++ library reads the tables of characters in glibc's locale. For musl, the zeros before them mean the C locale.
static struct {
  void* data[13];
  const unsigned short* classes;
  const int *lower, *upper;
  const char* names[13];
} c_locale;

static unsigned short classes[384];
static int lower[384], upper[384];

// Bits of the classes, in the order of glibc.
static int class_bits(int c) {
  return !!isupper(c) << 8 | !!islower(c) << 9 | !!isalpha(c) << 10 | !!isdigit(c) << 11 | !!isxdigit(c) << 12 |
         !!isspace(c) << 13 | !!isprint(c) << 14 | !!isgraph(c) << 15 | !!isblank(c) | !!iscntrl(c) << 1 |
         !!ispunct(c) << 2 | !!isalnum(c) << 3;
}

void* __newlocale(int mask, const char* name, void* base) {
  for (int c = 0; c < 128; c++) {
    classes[128 + c] = class_bits(c);
    lower[128 + c] = tolower(c);
    upper[128 + c] = toupper(c);
  }
  c_locale.classes = classes + 128;
  c_locale.lower = lower + 128;
  c_locale.upper = upper + 128;
  return &c_locale;
}

void* __duplocale(void* locale) { return locale; }
void __freelocale(void* locale) {}

size_t __strftime_l(char* text, size_t size, const char* format, const struct tm* time, locale_t locale) {
  return strftime_l(text, size, format, time, locale);
}

// Destructors of thread-local objects, last registered first.
struct destructor {
  void (*run)(void*);
  void* object;
  struct destructor* next;
};

static pthread_key_t destructors;

static void run_destructors(void* first) {
  struct destructor* one = first;
  while (one) {
    struct destructor* next = one->next;
    one->run(one->object);
    free(one);
    one = next;
  }
}

__attribute__((constructor)) static void make_key(void) { pthread_key_create(&destructors, run_destructors); }

int __cxa_thread_atexit_impl(void (*run)(void*), void* object, void* module) {
  struct destructor* one = malloc(sizeof *one);
  one->run = run;
  one->object = object;
  one->next = pthread_getspecific(destructors);
  return pthread_setspecific(destructors, one);
}

// std::string::_M_replace_cold of GCC 13: replaces a part by a text that may overlap with the string itself.
void _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm(
    void* string, char* part, size_t length, const char* text, size_t size, size_t rest) {
  char* copy = malloc(size + 1);
  memcpy(copy, text, size);
  memmove(part + size, part + length, rest);
  memcpy(part, copy, size);
  free(copy);
}
`;

/** Functions of the compiler's library, which are hidden in it: each is renamed, and a jump to it is exported. */
const HIDDEN = ['__divti3', '__modti3', '__udivti3', '__umodti3', '__udivmodti4', '__popcountdi2'];
const JUMPS = [
  ...HIDDEN.map((name) => `.globl ${name}\n.type ${name}, @function\n${name}: jmp hidden${name}\n`),
  '.section .note.GNU-stack, "", @progbits\n',
].join('');

/** Links a C++ library of the symbols that Bun and Node require. */
const LINK = `
cd "$1"
nm -D --defined-only lib/ld-musl-x86_64.so.1 | awk '{ print $3 }' | sort -u > tmp/musl
for program in usr/bin/bun usr/bin/node; do
  nm -D --undefined-only $program | awk '{ print $2 }'
  readelf -rW $program | awk '/_COPY/ { print $5 }'
done | sed 's/@.*//' | sort -u | comm -23 - tmp/musl | grep -E '^_Z|^__cxa|^__gxx|^__dynamic|^__once' > tmp/wanted
gcc -O2 -fPIC -fno-builtin -nostdinc -isystem "$2" -c -o tmp/substitutes.o tmp/substitutes.c
gcc -c -o tmp/jumps.o tmp/jumps.s
objcopy ${HIDDEN.map((name) => `--redefine-sym ${name}=hidden${name}`).join(' ')} "$(gcc -print-libgcc-file-name)" tmp/libhidden.a
g++ -shared -nostdlib -o usr/lib/libstdc++.so.6 -Wl,-soname,libstdc++.so.6 "$(gcc -print-file-name=crtbeginS.o)" \\
  tmp/substitutes.o tmp/jumps.o $(sed 's/^/-Wl,-u,/' tmp/wanted) \\
  -Wl,-Bstatic -lstdc++ -lgcc_eh tmp/libhidden.a -lgcc -Wl,-Bdynamic -Llib -lc "$(gcc -print-file-name=crtendS.o)"
`;

/** Returns the program of Node in a single executable application: without its mark, the program is Node. */
function unmarkProgram(program) {
  const bytes = readFileSync(program);
  const mark = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:';
  const place = bytes.indexOf(`${mark}1`);
  if (place < 0)
    throw new Error(`${program} is no single executable application of Node: choose another release`);
  bytes[place + mark.length] = '0'.charCodeAt(0);
  return bytes;
}

/** Fetches the packages into a folder. @returns the folder of a package of npm */
function fetchPackages(fetched) {
  const run = (line, ...args) => execFileSync('sh', ['-ec', line, 'sh', ...args], { cwd: fetched });
  run('apt-get download -q musl musl-dev busybox-static; for one in *.deb; do dpkg-deb -x "$one" .; done');
  PACKAGES.forEach((name, index) => {
    run('mkdir "$1"; tar -xzf "$(npm pack --silent "$2")" -C "$1"', String(index), name);
  });
  return (index) => join(fetched, String(index), 'package');
}

/** Makes the folder; an older one is removed. */
export function makeMuslRoot(musl) {
  rmSync(musl, { recursive: true, force: true });
  for (const name of [
    'app',
    'etc/ssl/certs',
    'lib',
    'proc',
    'dev',
    'sys',
    'tmp',
    'repository',
    'usr/bin',
    'usr/lib',
  ])
    mkdirSync(join(musl, name), { recursive: true });
  symlinkSync('usr/bin', join(musl, 'bin'));
  const fetched = mkdtempSync(join(tmpdir(), 'clsort-musl-'));
  try {
    const [bun, npm, pnpm] = PACKAGES.map((_, index) => index).map(fetchPackages(fetched));
    copyFileSync(join(fetched, 'lib/x86_64-linux-musl/libc.so'), join(musl, 'lib/ld-musl-x86_64.so.1'));
    copyFileSync(join(fetched, 'bin/busybox'), join(musl, 'usr/bin/busybox'));
    copyFileSync(join(bun, 'bin/bun'), join(musl, 'usr/bin/bun'));
    writeFileSync(join(musl, 'usr/bin/node'), unmarkProgram(join(pnpm, 'pnpm')));
    cpSync(npm, join(musl, 'usr/lib/npm'), { recursive: true });
    for (const name of ['lib/ld-musl-x86_64.so.1', 'usr/bin/bun', 'usr/bin/node'])
      chmodSync(join(musl, name), 0o755);
    symlinkSync('ld-musl-x86_64.so.1', join(musl, 'lib/libc.so'));
    symlinkSync('ld-musl-x86_64.so.1', join(musl, 'lib/libc.musl-x86_64.so.1'));
    symlinkSync('libstdc++.so.6', join(musl, 'usr/lib/libgcc_s.so.1'));
    for (const name of ['npm', 'npx'])
      symlinkSync(`../lib/npm/bin/${name}-cli.js`, join(musl, 'usr/bin', name));
    writeFileSync(join(musl, 'tmp/substitutes.c'), SUBSTITUTES);
    writeFileSync(join(musl, 'tmp/jumps.s'), JUMPS);
    const headers = join(fetched, 'usr/include/x86_64-linux-musl');
    execFileSync('sh', ['-ec', LINK, 'sh', musl, headers], { stdio: 'inherit' });
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
  execFileSync('chroot', [musl, '/usr/bin/busybox', '--install', '-s', '/usr/bin']);
  copyFileSync('/etc/resolv.conf', join(musl, 'etc/resolv.conf'));
  copyFileSync('/etc/ssl/certs/ca-certificates.crt', join(musl, 'etc/ssl/certs/ca-certificates.crt'));
}
