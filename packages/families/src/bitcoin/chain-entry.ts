import type { EntryProblem, FamilyEntry, PaidEntry } from "../chain-entry.ts";
import { bitcoinCodec } from "./address-codec.ts";
import { HEADER_SKEW_SECONDS, type BitcoinFacts } from "./facts.ts";

/** The usual recommendation: reverting six blocks costs more than a double spend gains. */
export const DEFAULT_CONFIRMATIONS = 6;
/** Bitcoin targets ten minutes per block. */
const BLOCK_TIME_SECONDS = 600;

export const bitcoin: FamilyEntry<"bitcoin", BitcoinFacts> = {
  id: "bitcoin",
  codec: bitcoinCodec,
  files: {
    answers: async () => await import("./answers.ts"),
    deposits: async () => await import("./deposits.ts"),
    payments: async () => await import("./payments.ts"),
    withdrawals: async () => await import("./withdrawals.ts"),
    finality: async () => await import("./finality.ts"),
    family: async () => await import("./family.ts"),
  },
  headerSkewSeconds: HEADER_SKEW_SECONDS,
  facts: ({ entry: { additionalData, blockTimeSeconds = BLOCK_TIME_SECONDS }, place, problems }) => {
    const { finalizationBlocks: confirmations = DEFAULT_CONFIRMATIONS } = additionalData;
    // 0 would accept unconfirmed transactions, which their sender can replace.
    if (confirmations < 1) problems.push(`${place}.additionalData.finalizationBlocks: must be at least 1`);
    return {
      network: additionalData.bitcoinNetwork,
      confirmations,
      blockTimeSeconds,
      esploraUrl: additionalData.esploraCompatibleApiUrl,
    };
  },
  network: ({ network }) => ["bitcoinNetwork", network],
  isIdentifiedByDepository: () => true,
  paid: { problems: paidProblems },
};

function paidProblems({ tokens, confirmations, additionalData }: PaidEntry): readonly EntryProblem[] {
  const problems: EntryProblem[] = [];
  if (tokens.length > 0) problems.push({ path: ["tokens"], message: "must be empty on this chain family" });
  // Reject a difference: an operator who raises only one of them would get fewer confirmations than expected.
  const { finalizationBlocks = DEFAULT_CONFIRMATIONS } = additionalData;
  if (confirmations !== finalizationBlocks)
    problems.push({
      path: ["confirmations"],
      message: `must equal additionalData.finalizationBlocks (default ${DEFAULT_CONFIRMATIONS})`,
    });
  // Only an explorer lists the outputs of an address: without an explorer nothing can be paid.
  if (additionalData.esploraCompatibleApiUrl === undefined)
    problems.push({
      path: ["additionalData", "esploraCompatibleApiUrl"],
      message: "is required on this chain family",
    });
  return problems;
}
