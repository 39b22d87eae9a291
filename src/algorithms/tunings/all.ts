import type { DeviceTuning } from '../tuning-rows.js';
import { anywhere } from './any.js';
import { cpu } from './cpu.js';
import { hopper } from './hopper.js';
import { pocl } from './pocl.js';

/**
 * Measured parameters. Those for a device override those for an architecture, these override those for a family or
 * type, and these override those for any device. `clsort tune` found them, or found nothing better;
 * `scripts/results/*-tune.json` records its searches. `clsort tune --write FILE` writes such a file.
 */
export const TUNINGS: readonly DeviceTuning[] = [anywhere, cpu, pocl, hopper];
