import { type DepositVerdict, judgeDeposit } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import type { RequestTransaction, ServiceTransaction, Tx } from "../db/unit-of-work.port.ts";
import { type MovedDeposit, type Reading, recordOf, type Records } from "./deposit-reading.ts";

/** Transactions that the service sent for the request that they pay, by {@link paymentKey}. */
export type ServiceTransactions = ReadonlyMap<string, ServiceTransaction>;

export function paymentKey({ requestId, txHash }: RequestTransaction): string {
  return `${requestId} ${txHash}`;
}

/** Looks up which deposits the service sent itself, where that matters. */
export async function serviceTransactions(
  tx: Pick<Tx, "deposits">,
  { chain }: Reading,
  moved: readonly MovedDeposit[],
  records: Records,
): Promise<ServiceTransactions> {
  const toLookUp = new Map<string, RequestTransaction>();
  for (const movedDeposit of moved) {
    const record = recordOf(records, movedDeposit);
    if (record === undefined) continue;
    const { requestId, depositAddress } = record.terms;
    const payment = { requestId, txHash: movedDeposit.fact.txHash };
    if (depositAddress !== undefined || isForeign(judge(chain, record, movedDeposit.fact)))
      toLookUp.set(paymentKey(payment), payment);
  }
  if (toLookUp.size === 0) return new Map();
  const transactions = await tx.deposits.sentByService([...toLookUp.values()]);
  return new Map(transactions.map((transaction) => [paymentKey(transaction), transaction]));
}

/** Executions are signed by the service, not by the user. */
export function verdictOf(
  chain: Reading["chain"],
  record: RequestRecord,
  fact: MovedDeposit["fact"],
  sent: ServiceTransactions,
): DepositVerdict {
  const verdict = judge(chain, record, fact);
  if (!isForeign(verdict)) return verdict;
  const { requestId } = record.terms;
  return judge(chain, record, fact, sent.has(paymentKey({ requestId, txHash: fact.txHash })));
}

export function judge(
  chain: Reading["chain"],
  { terms }: RequestRecord,
  fact: MovedDeposit["fact"],
  byExecution = false,
): DepositVerdict {
  const isFromAnyAddress = chain.paysFromAnyAddress === true;
  return judgeDeposit(terms, { chainId: chain.id, isFromAnyAddress, ...fact, byExecution });
}

function isForeign(verdict: DepositVerdict): boolean {
  return verdict.kind === "mismatch" && !verdict.byUser;
}
