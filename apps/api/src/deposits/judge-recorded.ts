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
  const asked = new Map<string, RequestTransaction>();
  for (const one of moved) {
    const record = recordOf(records, one);
    if (record === undefined) continue;
    const { requestId, depositAddress } = record.terms;
    const payment = { requestId, txHash: one.fact.txHash };
    if (depositAddress !== undefined || isForeign(judge(chain, record, one.fact)))
      asked.set(paymentKey(payment), payment);
  }
  if (asked.size === 0) return new Map();
  const found = await tx.deposits.sentByService([...asked.values()]);
  return new Map(found.map((one) => [paymentKey(one), one]));
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
