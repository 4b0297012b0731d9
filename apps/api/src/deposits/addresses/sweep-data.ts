import type { SweptAddress } from "@causeway/chains";
import type { Hex, Hex32, OrderId } from "@causeway/domain";

/** The data that the payment of a sweep carries on a chain without contracts. */
export interface SweepData extends SweptAddress {
  /** The order of the deposit. */
  readonly orderId: OrderId;
}

/**
 * Writes the data of a sweep from an address whose key the service holds.
 * @param keyId the order that the address was issued for
 */
export function writeSweepData({
  orderId,
  keyId,
}: {
  readonly orderId: OrderId;
  readonly keyId: Hex32;
}): Hex {
  return `0x${orderId.slice(2)}${keyId.slice(2)}`;
}

/**
 * Writes the data of a sweep from an address of a program, which derives the address from the whole key.
 * @throws RangeError if the excess does not fit in 64 bits
 */
export function writeProgramSweep({ orderId, key, excess }: SweepData): Hex {
  const { id, depositor, strict } = key;
  if (BigInt.asUintN(64, excess) !== excess)
    throw new RangeError(`invariant violated: excess ${excess} is not a uint64`);
  const end = `${strict ? "01" : "00"}${excess.toString(16).padStart(16, "0")}`;
  return `0x${orderId.slice(2)}${id.slice(2)}${depositor.slice(2)}${end}`;
}

const SWEEP_DATA = /^0x([0-9a-f]{64})([0-9a-f]{64})(?:([0-9a-f]{64})(0[01])([0-9a-f]{16}))?$/;

/** @throws RangeError for any other data */
export function readSweepData(data: Hex): SweepData {
  const [, order, id, depositor, strict, excess] = SWEEP_DATA.exec(data) ?? [];
  if (order === undefined || id === undefined)
    throw new RangeError("invariant violated: not the data of a sweep");
  return {
    orderId: `0x${order}` as OrderId,
    key: { id: `0x${id}`, depositor: `0x${depositor ?? ""}`, strict: strict === "01" },
    excess: excess === undefined ? 0n : BigInt(`0x${excess}`),
  };
}
