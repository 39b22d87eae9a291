import type { Argv } from 'yargs';

export const builder = (yargs: Argv) =>
  yargs
    .example('$0 man | man -l -', 'show the page')
    .example('$0 man > ~/.local/share/man/man1/clsort.1', "install for 'man clsort'");
