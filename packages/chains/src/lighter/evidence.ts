import { final, refuted, type ConfiguredChain, type EvidenceSource } from "@causeway/families";
import {
  lighter,
  outcomeOf,
  readWithdrawal,
  settledEvidence,
  type LighterTransaction,
  type LighterRules,
} from "@causeway/families/lighter";
import { chainEvidence, type Endpoint, type SourceOptions } from "../evidence-source.ts";
import { createLighterRpc, type LighterRpc } from "./rpc.ts";
import { findTransfers, type SearchBounds } from "./withdrawal-search.ts";

export interface LighterEvidenceOptions extends SourceOptions {
  /** Timeout of each request to an endpoint, ms. Default: 10,000. */
  readonly deadlineMs?: number;
  /** Default: 10 pages, 8 concurrent requests. */
  readonly search?: SearchBounds;
}

/** Evidence of Lighter. All endpoints share one explorer, which only suggests transactions to read. */
export function lighterEvidence(
  chain: ConfiguredChain,
  options: LighterEvidenceOptions = {},
): EvidenceSource {
  const { search, deadlineMs } = options;
  return chainEvidence(chain, lighter, options, ({ url, facts, observed }) => {
    const { explorerApiUrl: explorerUrl, exchangeContract: contract } = facts;
    const rpc = createLighterRpc({ url, explorerUrl, contract, deadlineMs, ...observed });
    return lighterEndpoint(rpc, search);
  });
}

export function lighterEndpoint(
  rpc: LighterRpc,
  search: SearchBounds = { maxPages: 10, maxConcurrent: 8 },
): Endpoint<LighterRules, LighterTransaction> {
  return {
    transaction: async (hash) => settledEvidence(await rpc.transaction(hash)),
    withdrawal: async (payload, rules, hint) => {
      const payment = readWithdrawal(payload, rules);
      if ("refusal" in payment) return refuted(payment.refusal);
      const readStatus = async () =>
        outcomeOf(payment, await findTransfers(rpc, payment, hint, search), rules.exchangeChainId);
      const { id: withdrawalId, depository, recipient, currency, amount } = payment;
      const firstStatus = await readStatus();
      // A failure may have been read before its block was reorged out, and the settled transaction after
      // that, so read again.
      const status = firstStatus === "expired" ? await readStatus() : firstStatus;
      return final({ withdrawalId, depository, status, recipient, currency, amount });
    },
    close: rpc.close,
  };
}
