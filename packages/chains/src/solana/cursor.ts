/**
 * Up to where arrivals were read: everything in slots up to `slot`, and of the last of those by name what was
 * read, as nodes list the newest ones late.
 */
export interface NonEvmCursor {
  readonly slot: bigint;
  /** Signatures of the slots that are looked at again. */
  readonly known: readonly string[];
}

export function writeCursor({ slot, known }: NonEvmCursor): string {
  return [slot, ...known].join(" ");
}

/** @throws RangeError when it is none */
export function readCursor(text: string): NonEvmCursor {
  const [slot = "", ...known] = text.split(" ");
  if (!/^\d{1,20}$/.test(slot)) throw new RangeError("invariant violated: not a Solana cursor");
  return { slot: BigInt(slot), known };
}
