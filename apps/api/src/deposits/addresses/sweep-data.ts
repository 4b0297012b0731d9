import type { Hex, Hex32, OrderId } from "@causeway/domain";

/** The data in the payment of a sweep on a chain without contracts. */
export interface SweepData {
  readonly orderId: OrderId;
  /** The order that the address was issued for. */
  readonly keyId: Hex32;
}

export function writeSweepData({ orderId, keyId }: SweepData): Hex {
  return `0x${orderId.slice(2)}${keyId.slice(2)}`;
}

/** @throws RangeError for any other data */
export function readSweepData(data: Hex): SweepData {
  const [, order, key] = /^0x([0-9a-f]{64})([0-9a-f]{64})$/.exec(data) ?? [];
  if (order === undefined || key === undefined)
    throw new RangeError("invariant violated: not the data of a sweep");
  return { orderId: `0x${order}` as OrderId, keyId: `0x${key}` };
}
