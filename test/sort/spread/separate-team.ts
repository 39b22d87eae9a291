import { findDevices } from '../../../src/device/platform.js';
import { SorterOperations } from '../../../src/sort/api/sorter-operations.js';
import { DeviceSession } from '../../../src/sort/backend/device-session.js';
import { Member } from '../../../src/sort/spread/member.js';
import { Team } from '../../../src/sort/spread/team.js';
import type { ClsortError } from '../../../src/util/errors.js';

/** A member that behaves like a device with dedicated memory. */
export class Separate extends Member {
  /** Whether devices of other contexts can access memory that this one has pinned. */
  shares = false;

  override get streams(): boolean {
    return true;
  }

  override pinsFor(): boolean {
    return this.shares;
  }
}

/** Opens all devices as ones with dedicated memory, and a sorter that uses them. */
export async function separateTeam(
  onWarning: (warning: ClsortError) => void,
): Promise<{ members: Separate[]; sorter: SorterOperations }> {
  const keepers: DeviceSession[] = [];
  for (const { info } of findDevices()) keepers.push(await DeviceSession.open(info.id, {}, onWarning));
  const members = keepers.map((keeper) => new Separate(keeper, onWarning));
  const team = new Team(members, onWarning);
  return { members, sorter: new SorterOperations(keepers[0] as DeviceSession, onWarning, undefined, team) };
}
