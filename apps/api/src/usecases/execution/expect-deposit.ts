import { depositsInLogs } from "@causeway/chains";
import type { Chain, FrameLog, Hex, RequestTerms } from "@causeway/domain";

/** Stands for the transaction that was not sent yet. */
const UNSENT: Hex = `0x${"0".repeat(64)}`;

/** Whether these logs of a simulated call hold the deposit that a quote agreed on. Pure. */
export function makesDeposit(
  logs: readonly FrameLog[],
  { contracts, tokens }: Pick<Chain, "contracts" | "tokens">,
  { orderId, origin, user }: Pick<RequestTerms, "orderId" | "origin" | "user">,
): boolean {
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
  return depositsInLogs(question, facts, new Map([[UNSENT, transaction]])).deposits.some(
    ({ id, currency, amount }) => id === orderId && currency === origin.currency && amount >= origin.amount,
  );
}
