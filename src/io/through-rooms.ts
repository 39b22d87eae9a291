/** How pieces go through few rooms. */
export interface ThroughRooms<R> {
  /** Pieces in all. */
  readonly count: number;
  /** As many as pieces are made and taken at a time. */
  readonly rooms: readonly R[];
  /** How many pieces are made at a time; fewer than there are rooms. The others may be taken at a time. */
  readonly ahead: number;
  /** Makes a piece in a room. */
  readonly make: (piece: number, room: R) => Promise<void>;
  /** Takes it from there; begun in the order of pieces. */
  readonly take: (piece: number, room: R) => Promise<void>;
}

/**
 * Makes pieces while those before them are taken. With `ahead` 1 they are made in order, each when the one before is there; with
 * one room more than `ahead` they are taken so.
 *
 * @throws what `make` and `take` throw; nobody uses a room any more then
 */
export async function throughRooms<R>({ count, rooms, ahead, make, take }: ThroughRooms<R>): Promise<void> {
  const made: Promise<void>[] = [];
  const taken: Promise<void>[] = [];
  const behind = rooms.length - ahead;
  const begin = (list: Promise<void>[], work: ThroughRooms<R>['make']): void => {
    const piece = list.length;
    if (piece >= count) return;
    const one = work(piece, rooms[piece % rooms.length] as R);
    one.catch(() => undefined); // it is awaited when it is its turn
    list.push(one);
  };
  try {
    for (let i = 0; i < ahead; i++) begin(made, make);
    for (let piece = 0; piece < count; piece++) {
      await made[piece];
      if (piece >= behind) await taken[piece - behind]; // the room of the next one is free
      begin(made, make);
      begin(taken, take);
    }
    await Promise.all(taken);
  } finally {
    await Promise.allSettled([...made, ...taken]);
  }
}
