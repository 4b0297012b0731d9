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
  const known = totalOf(layers);
  if (reading.amount <= known) return oldestLayers(layers, reading.amount);
  return limitLayers([...layers, { ...reading, amount: reading.amount - known }]);
}

/** The oldest layers that add up to an amount; the last one may be partial. */
export function oldestLayers(layers: readonly FundsLayer[], amount: bigint): readonly FundsLayer[] {
  const kept: FundsLayer[] = [];
  let left = amount;
  for (const layer of layers) {
    if (left <= 0n) break;
    kept.push(layer.amount <= left ? layer : { ...layer, amount: left });
    left -= layer.amount;
  }
  return kept;
}

/** The layers after removing the oldest `amount`. */
export function layersBeyond(layers: readonly FundsLayer[], amount: bigint): readonly FundsLayer[] {
  let left = amount;
  return layers.flatMap((layer) => {
    const taken = left < layer.amount ? left : layer.amount;
    left -= taken;
    return taken === layer.amount ? [] : [{ ...layer, amount: layer.amount - taken }];
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
  const smallest = older.reduce((at, { amount }, n) => (amount < (older[at]?.amount ?? 0n) ? n : at), 0);
  return layers.flatMap((layer, n) => {
    if (n === smallest) return [];
    const before = layers[smallest];
    if (n !== smallest + 1 || before === undefined) return [layer];
    const { unseenBlock: _unseen, ...rest } = layer;
    return [
      {
        ...rest,
        amount: layer.amount + before.amount,
        ...(before.unseenBlock !== undefined && { unseenBlock: before.unseenBlock }),
      },
    ];
  });
}
