import type { Address, Hex, Hex32 } from "@causeway/domain";
import { garbage } from "@causeway/families";

/**
 * Checks whether a depository has executed a withdrawal's call request, in a call whose result also
 * identifies the state it was read from. Pure.
 *
 * Tron executes calls only on its newest solid state, without returning the block, and two responses from one
 * address may come from two nodes. So the call is a small program that the node runs like a constructor: it
 * calls the depository and returns the number and time of the block together with the result.
 */

/** The program's result and its block. */
export interface RequestState {
  readonly isUsed: boolean;
  readonly blockNumber: bigint;
  /** Unix seconds: the block time that contracts see. */
  readonly timestamp: bigint;
}

/** Selector of `callRequests(bytes32)`. */
const CALL_REQUESTS = "d52bfcc8";

/**
 * The program. Memory: 36 bytes of calldata at 0, the depository's return data at 0x60; then words from 0:
 * number, time, whether the call succeeded, the return data, its size.
 */
export function requestStateProgram(depository: Address, id: Hex32): Hex {
  const calldata = `${CALL_REQUESTS}${id.slice(2)}`.padEnd(128, "0");
  return `0x${[
    store(`7f${calldata.slice(0, 64)}`, "00"), // PUSH32
    store(`7f${calldata.slice(64)}`, "20"),
    `602060606024600073${depository.slice(2)}5afa`, // STATICCALL(gas, depository, 0, 36, 0x60, 32)
    "604052", // MSTORE(0x40, whether it succeeded)
    store("43", "00"), // NUMBER
    store("42", "20"), // TIMESTAMP
    store("3d", "80"), // RETURNDATASIZE
    "60a06000f3", // RETURN(0, 0xa0)
  ].join("")}`;
}

/** Code that stores the value of `push` at a memory offset. */
function store(push: string, offset: string): string {
  return `${push}60${offset}52`;
}

/**
 * Only a complete `true` or `false` is an answer. A failed call, or the empty data of an account without
 * code, proves nothing; reading it as "not used" would refund a withdrawal that was paid.
 *
 * @throws RpcFault
 */
export function readRequestState(answer: Hex): RequestState {
  const words = answer.slice(2).match(/.{64}/g) ?? [];
  const [blockNumber, timestamp, succeeded, value, size] = words.map((word) => BigInt(`0x${word}`));
  if (answer.length !== 2 + 5 * 64 || blockNumber === undefined || timestamp === undefined)
    throw garbage("triggerconstantcontract", "program result has an unexpected size");
  if (succeeded !== 1n || size !== 32n || (value !== 0n && value !== 1n))
    throw garbage(
      "triggerconstantcontract",
      "depository did not report whether it executed the withdrawal request",
    );
  return { isUsed: value === 1n, blockNumber, timestamp };
}
