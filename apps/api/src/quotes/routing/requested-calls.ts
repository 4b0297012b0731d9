import type { ErrorCode, OrderCall, SignedAuthorization } from "@causeway/domain";
import { valueOfCalls, NATIVE_CURRENCY, parseAddress, ServiceError } from "@causeway/domain";
import type { Hex, Hex32 } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import { evmOf } from "../sides/side.ts";
import type { PlainQuestion } from "../quote-question.ts";
import type { RequestedCalls } from "./fill-options.ts";

/** Gas limit of all calls of a fill together. */
export const MAX_CALLS_GAS = 10_000_000n;
/** Each call adds an event to the fill, and bytes to the order. */
const MAX_CALLS = 50;
/** Each authorization costs the fill 25,000 gas. */
const MAX_AUTHORIZATIONS = 20;
/** Maximum data of all calls together, in bytes. Nodes accept four times as much in a transaction. */
const MAX_BYTES = 32_768;

/**
 * Reads the calls that a question requests, if any.
 * @throws ServiceError INVALID_EXTRA_TXS and others naming the field
 */
export function readRequestedCalls(
  { txs = [], txsGasLimit, authorizationList = [], topupGas }: QuoteInput,
  { isSend, tradeType, amount, to, destinationCurrency }: PlainQuestion,
): RequestedCalls | undefined {
  if (txs.length === 0) {
    if (authorizationList.length > 0)
      throw refusal(
        "UNSUPPORTED_EXECUTION_TYPE",
        "authorizationList requires txs: authorizations are sent together with calls",
        "authorizationList",
      );
    return undefined;
  }
  if (isSend)
    throw refusal(
      "UNSUPPORTED_EXECUTION_TYPE",
      "txs is not supported when the user pays the recipient directly",
      "txs",
    );
  if (topupGas === true)
    throw refusal("UNSUPPORTED_EXECUTION_TYPE", "topupGas is not supported together with txs", "topupGas");
  if (tradeType === "EXPECTED_OUTPUT")
    throw refusal(
      "EXTRA_TXS_NOT_SUPPORTED",
      "tradeType must be EXACT_INPUT or EXACT_OUTPUT with txs: calls need a known amount",
      "tradeType",
    );
  if (txs.length > MAX_CALLS)
    throw refusal("INVALID_EXTRA_TXS", `txs must have at most ${MAX_CALLS} calls, got ${txs.length}`, "txs");
  const { router } = evmOf(to).chain.contracts;
  const calls = txs.map((tx, index) => callOf(tx, index, router));
  if (calls.reduce((sum, { data }) => sum + (data.length - 2) / 2, 0) > MAX_BYTES)
    throw refusal("INVALID_EXTRA_TXS", `txs may carry at most ${MAX_BYTES} bytes of data in total`, "txs");
  const value = valueOfCalls(calls);
  if (value > 0n && destinationCurrency.address !== NATIVE_CURRENCY)
    throw refusal(
      "INVALID_EXTRA_TXS",
      `txs must not carry value when the output is ${destinationCurrency.symbol}; quote the native token, or set value to 0`,
      "txs",
    );
  if (tradeType === "EXACT_OUTPUT") refuseBeyondOutput(value, amount);
  if (authorizationList.length > MAX_AUTHORIZATIONS)
    throw refusal(
      "INVALID_EXTRA_TXS",
      `authorizationList must have at most ${MAX_AUTHORIZATIONS} authorizations, got ${authorizationList.length}`,
      "authorizationList",
    );
  const consents = authorizationList.map(consentOf);
  const gasLimit = txsGasLimit === undefined || txsGasLimit === 0 ? undefined : BigInt(txsGasLimit);
  if (gasLimit !== undefined && gasLimit > MAX_CALLS_GAS)
    throw refusal(
      "INVALID_EXTRA_TXS",
      `txsGasLimit must be at most ${MAX_CALLS_GAS}, got ${gasLimit}`,
      "txsGasLimit",
    );
  return {
    calls,
    ...(consents.length > 0 && { authorizationList: consents }),
    gasLimit,
    gas: gasLimit ?? 0n,
  };
}

/** @throws ServiceError INVALID_EXTRA_TXS when the calls send more native token than the output */
export function refuseBeyondOutput(value: bigint, output: bigint): void {
  if (value <= output) return;
  throw new ServiceError(
    "INVALID_EXTRA_TXS",
    `txs may carry at most ${output} wei of value, which is the output of the quote; got ${value}`,
    {
      field: "txs",
      data: { value: value.toString(), output: output.toString() },
    },
  );
}

function callOf(
  { to, data, value }: NonNullable<QuoteInput["txs"]>[number],
  index: number,
  router: string,
): OrderCall {
  const target = parseAddress(to);
  if (target === undefined)
    throw refusal("INVALID_EXTRA_TXS", `txs[${index}].to must be a 20-byte address`, "txs");
  // The router emits no event for calls to itself, so such a call could not be proven.
  if (target === router)
    throw refusal(
      "INVALID_EXTRA_TXS",
      `txs[${index}].to must not be the router ${router}, which makes the calls`,
      "txs",
    );
  const wei = BigInt(value);
  if (wei >> 256n !== 0n)
    throw refusal("INVALID_EXTRA_TXS", `txs[${index}].value must be below 2^256`, "txs");
  return { to: target, data: data.toLowerCase() as Hex, value: wei };
}

function consentOf(
  { chainId, address, nonce, yParity, r, s }: NonNullable<QuoteInput["authorizationList"]>[number],
  index: number,
): SignedAuthorization {
  const code = parseAddress(address);
  const [wordR, wordS] = [r, s].map(parseWord);
  if (code === undefined || wordR === undefined || wordS === undefined || (yParity !== 0 && yParity !== 1))
    throw refusal(
      "INVALID_REQUEST",
      `authorizationList[${index}] must have an address, yParity 0 or 1, and r and s of up to 32 bytes`,
      "authorizationList",
    );
  return { chainId, address: code, nonce, yParity, r: wordR, s: wordS };
}

function parseWord(text: string): Hex32 | undefined {
  return /^0x[0-9a-fA-F]{1,64}$/.test(text)
    ? `0x${text.slice(2).toLowerCase().padStart(64, "0")}`
    : undefined;
}

function refusal(code: ErrorCode, message: string, field: keyof QuoteInput): ServiceError {
  return new ServiceError(code, message, { field });
}
