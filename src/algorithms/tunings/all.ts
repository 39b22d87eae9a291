import type { DeviceTuning } from '../tuning-rows.js';
import { anywhere } from './any.js';
import { cpu } from './cpu.js';
import { hopper } from './hopper.js';
import { pocl } from './pocl.js';

/**
 * Measured parameters. Those for a device win over those for an architecture, these over those for a family or type,
 * these over those for any; `clsort tune` found them or found nothing better, `scripts/results/*-tune.json` has its
 * searches. `clsort tune --write FILE` writes such a file.
 */
export const TUNINGS: readonly DeviceTuning[] = [anywhere, cpu, pocl, hopper];
