import { inconsistent, type Evidence, type WithdrawalAnswer } from "@causeway/families";
import { certainId, meaningOf, type BitcoinOutput, type WithdrawalPlan } from "@causeway/families/bitcoin";
import type { SpendHints } from "./explorer.ts";
import type { BitcoinReads, FinalTransaction } from "./rpc.ts";

/** Concurrent requests to the explorer about inputs of a payload. */
const HINTS_AT_ONCE = 8;

/**
 * The outcome of a payload, decided by the node's final transactions that spend its inputs. The payload, the
 * caller and the explorer provide hints where such a transaction may be; none of them is trusted.
 */
export async function searchSpend(
  reads: BitcoinReads,
  hints: SpendHints | undefined,
  { unsigned }: WithdrawalPlan,
  spent: readonly BitcoinOutput[],
  named: string | undefined,
): Promise<WithdrawalAnswer["status"]> {
  const seen = new Set<string>();
  let meaning: WithdrawalAnswer["status"] = "pending";
  const look = async (txid: string): Promise<Evidence<FinalTransaction>["kind"] | undefined> => {
    if (seen.has(txid)) return undefined;
    seen.add(txid);
    const settled = await reads.transaction(txid);
    if (settled.kind === "final") meaning = meaningOf(unsigned, settled.value.transaction) ?? meaning;
    return settled.kind;
  };
  const settled = (): boolean => meaning !== "pending";

  for (const txid of [certainId(unsigned, spent), named]) {
    if (txid !== undefined) await look(txid);
    if (settled()) return meaning;
  }
  if (hints === undefined) return meaning;
  for (let at = 0; at < unsigned.inputs.length; at += HINTS_AT_ONCE) {
    const some = unsigned.inputs.slice(at, at + HINTS_AT_ONCE);
    const reported = await Promise.all(some.map(async ({ txid, vout }) => await hints.spendOf(txid, vout)));
    for (const spend of reported) {
      if (spend === undefined) continue;
      const kind = await look(spend.txid);
      if (settled()) return meaning;
      // Either the explorer or the node is wrong or lags far behind.
      if (kind === "absent" && spend.isConfirmed)
        throw inconsistent(
          "outspend",
          "the explorer reports a mined transaction that the node does not know",
        );
    }
  }
  return meaning;
}
