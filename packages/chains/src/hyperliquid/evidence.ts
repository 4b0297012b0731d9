import { decodeHyperliquidAction, type Hex32 } from "@causeway/domain";
import { final, currentFirst, refuted } from "@causeway/families";
import type { ConfiguredChain, EvidenceSource, NonceMappings } from "@causeway/families";
import {
  hyperliquid,
  purposeOf,
  nonceToMap,
  readWithdrawal,
  timestampOf,
} from "@causeway/families/hyperliquid";
import { chainEvidence, type SourceOptions } from "../evidence-source.ts";
import { createHyperliquidRpc } from "./rpc.ts";
import { decimalsFor, findTransaction } from "./transaction-reads.ts";
import { createLedgerCache } from "./whole-ledger.ts";
import { searchExecution, toAnswer } from "./withdrawal-search.ts";

export interface HyperliquidEvidenceOptions extends SourceOptions {
  /** The hub's nonce mappings. Without them, no transfer is for an order. */
  readonly nonceMappings?: NonceMappings;
  /** Timeout of each request, ms. Default: 10,000. */
  readonly deadlineMs?: number;
}

/** Each endpoint uses its own explorer. */
export function hyperliquidEvidence(
  chain: ConfiguredChain,
  { nonceMappings, deadlineMs, ...options }: HyperliquidEvidenceOptions = {},
): EvidenceSource {
  return chainEvidence(chain, hyperliquid, options, ({ url: apiUrl, index, facts, observed }) => {
    const { network, profile, explorerUrls } = facts;
    const rpc = createHyperliquidRpc({
      apiUrl,
      explorerUrl: explorerUrls[index],
      profile,
      deadlineMs,
      ...observed,
    });
    const ledgers = createLedgerCache();
    return {
      transaction: async (hash, rules, question) => {
        const evidence = await findTransaction(rpc, hash as Hex32, network);
        if (evidence.kind !== "final") return evidence;
        const transaction = evidence.value;
        const listed = { transaction, decimalsOf: await decimalsFor(rpc, transaction.action) };
        const unmapped = nonceToMap(rules, listed, question);
        const mapping = unmapped && (await nonceMappings?.of(chain.name, unmapped.wallet, unmapped.nonce));
        return final({ ...listed, purpose: purposeOf(mapping, timestampOf(transaction)) });
      },
      withdrawal: async (payload, rules, hint) => {
        const decimalsOf = await decimalsFor(rpc, decodeHyperliquidAction(payload));
        const allRules = { ...rules, profile: rpc.profile, decimalsOf };
        const withdrawal = readWithdrawal(payload, allRules);
        if ("refusal" in withdrawal) return refuted(withdrawal.refusal);
        const outcome = await searchExecution(rpc, withdrawal, allRules, hint as Hex32 | undefined, ledgers);
        return final(toAnswer(withdrawal, outcome, currentFirst(rules.depositories)[0]));
      },
      close: rpc.close,
    };
  });
}
