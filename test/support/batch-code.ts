import type { Address, Hex } from "@causeway/domain";

export interface BatchedCall {
  readonly to: Address;
  readonly data: Hex;
}

/** The number of bytes of code that each call needs. */
const CALL_BYTES = 44;

/** Code of a contract that makes these calls in order whenever it is called, and skips calls that fail. */
export function batchCode(calls: readonly BatchedCall[]): Hex {
  const word = (value: number): string => value.toString(16).padStart(4, "0");
  let offset = calls.length * CALL_BYTES + 1;
  const makeCalls = calls.map(({ to, data }) => {
    const length = data.length / 2 - 1;
    // codecopy(0, offset, length), then call(gas, to, 0, 0, length, 0, 0) and pop its result.
    const code = `61${word(length)}61${word(offset)}60003960006000${`61${word(length)}`}6000600073${to.slice(2)}5af150`;
    offset += length;
    return code;
  });
  return `0x${makeCalls.join("")}00${calls.map(({ data }) => data.slice(2)).join("")}`;
}
