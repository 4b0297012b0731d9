import type { Hex, SelectorRule, SponsorshipRules } from "@causeway/domain";
import { formatAmount, parseDecimal, USD_DECIMALS } from "@causeway/domain";
import { z } from "zod";
import { message, strictMessage } from "../message.ts";

const MAX_ENTRIES = 1_000;

const usd = z
  .string(message('must be an amount of USD as a decimal string, such as "12.5"'))
  .regex(/^\d{1,15}(\.\d{1,18})?$/, 'must be an amount of USD as a decimal string, such as "12.5"');
const evmAddress = z
  .string(message("must be a 20-byte address"))
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be a 20-byte address");
const selector = z
  .string(message("must be a 4-byte selector: 0x and 8 hex digits"))
  .regex(/^0x[0-9a-fA-F]{8}$/, "must be a 4-byte selector: 0x and 8 hex digits");

const targets = z.array(evmAddress, message("must be an array of addresses")).max(MAX_ENTRIES);
const selectors = z
  .array(
    z.union(
      [selector, z.strictObject({ selector, target: evmAddress })],
      message("must be a selector, or an object with selector and target"),
    ),
    message("must be an array of selectors"),
  )
  .max(MAX_ENTRIES);

const usdByTarget = z
  .record(evmAddress, usd)
  .refine(
    (limits) => new Set(Object.keys(limits).map(lower)).size === Object.keys(limits).length,
    "must list each target only once",
  );

/** What a key may pay from its app balance. Unknown names are refused: a misspelled limit would not apply. */
export const sponsorshipRules = z
  .strictObject(
    {
      dailyUsd: usd.optional().describe("Maximum cost of all sponsored executions per UTC day."),
      perUserDailyUsd: usd.optional().describe("Maximum per user and UTC day."),
      perTargetDailyUsd: z
        .union(
          [usd, usdByTarget],
          message("must be an amount of USD, or an object of such amounts by address"),
        )
        .optional()
        .describe(
          "Maximum per target contract and UTC day: one value for all contracts, or values by address.",
        ),
      allowTargets: targets.optional().describe("Only these contracts may be called."),
      denyTargets: targets.optional().describe("These contracts may never be called."),
      allowSelectors: selectors
        .optional()
        .describe("Only these functions may be called, on any contract or only on `target`."),
      denySelectors: selectors.optional().describe("These functions may never be called."),
      maxCallValueUsd: usd
        .optional()
        .describe(
          "Maximum native token, in USD without fees, that the sponsor pays for one call. Default 0: only calls without native token are sponsored.",
        ),
      maxHoldsUsd: usd.optional().describe("Maximum total value of open fast fills."),
      maxFastFillUsd: usd
        .optional()
        .describe("Maximum value of one fast fill, including any surplus of its deposit."),
      allowUnsubmitted: z
        .boolean(message("must be true or false"))
        .optional()
        .describe(
          "Allow fast fills whose origin transaction is neither known to the service nor named in the call; default false.",
        ),
      lowBalanceWarningUsd: usd
        .optional()
        .describe("For clients that watch the available balance; the service itself sends no warning."),
    },
    strictMessage("must be an object"),
  )
  .meta({ id: "SponsorshipRules" });

export type SponsorshipRulesJson = z.infer<typeof sponsorshipRules>;

const usdRules = [
  "dailyUsd",
  "perUserDailyUsd",
  "maxHoldsUsd",
  "maxFastFillUsd",
  "lowBalanceWarningUsd",
] as const;
const targetLists = ["allowTargets", "denyTargets"] as const;
const selectorLists = ["allowSelectors", "denySelectors"] as const;

/** Parses well-formed rules. */
export function rulesFromJson(json: SponsorshipRulesJson): SponsorshipRules {
  const perTarget = json.perTargetDailyUsd;
  return {
    maxCallValueUsd: usdOf(json.maxCallValueUsd ?? "0"),
    ...present(usdRules, (name) => json[name], usdOf),
    ...(json.allowUnsubmitted !== undefined && { allowUnsubmitted: json.allowUnsubmitted }),
    ...present(
      targetLists,
      (name) => json[name],
      (list) => list.map(lower),
    ),
    ...present(
      selectorLists,
      (name) => json[name],
      (list) => list.map(selectorFrom),
    ),
    ...(perTarget === undefined
      ? {}
      : {
          perTargetDailyUsd:
            typeof perTarget === "string"
              ? usdOf(perTarget)
              : new Map(Object.entries(perTarget).map(([to, limit]) => [lower(to), usdOf(limit)])),
        }),
  };
}

/** Formats rules; the inverse of {@link rulesFromJson}. */
export function rulesToJson(rules: SponsorshipRules): SponsorshipRulesJson {
  const perTarget = rules.perTargetDailyUsd;
  return {
    maxCallValueUsd: usdText(rules.maxCallValueUsd),
    ...present(usdRules, (name) => rules[name], usdText),
    ...(rules.allowUnsubmitted !== undefined && { allowUnsubmitted: rules.allowUnsubmitted }),
    ...present(
      targetLists,
      (name) => rules[name],
      (list) => [...list],
    ),
    ...present(
      selectorLists,
      (name) => rules[name],
      (list) =>
        list.map(({ selector: hex, target }) => (target === undefined ? hex : { selector: hex, target })),
    ),
    ...(perTarget === undefined
      ? {}
      : {
          perTargetDailyUsd:
            typeof perTarget === "bigint"
              ? usdText(perTarget)
              : Object.fromEntries([...perTarget].map(([to, limit]) => [to, usdText(limit)] as const)),
        }),
  };
}

/** The values with these names that are present, converted. */
function present<Name extends string, In, Out>(
  names: readonly Name[],
  valueOf: (name: Name) => In | undefined,
  convert: (value: In) => Out,
): Partial<Record<Name, Out>> {
  const converted: Partial<Record<Name, Out>> = {};
  for (const name of names) {
    const value = valueOf(name);
    if (value !== undefined) converted[name] = convert(value);
  }
  return converted;
}

function usdOf(text: string): bigint {
  const value = parseDecimal(text, USD_DECIMALS);
  if (value === undefined) throw new TypeError(`not a decimal number: ${text}`);
  return value;
}

const usdText = (usd: bigint): string => formatAmount(usd, USD_DECIMALS);

const lower = (text: string): Hex => text.toLowerCase() as Hex;

function selectorFrom(entry: string | { readonly selector: string; readonly target: string }): SelectorRule {
  return typeof entry === "string"
    ? { selector: lower(entry) }
    : { selector: lower(entry.selector), target: lower(entry.target) };
}
