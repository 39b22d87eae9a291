/** Decides whether the claims of the lectures about each step hold on a device. */
import type { LadderRow } from './ladder-row.js';
import { LECTURE_CLAIMS } from './messages.js';

/** A claim with its verdict for one device and size. */
export interface Claim extends Pick<LadderRow, 'primitive' | 'task' | 'device' | 'n'> {
  readonly claim: string;
  /** Null when one of the steps was not measured. */
  readonly holds: boolean | null;
  /** The measured times, and the explanation of the model. */
  readonly reason: string;
}

/** Number of deviations that a difference must exceed. */
const DEVIATIONS = 3;
const MIN_DIFFERENCE = 0.05;
const milliseconds = (seconds: number): string => `${(seconds * 1e3).toPrecision(3)} ms`;
const bestSeconds = ({ kernelSeconds, seconds }: LadderRow): number | null => kernelSeconds ?? seconds;

/**
 * Returns the claims about measured steps, each with its verdict.
 *
 * @param types types of the devices, by name
 */
export function claimsOf(rows: readonly LadderRow[], types: ReadonlyMap<string, string>): Claim[] {
  const claims: Claim[] = [];
  const places = new Map(
    rows.filter(({ device }) => device !== 'host').map((row) => [`${row.device} ${row.n}`, row]),
  );
  for (const { device, n } of places.values()) {
    const here = rows.filter((row) => row.device === device && row.n === n);
    for (const { primitive, task, claim, better, worse, slack, model } of LECTURE_CLAIMS) {
      const rowOf = (step: string) =>
        here.find((row) => row.primitive === primitive && row.task === task && row.step === step);
      const [one, other] = [rowOf(better), rowOf(worse)];
      if (!one || !other) continue;
      const why = model[types.get(device) === 'cpu' ? 'cpu' : 'gpu'];
      claims.push({ primitive, task, claim, device, n, ...verdict(one, other, why, slack) });
    }
    claims.push(...hostClaims(here, rows));
  }
  return claims;
}

function verdict(
  one: LadderRow,
  other: LadderRow,
  why: string,
  slack?: number,
): Pick<Claim, 'holds' | 'reason'> {
  const [a, b] = [bestSeconds(one), bestSeconds(other)];
  if (a === null || b === null) {
    const lacking = a === null ? one : other;
    return { holds: null, reason: `${lacking.step}: ${lacking.reason ?? lacking.result}` };
  }
  const noise = Math.max(
    MIN_DIFFERENCE * b,
    DEVIATIONS * Math.hypot(one.madSeconds ?? 0, other.madSeconds ?? 0),
  );
  const measured = `${one.step} ${milliseconds(a)}, ${other.step} ${milliseconds(b)}: ${(b / a).toFixed(2)} times as fast`;
  if (slack !== undefined) return { holds: a <= b * (1 + slack) + noise, reason: `${measured}; ${why}` };
  if (Math.abs(a - b) <= noise)
    return { holds: false, reason: `${measured}, no difference beyond noise; ${why}` };
  return { holds: a < b, reason: `${measured}; ${why}` };
}

/** Compares the best step of each task on the device, transfers included, with the host's loop. */
function hostClaims(here: readonly LadderRow[], rows: readonly LadderRow[]): Claim[] {
  const tasks = new Map(here.map((row) => [`${row.primitive} ${row.task}`, row]));
  return [...tasks.values()].flatMap(({ primitive, task, device, n }): Claim[] => {
    const host = rows.find(
      (row) => row.device === 'host' && row.primitive === primitive && row.task === task && row.n === n,
    );
    const own = here.filter(
      (row) => row.primitive === primitive && row.task === task && row.endToEndSeconds !== null,
    );
    const [quickest] = own.toSorted((a, b) => (a.endToEndSeconds ?? 0) - (b.endToEndSeconds ?? 0));
    if (!host?.seconds || !quickest?.endToEndSeconds) return [];
    const [onDevice, onHost] = [quickest.endToEndSeconds, host.seconds];
    const kernels = bestSeconds(quickest) ?? onDevice;
    const reason =
      `${quickest.step} ${milliseconds(onDevice)} with its transfers, ${milliseconds(kernels)} without; ` +
      `the host's loop on one core ${milliseconds(onHost)}`;
    return [
      {
        ...{ primitive, task, claim: 'the device beats the host, transfers and all', device, n },
        holds: onDevice < onHost,
        reason,
      },
    ];
  });
}
