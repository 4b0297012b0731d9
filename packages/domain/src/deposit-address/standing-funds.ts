import { confirmAtBlock } from "../quote/confirmations.ts";

/** Money that has been at an address since one block. */
export interface FundsLayer {
  readonly amount: bigint;
  /**
   * The block in which it was seen first, or from which its confirmations count anew after a sweep that moved
   * nothing.
   */
  readonly sinceBlock: bigint;
  /** The block in which it was seen first, where that is not `sinceBlock`: who sent it is found there. */
  readonly foundBlock?: bigint;
  /** The last block before that in which it was not there; absent: nobody looked. */
  readonly unseenBlock?: bigint;
  readonly seenAtMs: number;
}

/** A balance as it was read. */
export type BalanceReading = FundsLayer;

/** Layers kept of one balance: a row of bounded size, however often somebody sends dust. */
export const MAX_FUNDS_LAYERS = 8;

/**
 * The layers of a balance after it was read again, the oldest first; together they are the balance. Growth is
 * a layer of its own, so it postpones nothing that was there before; what left was the youngest.
 */
export function readBalance(layers: readonly FundsLayer[], reading: BalanceReading): readonly FundsLayer[] {
  const known = totalOf(layers);
  if (reading.amount <= known) return oldestLayers(layers, reading.amount);
  return merged([...layers, { ...reading, amount: reading.amount - known }]);
}

/** The oldest layers that make up an amount; the last one may be a part of its layer. */
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

/** What remains when the oldest `amount` is taken. */
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

/** When at least this much was there, ms since epoch; undefined: it never was. */
export function seenSince(layers: readonly FundsLayer[], amount: bigint): number | undefined {
  let sum = 0n;
  for (const layer of layers) {
    sum += layer.amount;
    if (sum >= amount) return layer.seenAtMs;
  }
  return undefined;
}

/**
 * The largest part of a balance that has been there for as many blocks as its value asks for; 0: none has.
 */
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
 * Too many: the smallest layer counts as if it had come with the next one, so dust never makes a payment
 * younger.
 */
function merged(layers: readonly FundsLayer[]): readonly FundsLayer[] {
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
