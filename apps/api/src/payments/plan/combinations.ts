import type { FailReason } from "@causeway/domain";
import { refused } from "./fill-planned.ts";
import type { FillRefused } from "./fill-planned.ts";

/** Possible parts of a fill other than its payment: calls of its quote, or those of an accepted execution. */
export type FillPart = "swap" | "calls" | "execution" | "topup";

/** How a chain pays: calls of an EVM account, or transfers. */
type PayerKind = "calls" | "transfers";

interface RefusedCombination {
  readonly payer: PayerKind;
  /** All of these. */
  readonly all: readonly FillPart[];
  /** Together with one of these; none: by themselves. */
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

/** Why a fill with these parts cannot be made; undefined: it can. */
export function refusedCombination(
  payer: PayerKind,
  parts: Readonly<Record<FillPart, unknown>>,
): FillRefused | undefined {
  const has = (part: FillPart): boolean => parts[part] !== undefined;
  const row = REFUSED.find(
    (one) => one.payer === payer && one.all.every(has) && (one.any?.some(has) ?? true),
  );
  return row && refused(row.reason, row.detail);
}
