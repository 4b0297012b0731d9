/**
 * How far arrivals were read: everything in slots up to `slot`, with the signatures that were read in the
 * last of these slots, because nodes list the newest ones late.
 */
export interface SolanaCursor {
  readonly slot: bigint;
  /** Signatures in the slots that are read again. */
  readonly signatures: readonly string[];
}

export function writeCursor({ slot, signatures }: SolanaCursor): string {
  return [slot, ...signatures].join(" ");
}

/** @throws RangeError if the text is not a cursor */
export function readCursor(text: string): SolanaCursor {
  const [slot = "", ...signatures] = text.split(" ");
  if (!/^\d{1,20}$/.test(slot)) throw new RangeError("invariant violated: not a Solana cursor");
  return { slot: BigInt(slot), signatures };
}
