import { final, refuted } from "../answer.ts";
import { depositoriesOf, currentFirst } from "../depositories.ts";
import type { Family } from "../family.ts";
import type { LighterFacts } from "./facts.ts";
import type { LighterTransaction } from "./answers.ts";
import { depositsIn } from "./deposits.ts";
import { RETRY_AFTER_SECONDS } from "./finality.ts";
import { judgePayments } from "./payments.ts";

export interface LighterRules {
  readonly depositories: readonly string[];
  readonly exchangeChainId: bigint;
}

export const lighter: Family<"lighter", LighterFacts, LighterRules, LighterTransaction> = {
  id: "lighter",
  retryAfterSeconds: () => RETRY_AFTER_SECONDS,
  rules: (chain, { exchangeChainId }) => ({ depositories: depositoriesOf(chain), exchangeChainId }),
  deposits: ({ depositories }, transaction) => final(depositsIn(currentFirst(depositories), transaction)),
  payments: ({ depositories }, transaction, question) => {
    const judgment = judgePayments(depositories, transaction, question);
    return "refusal" in judgment ? refuted(judgment.refusal) : final(judgment);
  },
};
