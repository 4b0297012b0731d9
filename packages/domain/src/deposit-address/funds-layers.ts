import { confirmAtBlock } from "../quote/confirmations.ts";

/** Funds that have been at an address since one block. */
export interface FundsLayer {
  readonly amount: bigint;
  /**
   * The block in which it was first seen, or from which its confirmations restart after a sweep that moved
   * nothing.
   */
  readonly sinceBlock: bigint;
  /** The block in which it was first seen, if that is not `sinceBlock`: its sender is found there. */
  readonly foundBlock?: bigint;
  /** The last earlier block in which it was missing. Absent: not checked. */
  readonly unseenBlock?: bigint;
  readonly seenAtMs: number;
}

/** A balance as it was read. */
export type BalanceReading = FundsLayer;

/** Maximum layers per balance. Limits the row size even if someone keeps sending dust. */
export const MAX_FUNDS_LAYERS = 8;

/**
 * The layers of a balance after a new reading, oldest first; they add up to the balance. An increase becomes
 * a new layer, so that it does not delay older layers; a decrease removes the youngest ones.
 */
export function readBalance(layers: readonly FundsLayer[], reading: BalanceReading): readonly FundsLayer[] {
  const total = totalOf(layers);
  if (reading.amount <= total) return oldestLayers(layers, reading.amount);
  return limitLayers([...layers, { ...reading, amount: reading.amount - total }]);
}

/** The oldest layers that add up to an amount; the last one may be partial. */
export function oldestLayers(layers: readonly FundsLayer[], amount: bigint): readonly FundsLayer[] {
  const oldest: FundsLayer[] = [];
  let remaining = amount;
  for (const layer of layers) {
    if (remaining <= 0n) break;
    oldest.push(layer.amount <= remaining ? layer : { ...layer, amount: remaining });
    remaining -= layer.amount;
  }
  return oldest;
}

/** The layers after removing the oldest `amount`. */
export function layersBeyond(layers: readonly FundsLayer[], amount: bigint): readonly FundsLayer[] {
  let remaining = amount;
  return layers.flatMap((layer) => {
    const removed = remaining < layer.amount ? remaining : layer.amount;
    remaining -= removed;
    return removed === layer.amount ? [] : [{ ...layer, amount: layer.amount - removed }];
  });
}

export function totalOf(layers: readonly FundsLayer[]): bigint {
  return layers.reduce((sum, { amount }) => sum + amount, 0n);
}

/** When the balance first reached this amount, ms since epoch; undefined if it never did. */
export function seenSince(layers: readonly FundsLayer[], amount: bigint): number | undefined {
  let sum = 0n;
  for (const layer of layers) {
    sum += layer.amount;
    if (sum >= amount) return layer.seenAtMs;
  }
  return undefined;
}

/** The largest part of a balance that has the confirmations that its value needs; 0 if none has. */
export function confirmedPart(
  layers: readonly FundsLayer[],
  atBlock: bigint,
  confirmationsOf: (amount: bigint) => number,
): bigint {
  let sum = 0n;
  let confirmed = 0n;
  for (const { amount, sinceBlock } of layers) {
    sum += amount;
    if (atBlock >= confirmAtBlock(sinceBlock, confirmationsOf(sum))) confirmed = sum;
  }
  return confirmed;
}

/**
 * Merges the smallest layer with the next one when there are too many: dust never restarts a payment's
 * confirmations.
 */
function limitLayers(layers: readonly FundsLayer[]): readonly FundsLayer[] {
  if (layers.length <= MAX_FUNDS_LAYERS) return layers;
  const older = layers.slice(0, -1);
  const smallestIndex = older.reduce(
    (minIndex, { amount }, n) => (amount < (older[minIndex]?.amount ?? 0n) ? n : minIndex),
    0,
  );
  return layers.flatMap((layer, n) => {
    if (n === smallestIndex) return [];
    const before = layers[smallestIndex];
    if (n !== smallestIndex + 1 || before === undefined) return [layer];
    const { unseenBlock: _unseen, ...layerFields } = layer;
    return [
      {
        ...layerFields,
        amount: layer.amount + before.amount,
        ...(before.unseenBlock !== undefined && { unseenBlock: before.unseenBlock }),
      },
    ];
  });
}
