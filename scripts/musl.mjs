// A compiler for musl in a Debian 11 installation: GCC with the headers and libraries of Debian's musl-dev. Debian has no
// C++ library for musl. The one for glibc is linked statically, and scripts/prebuild.mjs checks that the addon then
// requires only functions that musl has.

import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inDebian } from './debian.mjs';

/** What the C++ headers for glibc expect from the headers of the C library. */
const PRELUDE = `#pragma once
#ifdef __cplusplus
#include <locale.h>
#define __locale_t locale_t
#define __uselocale uselocale
#define _ISupper (1 << 0)
#define _ISlower (1 << 1)
#define _ISalpha (1 << 2)
#define _ISdigit (1 << 3)
#define _ISxdigit (1 << 4)
#define _ISspace (1 << 5)
#define _ISprint (1 << 6)
#define _ISblank (1 << 8)
#define _IScntrl (1 << 9)
#define _ISpunct (1 << 10)
#define _ISalnum (1 << 11)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK
#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT
#undef _GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK
#endif
`;

/** The C++ library takes threads to be absent where this function of glibc is. */
const SUPPORT = `#include <pthread.h>
int __pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) { return pthread_key_create(key, destroy); }
`;

const compiler = (arch) => `#!/bin/sh
gcc=/usr/lib/gcc${arch === 'x86_64' ? '' : '-cross'}/${arch}-linux-gnu/10
libraries=/usr/lib/${arch}-linux-musl
case " $* " in *' -shared '*)
  exec ${arch}-linux-gnu-g++ -nostdlib -L$libraries $libraries/crti.o $gcc/crtbeginS.o /opt/musl/support-${arch}.o "$@" \\
    -Wl,-Bstatic -lstdc++ -lgcc_eh -lgcc -Wl,-Bdynamic -lc -Wl,--exclude-libs,ALL $gcc/crtendS.o $libraries/crtn.o ;;
esac
cpp=${arch === 'x86_64' ? '/usr/include' : '/usr/aarch64-linux-gnu/include'}/c++/10
machine=${arch === 'x86_64' ? '/usr/include/x86_64-linux-gnu/c++/10' : '$cpp/aarch64-linux-gnu'}
exec ${arch}-linux-gnu-g++ -nostdinc -nostdinc++ -isystem $cpp -isystem $machine -isystem $cpp/backward \\
  -isystem /usr/include/${arch}-linux-musl -isystem $gcc/include -I/opt/musl/include -U_FORTIFY_SOURCE \\
  -D_GLIBCXX_GTHREAD_USE_WEAK=0 '-D__GLIBC_PREREQ(a,b)=0' -include /opt/musl/prelude.h "$@"
`;

/** Path of the compiler in the installation. */
export const muslCompiler = (arch) => `/opt/musl/${arch}-g++`;

/** Puts the compilers for musl into a Debian 11 installation that has those for glibc. */
export function addMusl(debian, archs) {
  const opt = join(debian, 'opt/musl');
  mkdirSync(join(opt, 'include'), { recursive: true });
  cpSync('/usr/include/CL', join(opt, 'include/CL'), { recursive: true });
  writeFileSync(join(opt, 'prelude.h'), PRELUDE);
  writeFileSync(join(opt, 'support.c'), SUPPORT);
  inDebian(debian, ['sh', '-ec', FETCH, 'sh', ...archs.map((arch) => DEBIAN_ARCH[arch])]);
  for (const arch of archs) {
    writeFileSync(join(debian, muslCompiler(arch)), compiler(arch));
    chmodSync(join(debian, muslCompiler(arch)), 0o755);
    const headers = ['-nostdinc', '-isystem', `/usr/include/${arch}-linux-musl`];
    const output = ['-o', `/opt/musl/support-${arch}.o`, '/opt/musl/support.c'];
    inDebian(debian, [`${arch}-linux-gnu-gcc`, ...headers, '-fPIC', '-O2', '-c', ...output]);
  }
}

const DEBIAN_ARCH = { x86_64: 'amd64', aarch64: 'arm64' };

/** Unpacks the musl packages of each architecture: their files have different folders. */
const FETCH = `
cd /opt/musl
for arch in "$@"; do dpkg --add-architecture "$arch"; done
apt-get update -q
for arch in "$@"; do apt-get download -q "musl:$arch" "musl-dev:$arch"; done
# Not by dpkg-deb, which would replace the link /lib by a folder.
for package in *.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C /; done
`;
