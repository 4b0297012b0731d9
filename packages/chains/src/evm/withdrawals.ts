import {
  decodeEvmCallRequest,
  evmCallRequestId,
  NATIVE_CURRENCY,
  type Address,
  type Hex,
  type Hex32,
} from "@causeway/domain";
import type { LogFact } from "../family.ts";
import { addressTopic, TRANSFER_TOPIC } from "./deposits.ts";
import { wordsOf } from "./event-words.ts";

/** Reads withdrawal payloads and what their execution left in the logs. Pure. */

/** keccak256 of `CallExecuted(bytes32,(address,bytes,uint256,bool))`; no field is indexed. */
export const CALL_EXECUTED_TOPIC: Hex = "0xd94218ad7d40b15a52ff1e4483e04ea438f68068d833adbf8f75638087e46adc";

/** What a payload pays, once and wholly. */
export interface WithdrawalPayment {
  /** Under which the depository files it. */
  readonly id: Hex32;
  readonly recipient: Address;
  /** Zero address = native. */
  readonly currency: Address;
  readonly amount: bigint;
  /** Unix seconds; it can be carried out in blocks up to and including this time. */
  readonly expiration: bigint;
}

const TRANSFER_CALL = /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/;

/**
 * The payment that a payload stands for, or why it stands for none: exactly one call which must not fail, and which does nothing but send the native coin
 * or `transfer` a token. Whatever else a request does could be carried out without having paid what an attestation of it would say.
 */
export function readWithdrawal(payload: Hex): WithdrawalPayment | { readonly refusal: string } {
  const request = decodeEvmCallRequest(payload);
  if (request === undefined) return { refusal: "the withdrawal is no encoded call request" };
  const [call, ...others] = request.calls;
  if (call === undefined || others.length > 0) return { refusal: "a withdrawal makes exactly one call" };
  if (call.allowFailure) return { refusal: "a withdrawal's call must not be allowed to fail" };
  const id = evmCallRequestId(request);
  const { expiration } = request;
  if (call.data === "0x") {
    if (call.value === 0n) return { refusal: "the withdrawal moves nothing" };
    return { id, recipient: call.to, currency: NATIVE_CURRENCY, amount: call.value, expiration };
  }
  const [, recipient, amountHex] = TRANSFER_CALL.exec(call.data) ?? [];
  if (recipient === undefined || amountHex === undefined)
    return { refusal: "a withdrawal's call is a native payment or the transfer of a token" };
  // Value sent along with a transfer would leave the depository unnamed.
  if (call.value !== 0n) return { refusal: "a withdrawal of a token sends no native coin" };
  if (call.to === NATIVE_CURRENCY) return { refusal: "the native coin has no transfer function" };
  const amount = BigInt(`0x${amountHex}`);
  if (amount === 0n) return { refusal: "the withdrawal moves nothing" };
  return { id, recipient: `0x${recipient}`, currency: call.to, amount, expiration };
}

/**
 * Whether the logs of a successful transaction show that the depository carried out `payment`, and that its token really moved.
 *
 * A depository takes a call that did not revert for a success. A token that answers `false` instead of reverting would leave the request used up and nobody
 * paid, so between the depository's previous report and this one there must be a Transfer of that token from it to the recipient. It may be of less than
 * the amount: what a token keeps for itself has left the depository all the same. What came in meanwhile is a deposit, and takes nothing back.
 */
export function executionIn(
  logs: readonly LogFact[],
  depository: Address,
  payment: WithdrawalPayment,
): "notHere" | "paid" | "movedNothing" {
  let moved = false;
  for (const log of logs.toSorted((a, b) => a.logIndex - b.logIndex)) {
    if (log.address === depository && log.topics[0] === CALL_EXECUTED_TOPIC) {
      if (log.data.slice(2, 66) === payment.id.slice(2)) {
        return moved || payment.currency === NATIVE_CURRENCY ? "paid" : "movedNothing";
      }
      moved = false;
    } else if (log.address === payment.currency && log.topics[0] === TRANSFER_TOPIC) {
      const [, from, to] = log.topics;
      const isOurs = from === addressTopic(depository) && to === addressTopic(payment.recipient);
      if (isOurs && (wordsOf(log.data)?.[0] ?? 0n) > 0n) moved = true;
    }
  }
  return "notHere";
}
