import type { Address, Hex, Hex32 } from "@causeway/domain";
import { garbage } from "@causeway/families";

/**
 * The question whether a depository has used a request, asked so that the answer itself says of which state
 * it is. Pure.
 *
 * The chain answers calls on its newest solid state only, and never says which block that was; two answers of
 * one address may come from two nodes. So the question is a little program that the node runs in place of a
 * constructor: it calls the depository and returns the number and time of its block along with what it heard.
 */

/** What the program heard, and where. */
export interface RequestState {
  readonly isUsed: boolean;
  readonly blockNumber: bigint;
  /** Unix seconds: what contracts of that block saw as the time. */
  readonly timestamp: bigint;
}

/** Selector of `callRequests(bytes32)`. */
const CALL_REQUESTS = "d52bfcc8";

/**
 * The program. Memory: 0 the question of 36 bytes, 0x60 the depository's answer; then in words from 0:
 * number, time, whether the call succeeded, the answer, its size.
 */
export function requestStateProgram(depository: Address, id: Hex32): Hex {
  const question = `${CALL_REQUESTS}${id.slice(2)}`.padEnd(128, "0");
  return `0x${[
    store(`7f${question.slice(0, 64)}`, "00"), // PUSH32
    store(`7f${question.slice(64)}`, "20"),
    `602060606024600073${depository.slice(2)}5afa`, // STATICCALL(gas, depository, 0, 36, 0x60, 32)
    "604052", // MSTORE(0x40, whether it succeeded)
    store("43", "00"), // NUMBER
    store("42", "20"), // TIMESTAMP
    store("3d", "80"), // RETURNDATASIZE
    "60a06000f3", // RETURN(0, 0xa0)
  ].join("")}`;
}

/** Code that stores what `push` puts on the stack at a place in memory. */
function store(push: string, at: string): string {
  return `${push}60${at}52`;
}

/**
 * Only a whole `true` or `false` is an answer. A failed call, or the nothing that an account without code
 * answers, says nothing about the request: taken for "not used" it would let a paid withdrawal be given back
 * as well.
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
