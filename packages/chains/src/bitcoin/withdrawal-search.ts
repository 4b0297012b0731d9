import { inconsistent, type Evidence, type WithdrawalAnswer } from "@causeway/families";
import { certainId, meaningOf, type BitcoinOutput, type WithdrawalPlan } from "@causeway/families/bitcoin";
import type { SpendHints } from "./explorer.ts";
import type { BitcoinReads, FinalTransaction } from "./rpc.ts";

/** Concurrent requests to the explorer about inputs of a payload. */
const MAX_CONCURRENT_HINTS = 8;

/**
 * The outcome of a payload, decided by the node's final transactions that spend its inputs. The payload, the
 * caller and the explorer only suggest ids of such transactions; none of them is trusted.
 */
export async function searchSpend(
  reads: BitcoinReads,
  hints: SpendHints | undefined,
  { unsigned }: WithdrawalPlan,
  spent: readonly BitcoinOutput[],
  callerTxid: string | undefined,
): Promise<WithdrawalAnswer["status"]> {
  const seen = new Set<string>();
  let status: WithdrawalAnswer["status"] = "pending";
  const check = async (txid: string): Promise<Evidence<FinalTransaction>["kind"] | undefined> => {
    if (seen.has(txid)) return undefined;
    seen.add(txid);
    const evidence = await reads.transaction(txid);
    if (evidence.kind === "final") status = meaningOf(unsigned, evidence.value.transaction) ?? status;
    return evidence.kind;
  };
  const isDecided = (): boolean => status !== "pending";

  for (const txid of [certainId(unsigned, spent), callerTxid]) {
    if (txid !== undefined) await check(txid);
    if (isDecided()) return status;
  }
  if (hints === undefined) return status;
  for (let start = 0; start < unsigned.inputs.length; start += MAX_CONCURRENT_HINTS) {
    const inputs = unsigned.inputs.slice(start, start + MAX_CONCURRENT_HINTS);
    const reported = await Promise.all(inputs.map(async ({ txid, vout }) => await hints.spendOf(txid, vout)));
    for (const spend of reported) {
      if (spend === undefined) continue;
      const kind = await check(spend.txid);
      if (isDecided()) return status;
      // Either the explorer or the node is wrong or lags far behind.
      if (kind === "absent" && spend.isConfirmed)
        throw inconsistent(
          "outspend",
          "the explorer reports a mined transaction that the node does not know",
        );
    }
  }
  return status;
}
