/**
 * Decoupled look-back by its rules, tick by tick: groups take tiles in order, publish the count of each as soon as they have it, and add up what the
 * tiles before have published until they meet an inclusive prefix. All groups act at once, on what was published before the tick.
 *
 * Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016); the wait that ends is that of cl/look_back.clh.
 */

/** What others can read of a tile. */
export type Published = 'nothing' | 'aggregate' | 'prefix';

export type Doing = 'idle' | 'counts' | 'adds' | 'waits' | 'recounts' | 'scatters' | 'done';

export interface Tile {
  readonly count: number;
  readonly group: number | null;
  readonly doing: Doing;
  readonly published: Published;
  /** The tile that it reads, or waits for. */
  readonly looksAt: number | null;
  /** What it has added up of the tiles before it. */
  readonly before: number;
  /** Inclusive prefix, once that is known. */
  readonly prefix: number | null;
  /** Futile reads, one after the other. */
  readonly waited: number;
  /** Ticks until what it does is done. */
  readonly left: number;
}

export interface Frame {
  readonly tiles: readonly Tile[];
  /** What happened in the tick, in sentences. */
  readonly events: readonly string[];
}

export interface Setup {
  /** Keys of each tile with the digit that is looked at. */
  readonly counts: readonly number[];
  /** Ticks that counting each of them takes. */
  readonly ticks: readonly number[];
  /** Groups that run at once. */
  readonly groups: number;
  /** `chain`: aggregates are not read, so that each tile waits for the inclusive prefix of the one before. */
  readonly rule: 'look-back' | 'chain';
  /** A tile that publishes nothing. */
  readonly mute: number | null;
}

/** Futile reads after which a group counts the tile that it waits for. */
export const PATIENCE = 8;
const SCATTER_TICKS = 2;

const start = (count: number): Tile => ({
  ...{ count, group: null, doing: 'idle', published: 'nothing', looksAt: null },
  ...{ before: 0, prefix: null, waited: 0, left: 0 },
});

/** What the others may read of a tile under a rule. */
const readable = ({ published }: Tile, rule: Setup['rule']): Published =>
  rule === 'chain' && published === 'aggregate' ? 'nothing' : published;

/** The whole of it from before the first tick, until all keys are at their places. */
export function framesOf({ counts, ticks, groups, rule, mute }: Setup): Frame[] {
  let tiles: readonly Tile[] = counts.map(start);
  const frames: Frame[] = [{ tiles, events: ['No group has begun.'] }];
  let ticket = 0;
  const free = Array.from({ length: groups }, (_, i) => i);

  while (tiles.some(({ doing }) => doing !== 'done')) {
    const seen = tiles;
    const next = [...tiles];
    const events: string[] = [];
    const isMute = (tile: number) => tile === mute;

    /** The tile knows all that lies before it. */
    const finish = (i: number, tile: Tile, before: number): Tile => {
      const prefix = before + tile.count;
      events.push(
        isMute(i)
          ? `Tile ${i} knows its prefix ${prefix} and does not say so.`
          : `Tile ${i} publishes its prefix ${prefix}.`,
      );
      return {
        ...{ ...tile, before, prefix, doing: 'scatters', left: SCATTER_TICKS, looksAt: null, waited: 0 },
        published: isMute(i) ? 'nothing' : 'prefix',
      };
    };
    /** Adds what a tile before holds, and looks one further back. */
    const add = (i: number, tile: Tile, amount: number): Tile => {
      const before = tile.before + amount;
      const looksAt = (tile.looksAt as number) - 1;
      return looksAt < 0
        ? finish(i, tile, before)
        : { ...tile, before, looksAt, doing: 'adds', waited: 0, left: 0 };
    };
    const look = (i: number, tile: Tile): Tile => {
      const at = tile.looksAt as number;
      const other = seen[at] as Tile;
      const what = readable(other, rule);
      if (what === 'prefix') {
        events.push(`Tile ${i} reads the prefix ${other.prefix} of tile ${at}.`);
        return finish(i, tile, tile.before + (other.prefix as number));
      }
      if (what === 'aggregate') {
        events.push(`Tile ${i} adds the count ${other.count} of tile ${at} and looks further back.`);
        return add(i, tile, other.count);
      }
      if (tile.waited + 1 < PATIENCE) {
        events.push(`Tile ${i} waits for tile ${at}.`);
        return { ...tile, doing: 'waits', waited: tile.waited + 1 };
      }
      events.push(`Tile ${i} has waited long enough: its group counts tile ${at} itself.`);
      return { ...tile, doing: 'recounts', waited: 0, left: ticks[at] ?? 1 };
    };

    for (const [i, tile] of seen.entries()) {
      if (tile.doing === 'counts') {
        if (tile.left > 1) next[i] = { ...tile, left: tile.left - 1 };
        else if (i === 0) next[i] = finish(i, tile, 0);
        else {
          events.push(
            isMute(i)
              ? `Tile ${i} has its count ${tile.count} and does not say so.`
              : `Tile ${i} publishes its count ${tile.count}.`,
          );
          next[i] = {
            ...{ ...tile, doing: 'adds', left: 0, looksAt: i - 1 },
            published: isMute(i) ? 'nothing' : 'aggregate',
          };
        }
      } else if (tile.doing === 'adds' || tile.doing === 'waits') next[i] = look(i, tile);
      else if (tile.doing === 'recounts') {
        const at = tile.looksAt as number;
        next[i] =
          tile.left > 1 ? { ...tile, left: tile.left - 1 } : add(i, { ...tile }, (seen[at] as Tile).count);
      } else if (tile.doing === 'scatters') {
        if (tile.left > 1) next[i] = { ...tile, left: tile.left - 1 };
        else {
          events.push(`Group ${tile.group} has put the keys of tile ${i} at their places.`);
          next[i] = { ...tile, doing: 'done', left: 0 };
          free.push(tile.group as number);
        }
      }
    }
    free.sort((a, b) => a - b);
    while (free.length > 0 && ticket < counts.length) {
      const group = free.shift() as number;
      events.push(`Group ${group} takes tile ${ticket}.`);
      next[ticket] = { ...(next[ticket] as Tile), group, doing: 'counts', left: ticks[ticket] ?? 1 };
      ticket++;
    }
    tiles = next;
    frames.push({ tiles, events });
  }
  return frames;
}

/** Ticks in which groups waited. */
export const waitsOf = (frames: readonly Frame[]): number =>
  frames.reduce((sum, { tiles }) => sum + tiles.filter(({ doing }) => doing === 'waits').length, 0);
