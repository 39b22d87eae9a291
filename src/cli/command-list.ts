/** The commands, in the order in which help lists them. Each has a file in `options/` and one in `commands/`. */

export const COMMANDS = {
  devices: {
    command: 'devices',
    describe: 'List the OpenCL devices, or the algorithms that are usable on them',
  },
  sort: { command: 'sort [in..]', describe: 'Sort lines, files of keys, files of records, and tables' },
  batch: { command: 'batch <jobs>', describe: 'Sort many files listed in a manifest' },
  bench: {
    command: 'bench <what> [of]',
    describe: 'Benchmark sorts, calls, first results, or the ladders of the lectures',
  },
  check: { command: 'check <file>', describe: 'Check that a file is sorted' },
  info: {
    command: 'info <file>',
    describe: 'Print format, dtype, count, range and order of keys, or the columns of a table',
  },
  stats: {
    command: 'stats <in..>',
    describe: 'Print range, mean, quantiles, distinct keys and order of files of keys',
  },
  convert: {
    command: 'convert <in> [result]',
    describe: 'Convert a file of keys or a table to another format',
  },
  concat: { command: 'concat <in..>', describe: 'Concatenate files of keys' },
  merge: { command: 'merge <in..>', describe: 'Merge sorted files of keys' },
  topk: { command: 'topk <in..>', describe: 'Write the largest or smallest keys of files, in order' },
  unique: {
    command: 'unique <in..>',
    describe: 'Write the distinct keys of files, sorted, and optionally their counts',
  },
  intersect: {
    command: 'intersect <a> <b>',
    describe: 'Write the distinct keys that are in both files, sorted',
  },
  union: { command: 'union <a> <b>', describe: 'Write the distinct keys of two files, sorted' },
  difference: {
    command: 'difference <a> <b>',
    describe: 'Write the distinct keys of A that are not in B, sorted',
  },
  setxor: {
    command: 'setxor <a> <b>',
    describe: 'Write the distinct keys that are in one of two files but not in both, sorted',
  },
  join: {
    command: 'join <left> <right>',
    describe: 'Join the rows of two tables on columns with equal values',
  },
  shuffle: { command: 'shuffle <in..>', describe: 'Write keys, rows of tables, or lines in random order' },
  sample: { command: 'sample <in..>', describe: 'Write a random sample of keys, rows of tables, or lines' },
  reduce: { command: 'reduce <in..>', describe: 'Compute the sum, minimum or maximum of the keys of files' },
  scan: {
    command: 'scan <in..>',
    describe: 'Write the exclusive or inclusive prefix sums of the keys of files',
  },
  histogram: { command: 'histogram <in..>', describe: 'Count the keys of files per bin' },
  gen: { command: 'gen', describe: 'Generate a file of test keys from a seed' },
  demo: {
    command: 'demo',
    describe: 'Sort 32 random keys below 1000 and print the device time and the host time',
  },
  explain: {
    command: 'explain [keys..]',
    describe: 'Show how a sort, reduction, scan or histogram works, with data from the device',
  },
  matrix: { command: 'matrix', describe: 'Test every algorithm, operation, dtype and size on every device' },
  worker: { command: 'worker', describe: 'Run tasks of sorts and batches over many machines' },
  status: { command: 'status <id>', describe: 'Print the progress of a sort over many machines' },
  cancel: { command: 'cancel <id>', describe: 'Cancel a sort over many machines and remove its state' },
  plan: { command: 'plan', describe: 'Estimate the time and the bottleneck of a sort over many machines' },
  warm: { command: 'warm', describe: 'Compile and self-test ahead what operations need on a device' },
  tune: {
    command: 'tune',
    describe: 'Find and save the parameters that sort and scan fastest on this device',
  },
  doctor: { command: 'doctor', describe: 'Check the installation: what is wrong, and what to type' },
  'build-addon': {
    command: 'build-addon',
    describe: 'Compile the native addon for this Node, where no prebuilt one loads',
  },
  completion: { command: 'completion <shell>', describe: 'Print a completion script for a shell' },
  man: { command: 'man', describe: 'Print the manual page' },
} as const;
