import type { UnsignedTransaction } from "@causeway/chains";
import { amountToUsdUp, NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { toFunctionSelector } from "viem";
import { judgeValue } from "../policy/daily-limit.ts";
import { outflowsOf } from "../policy/judge-call.ts";
import { judgeFee } from "../policy/lane-limits.ts";
import type { Refusal } from "../policy/limits.port.ts";
import { readCall, type CallReading } from "../policy/read-call.ts";
import { HUB_CALLS } from "../policy/signed-calls.ts";
import type { ChainRules, SigningRules } from "./signing-rules.port.ts";

/** Decides whether a signer process may sign a transaction, from its bytes and the rules alone. Pure. */

export type TransactionVerdict =
  /** `usd`: the maximum that it can spend from its account, 18 decimals. */
  | { readonly kind: "allowed"; readonly usd: bigint }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Users choose the executor's calls. These calls could only move its own tokens, and it needs no tokens. */
const OWN_TOKEN_CALLS: readonly Hex[] = [
  "transfer(address,uint256)",
  // On WETH and DAI, the caller can move its own tokens with this without an allowance.
  "transferFrom(address,address,uint256)",
  "approve(address,uint256)",
  "increaseAllowance(address,uint256)",
].map((signature) => toFunctionSelector(signature));

/** Maximum serialized size of an authorization. */
const AUTHORIZATION_BYTES = 110;

/** Judges one transaction. The signing record checks the daily limit. */
export function judgeTransaction(rules: SigningRules, transaction: UnsignedTransaction): TransactionVerdict {
  const { chainId, maxFeePerGas } = transaction;
  const chain = rules.chains.get(chainId);
  if (chain === undefined) return refused("call", `chain ${chainId}`, [...rules.chains.keys()].join(" or "));
  const limits = { ...rules, maxFeePerGasWei: chain.maxFeePerGasWei };
  const feeRefusal = judgeFee(maxFeePerGas, limits);
  if (feeRefusal !== undefined) return { kind: "refused", refusal: feeRefusal };
  const reading =
    rules.key === "executor" ? readExecutorCall(transaction) : readSolverCall(chain, transaction);
  if ("rule" in reading) return { kind: "refused", refusal: reading };
  const usd = usdOf(chain, transaction, reading);
  if (typeof usd !== "bigint") return { kind: "refused", refusal: usd };
  const valueRefusal = judgeValue(usd, 0n, { ...limits, dayUsd: undefined });
  return valueRefusal === undefined ? { kind: "allowed", usd } : { kind: "refused", refusal: valueRefusal };
}

function readExecutorCall({ data }: UnsignedTransaction): CallReading | Refusal {
  const selector = data.slice(0, 10).toLowerCase() as Hex;
  return OWN_TOKEN_CALLS.includes(selector)
    ? refusal("call", selector, "calls that move no tokens of the executor")
    : { kind: "unknown" };
}

function readSolverCall(
  { contracts, currencies, hubContracts }: ChainRules,
  { to, data, value, authorizationList }: UnsignedTransaction,
): CallReading | Refusal {
  if (authorizationList !== undefined) return refusal("call", "an authorization list", "none");
  const selector = data.slice(0, 10).toLowerCase() as Hex;
  if (hubContracts.includes(to))
    return value === 0n && HUB_CALLS.includes(selector)
      ? { kind: "unknown" }
      : refusal("call", `${selector} of ${to} with ${value} wei`, `${HUB_CALLS.join(" or ")} with 0 wei`);
  const reading = readCall({ to, data, value }, contracts);
  if (reading.kind === "unknown")
    return refusal("call", `${selector} of ${to}`, "payments, and calls of the listed contracts");
  // A native payment carries 32 bytes of data, which a contract could execute as a call.
  const isPlain = reading.kind === "payment" && reading.currency === NATIVE_CURRENCY;
  if (isPlain && to !== contracts.router && (to === contracts.approvalProxy || currencies.has(to)))
    return refusal("recipient", to, "any address other than the listed contracts");
  return reading;
}

/**
 * The maximum that a transaction can spend, USD with 18 decimals.
 * @returns a refusal for a currency that is not listed
 */
function usdOf(
  { currencies, dataFeeUsdPerKb }: ChainRules,
  { to, data, value, gas, maxFeePerGas, authorizationList = [] }: UnsignedTransaction,
  reading: CallReading,
): bigint | Refusal {
  const bytes = data.length / 2 + 200 + authorizationList.length * AUTHORIZATION_BYTES;
  const kilobytes = BigInt(Math.ceil(bytes / 1_000));
  let usd = dataFeeUsdPerKb * kilobytes;
  const gasSpent = { currency: NATIVE_CURRENCY, amount: gas * maxFeePerGas };
  for (const { currency, amount } of [...outflowsOf({ call: { to, data, value }, reading }), gasSpent]) {
    const unit = currencies.get(currency);
    if (unit === undefined) return refusal("currency", currency, listOf(currencies));
    usd += amountToUsdUp(amount, unit);
  }
  return usd;
}

const listOf = (currencies: ReadonlyMap<Address, unknown>): string => [...currencies.keys()].join(" or ");

function refused(rule: Refusal["rule"], found: string, limit: string): TransactionVerdict {
  return { kind: "refused", refusal: { rule, found, limit } };
}

function refusal(rule: Refusal["rule"], found: string, limit: string): Refusal {
  return { rule, found, limit };
}
