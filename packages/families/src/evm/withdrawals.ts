import {
  decodeEvmCallRequest,
  evmCallRequestId,
  evmWithdrawalPayment,
  NATIVE_CURRENCY,
  type Address,
  type EvmWithdrawalPayment,
  type Hex,
  type Hex32,
} from "@causeway/domain";
import { decodeAbiParameters, decodeFunctionData, erc20Abi } from "viem";
import type { LogFact } from "./port.ts";
import { addressTopic, TRANSFER_TOPIC } from "./deposits.ts";
import { splitWords } from "./answers/event-words.ts";

/** Reads withdrawal payloads and the logs of their execution. Pure. */

/** keccak256 of `CallExecuted(bytes32,(address,bytes,uint256,bool))`; no field is indexed. */
export const CALL_EXECUTED_TOPIC: Hex = "0xd94218ad7d40b15a52ff1e4483e04ea438f68068d833adbf8f75638087e46adc";

/** The payment of a payload, which is executed at most once and completely. */
export interface WithdrawalPayment extends EvmWithdrawalPayment {
  /** The depository's key for the request. */
  readonly id: Hex32;
  /** Unix seconds: the last block time, inclusive, at which the payload can be executed. */
  readonly expiration: bigint;
}

/**
 * The payment of a payload and the id of its request, or why it is not a payment; see `evmWithdrawalPayment`.
 */
export function readWithdrawal(payload: Hex): WithdrawalPayment | { readonly refusal: string } {
  const request = decodeEvmCallRequest(payload);
  if (request === undefined) return { refusal: "withdrawal is not an encoded call request" };
  const payment = evmWithdrawalPayment(request);
  if ("refusal" in payment) return payment;
  return { ...payment, id: evmCallRequestId(request), expiration: request.expiration };
}

const reportFields = [
  { type: "bytes32" },
  {
    type: "tuple",
    components: [{ type: "address" }, { type: "bytes" }, { type: "uint256" }, { type: "bool" }],
  },
] as const;

/** The token transfer in a depository's report of an executed call; undefined for any other call. */
export function tokenPaymentIn(
  data: Hex,
): { readonly token: Address; readonly recipient: Address; readonly amount: bigint } | undefined {
  try {
    const [, [to, calldata]] = decodeAbiParameters(reportFields, data);
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data: calldata });
    if (functionName !== "transfer") return undefined;
    const [recipient, amount] = args;
    return { token: lowerCase(to), recipient: lowerCase(recipient), amount };
  } catch {
    return undefined;
  }
}

function lowerCase(address: Address): Address {
  return address.toLowerCase() as Address;
}

/**
 * Whether the logs of a successful transaction show that the depository executed `payment`, and that its
 * token really moved.
 *
 * A depository treats a call that did not revert as successful. A token that returns `false` instead of
 * reverting would use up the request without paying the recipient. So between the depository's previous
 * report and this one there must be a Transfer of the token from the depository to the recipient. Its amount
 * may be less than the payment: a fee that the token keeps has left the depository too. Tokens that
 * arrived in between are a deposit and do not undo the payment.
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
      if (isOurs && (splitWords(log.data)?.[0] ?? 0n) > 0n) moved = true;
    }
  }
  return "notHere";
}
