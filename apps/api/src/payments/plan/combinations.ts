import type { FailReason } from "@causeway/domain";
import { fillRefusal } from "./fill-result.ts";
import type { FillRefusal } from "./fill-result.ts";

/** Possible parts of a fill other than its payment: calls of its quote, or those of an accepted execution. */
export type FillPart = "swap" | "calls" | "execution" | "topup";

/** How a chain pays: calls of an EVM account, or transfers. */
type PayerKind = "calls" | "transfers";

interface RefusedCombination {
  readonly payer: PayerKind;
  /** The fill has all of these parts. */
  readonly all: readonly FillPart[];
  /** The fill also has at least one of these parts. Absent: not required. */
  readonly any?: readonly FillPart[];
  readonly reason: FailReason;
  readonly detail: string;
}

/** Combinations that no fill may contain; the first row that applies gives the reason. */
const REFUSED: readonly RefusedCombination[] = [
  {
    payer: "transfers",
    all: ["execution"],
    reason: "EXECUTION_REVERTED",
    detail: "calls are not supported with a fill on a non-EVM chain",
  },
  {
    payer: "transfers",
    all: [],
    any: ["calls", "topup", "swap"],
    reason: "DESTINATION_TOKEN_TRANSFER_REJECTED",
    detail: "a fill on a non-EVM chain supports no calls, topupGas or swap",
  },
  {
    payer: "calls",
    all: ["execution", "calls"],
    reason: "EXECUTION_REVERTED",
    detail: "destinationChainExecutionData is not supported for a quote with txs",
  },
  {
    payer: "calls",
    all: ["execution"],
    any: ["swap", "topup"],
    reason: "EXECUTION_REVERTED",
    detail: "destinationChainExecutionData is not supported for a fill with a swap or with topupGas",
  },
];

/** Why a fill with these parts cannot be made; undefined: it can. The values of parts do not matter. */
export function findRefusedCombination(
  payer: PayerKind,
  parts: Readonly<Record<FillPart, unknown>>,
): FillRefusal | undefined {
  const has = (part: FillPart): boolean => parts[part] !== undefined;
  const refused = REFUSED.find(
    (rule) => rule.payer === payer && rule.all.every(has) && (rule.any?.some(has) ?? true),
  );
  return refused && fillRefusal(refused.reason, refused.detail);
}
