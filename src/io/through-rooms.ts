/** How pieces go through few rooms. */
export interface ThroughRooms<R> {
  /** Pieces in all. */
  readonly count: number;
  /** At least two. */
  readonly rooms: readonly R[];
  /** How many pieces are made at a time; fewer than there are rooms. */
  readonly ahead: number;
  /** Makes a piece in a room. */
  readonly make: (piece: number, room: R) => Promise<void>;
  /** Takes it from there: one piece after the other, in order. */
  readonly take: (piece: number, room: R) => Promise<void>;
}

/**
 * Makes pieces while those before them are taken. With `ahead` 1 they are made in order, each when the one before is there.
 *
 * @throws what `make` and `take` throw; nobody uses a room any more then
 */
export async function throughRooms<R>({ count, rooms, ahead, make, take }: ThroughRooms<R>): Promise<void> {
  const made: Promise<void>[] = [];
  const begin = (): void => {
    const piece = made.length;
    if (piece >= count) return;
    const one = make(piece, rooms[piece % rooms.length] as R);
    one.catch(() => undefined); // it is awaited when it is its turn
    made.push(one);
  };
  try {
    for (let i = 0; i < ahead; i++) begin();
    for (let piece = 0; piece < count; piece++) {
      await made[piece];
      begin();
      await take(piece, rooms[piece % rooms.length] as R);
    }
  } finally {
    await Promise.allSettled(made);
  }
}
