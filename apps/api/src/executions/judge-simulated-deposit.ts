import { depositsInLogs } from "@causeway/chains";
import type { DepositFact } from "@causeway/chains";
import { judgeDeposit } from "@causeway/domain";
import type { Chain, FrameLog, Hex, RequestTerms } from "@causeway/domain";

/** Placeholder for the hash of a transaction that has not been sent yet. */
const UNSENT: Hex = `0x${"0".repeat(64)}`;

/** Whether a simulated call makes the quote's deposit; `mismatch` says how its deposit differs. */
export type SimulatedDepositVerdict =
  | { readonly kind: "made" }
  | { readonly kind: "none" }
  | { readonly kind: "mismatch"; readonly message: string };

/**
 * Compares the simulated deposits for a quote's order with the quote, in the way that mined deposits are
 * judged: a deposit that would be refunded should not be sent. Ignores `forceRefund`. Pure.
 */
export function judgeSimulatedDeposit(
  logs: readonly FrameLog[],
  { id: chainId, contracts, tokens }: Pick<Chain, "id" | "contracts" | "tokens">,
  { orderId, origin, user }: Pick<RequestTerms, "orderId" | "origin" | "user">,
): SimulatedDepositVerdict {
  const facts = logs.map(({ address, topics, data }, logIndex) => ({
    address,
    topics,
    data,
    logIndex,
    blockNumber: 0n,
    blockHash: UNSENT,
    txHash: UNSENT,
  }));
  const transaction = { hash: UNSENT, from: user, to: undefined, input: "0x", value: 0n, nonce: 0 } as const;
  const question = {
    depository: contracts.depository,
    tokens: new Set(tokens.map(({ address }) => address)),
  };
  const deposits = depositsInLogs(question, facts, new Map([[UNSENT, transaction]])).deposits.filter(
    ({ id }) => id === orderId,
  );
  if (deposits.length === 0) return { kind: "none" };
  const quotedTerms = { user, origin, forceRefund: false };
  for (const deposit of deposits) {
    const verdict = judgeDeposit(quotedTerms, { chainId, ...deposit });
    if (verdict.kind === "mismatch")
      return { kind: "mismatch", message: `${verdict.reason}: ${differenceOf(quotedTerms, deposit)}` };
  }
  return { kind: "made" };
}

/** The difference between the agreed and the simulated deposit. */
function differenceOf(
  { user, origin }: Pick<RequestTerms, "origin" | "user">,
  { currency, depositor, amount }: DepositFact,
): string {
  return `expected ${origin.amount} base units of ${origin.currency} in the name of ${user}, got ${amount} of ${currency} in the name of ${depositor}`;
}
