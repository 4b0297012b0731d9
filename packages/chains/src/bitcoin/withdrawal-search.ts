import { inconsistent, type Evidence, type WithdrawalAnswer } from "@causeway/families";
import { certainId, meaningOf, type BitcoinOutput, type WithdrawalPlan } from "@causeway/families/bitcoin";
import type { SpendHints } from "./explorer.ts";
import type { BitcoinReads, FinalTransaction } from "./rpc.ts";

/** Inputs of a payload that the explorer is asked about at the same time. */
const HINTS_AT_ONCE = 8;

/**
 * What became of a payload: decided by final transactions of the node that spend its inputs. Where such a
 * transaction may be is known from the payload, from the caller and from the explorer; none of these is
 * believed.
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
      // One of the two lies or is far behind: not ours to guess which.
      if (kind === "absent" && spend.isConfirmed)
        throw inconsistent(
          "outspend",
          "the explorer reports a mined transaction that the node does not know",
        );
    }
  }
  return meaning;
}
