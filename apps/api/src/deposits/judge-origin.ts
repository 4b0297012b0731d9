import type { DepositFact, SimulationOutcome, TransactionFact, TransactionState } from "@causeway/chains";
import type { Chain, RequestTerms } from "@causeway/domain";
import {
  depositErc20Calldata,
  depositNativeCalldata,
  judgeDeposit,
  minDeposit,
  NATIVE_CURRENCY,
  routerCalls,
  transferWithIdCalldata,
  unreachable,
} from "@causeway/domain";
import type { OriginRule } from "./fast-fill-refusals.ts";

/** Why a transaction cannot become the agreed deposit; `reason` completes "the transaction …". */
export interface OriginProblem {
  readonly rule: OriginRule;
  readonly reason: string;
}

/** Chain state about the sender, in addition to the transaction itself. */
export interface SenderFacts {
  /** The first unused nonce; undefined: not read. */
  readonly nextNonce: number | undefined;
  /** The next nonce that is free in the node's mempool. */
  readonly nextPendingNonce: number;
  /** Wei per gas of the next block, as far as known. */
  readonly baseFeePerGas: bigint;
  /**
   * The simulation of the transaction; undefined if other transactions of the sender come first, or if its
   * fee is too low.
   */
  readonly simulation: SimulationOutcome | undefined;
  /** The sender's balance in the currency they pay with, in base units; undefined: not read. */
  readonly balance: bigint | undefined;
  /** Deposits of a mined transaction, with their attestability. */
  readonly deposits: readonly DepositFact[];
}

/** When the sender was not read. */
export const UNREAD_SENDER = {
  nextNonce: undefined,
  nextPendingNonce: 0,
  baseFeePerGas: 0n,
  simulation: undefined,
  balance: undefined,
} as const;

/** Finds out why the origin transaction of a fast fill cannot be accepted; undefined if it can. */
export function judgeOrigin(
  terms: RequestTerms,
  chain: Pick<Chain, "id" | "contracts" | "paysFromAnyAddress">,
  state: TransactionState,
  facts: SenderFacts,
): OriginProblem | undefined {
  switch (state.kind) {
    case "absent":
      return { rule: "originTransactionUnknown", reason: "is not known to the chain" };
    case "mined":
      if (state.receipt.status === "reverted") return { rule: "originReverts", reason: "reverted" };
      return findDepositProblem(terms, chain, facts.deposits);
    case "pending":
      return (
        findCallProblem(terms, chain, state.transaction) ?? findSenderProblem(terms, state.transaction, facts)
      );
    default:
      return unreachable(state);
  }
}

/** Checks the deposits of a mined transaction; undefined if one of them is the agreed deposit. */
export function findDepositProblem(
  terms: RequestTerms,
  chain: Pick<Chain, "id" | "paysFromAnyAddress">,
  deposits: readonly DepositFact[],
): OriginProblem | undefined {
  const isFromAnyAddress = chain.paysFromAnyAddress === true;
  const verdicts = deposits
    .filter(({ id }) => id === terms.orderId)
    .map((deposit) => judgeDeposit(terms, { chainId: chain.id, isFromAnyAddress, ...deposit }));
  if (verdicts.some(({ kind }) => kind === "match")) return undefined;
  const isUnattestable = verdicts.some(
    (verdict) => verdict.kind === "mismatch" && verdict.reason === "DEPOSIT_UNATTESTABLE",
  );
  return isUnattestable
    ? {
        rule: "originUnattestable",
        reason:
          "made the agreed deposit, but oracles cannot attest it: too many deposits, a receipt that is too large, or payments to several depositories",
      }
    : { rule: "originOtherCall", reason: "did not make the agreed deposit" };
}

function findCallProblem(
  terms: RequestTerms,
  { contracts }: Pick<Chain, "contracts">,
  { from, to, input, value }: TransactionFact,
): OriginProblem | undefined {
  const { user, origin, orderId } = terms;
  if (from !== user)
    return {
      rule: "originOtherSender",
      reason: `was sent by ${from}, expected ${user}, the user of the request`,
    };
  if (!input.includes(orderId.slice(2)))
    return { rule: "originOtherCall", reason: "does not contain the orderId of the request" };
  const { depository } = contracts;
  if (terms.input !== undefined) return findSwapProblem(terms, contracts, { to, input, value });
  const isNative = origin.currency === NATIVE_CURRENCY;
  // Through another contract, as in batching wallets: the simulation decides.
  if (to !== depository && (isNative || to !== origin.currency)) return undefined;
  const agreedInput =
    to === depository
      ? isNative
        ? depositNativeCalldata(user, orderId)
        : depositErc20Calldata(user, origin.currency, origin.amount, orderId)
      : transferWithIdCalldata(depository, origin.amount, orderId);
  if (input.startsWith(agreedInput) && value === (isNative ? origin.amount : 0n)) return undefined;
  return { rule: "originOtherCall", reason: "does not deposit the agreed amount of the agreed currency" };
}

/**
 * A swap before the deposit deposits all of its output, which is unknown before it is mined. The swap must
 * require at least the filled amount, in the agreed deposit; the simulation decides the rest.
 */
function findSwapProblem(
  terms: RequestTerms,
  { router, approvalProxy, depository }: Chain["contracts"],
  { to, input, value }: Pick<TransactionFact, "to" | "input" | "value">,
): OriginProblem | undefined {
  // Through another contract, as in batching wallets.
  if (to !== router && to !== approvalProxy) return undefined;
  const { user, origin, orderId, input: paid } = terms;
  const isPaid = paid?.currency !== NATIVE_CURRENCY || value >= paid.amount;
  const template = routerCalls.depositBalance(depository, user, origin.currency, 0n, orderId).slice(2);
  const [prefix, suffix] = [template.slice(0, -2 * WORD), template.slice(-WORD)];
  const start = input.indexOf(prefix);
  const minimum = input.slice(start + prefix.length, start + prefix.length + WORD);
  const isAgreed =
    start !== -1 &&
    /^[0-9a-f]{64}$/.test(minimum) &&
    BigInt(`0x${minimum}`) >= minDeposit(terms) &&
    input.startsWith(suffix, start + prefix.length + WORD);
  if (isPaid && isAgreed) return undefined;
  return {
    rule: "originOtherCall",
    reason: "does not deposit at least the amount that the fill needs, in the agreed currency",
  };
}

/** Hex digits of 32 bytes. */
const WORD = 64;

function findSenderProblem(
  { origin, input }: RequestTerms,
  { nonce, maxFeePerGas }: TransactionFact,
  { nextNonce, nextPendingNonce, baseFeePerGas, simulation, balance }: SenderFacts,
): OriginProblem | undefined {
  if (nextNonce !== undefined && nonce < nextNonce)
    return { rule: "originNonceUsed", reason: `has nonce ${nonce}, which another transaction already used` };
  if (nextNonce !== undefined && nonce > nextNonce && nonce >= nextPendingNonce)
    return {
      rule: "originNonceGap",
      reason: `has nonce ${nonce} and waits behind a nonce gap`,
    };
  if (maxFeePerGas !== undefined && maxFeePerGas < baseFeePerGas)
    return { rule: "originFeeTooLow", reason: "offers a gas price below the current base fee" };
  if (
    simulation?.kind === "insufficientFunds" ||
    (balance !== undefined && balance < (input ?? origin).amount)
  )
    return { rule: "originFundsMissing", reason: "is not covered by the balance of its sender" };
  if (simulation?.kind === "reverts")
    return { rule: "originReverts", reason: `would revert: ${simulation.reason}` };
  return undefined;
}
