import { quoteFieldsWithoutEffect, quoteRequest } from "@causeway/wire";
import type { QuoteWarning } from "@causeway/wire";
import type { FastifyRequest } from "fastify";
import { nearMissesOf } from "../http/near-misses.route.ts";

const knownFields = Object.keys(quoteRequest.shape);
const withoutEffect: ReadonlySet<string> = new Set(quoteFieldsWithoutEffect);

const findNearMisses = nearMissesOf(
  { known: knownFields, suggested: knownFields.filter((field) => !withoutEffect.has(field)) },
  {
    slippage: "slippageTolerance",
    slippagebps: "slippageTolerance",
    slippagepercent: "slippageTolerance",
    maxslippage: "slippageTolerance",
    originchain: "originChainId",
    fromchain: "originChainId",
    srcchainid: "originChainId",
    sourcechainid: "originChainId",
    destinationchain: "destinationChainId",
    tochain: "destinationChainId",
    dstchainid: "destinationChainId",
    fromtoken: "originCurrency",
    inputtoken: "originCurrency",
    origintoken: "originCurrency",
    totoken: "destinationCurrency",
    outputtoken: "destinationCurrency",
    destinationtoken: "destinationCurrency",
    fromamount: "amount",
    amountin: "amount",
    inputamount: "amount",
    toaddress: "recipient",
    receiver: "recipient",
    recipientaddress: "recipient",
    destinationaddress: "recipient",
    refundaddress: "refundTo",
    refundrecipient: "refundTo",
    fromaddress: "user",
    useraddress: "user",
    sender: "user",
    fees: "appFees",
    integratorfees: "appFees",
    deadline: "ttl",
    gastopup: "topupGas",
    refuel: "topupGas",
    calls: "txs",
    transactions: "txs",
  },
);

const warningsByRequest = new WeakMap<FastifyRequest["raw"], readonly QuoteWarning[]>();

/**
 * Finds likely misspellings of known fields before validation drops them. Use as a route's `preValidation`.
 */
export function noteNearMisses({ body, raw }: FastifyRequest, _reply: unknown, done: () => void): void {
  const misses = findNearMisses(body);
  if (misses.length > 0)
    warningsByRequest.set(
      raw,
      misses.map(({ field, suggestion }) => ({
        code: "UNKNOWN_FIELD",
        field,
        message: `Unknown field ${field} was ignored; did you mean ${suggestion}?`,
      })),
    );
  done();
}

/** The answer with the warnings that {@link noteNearMisses} found. */
export function withWarnings<Answer extends { readonly warnings?: QuoteWarning[] | undefined }>(
  raw: FastifyRequest["raw"],
  answer: Answer,
): Answer {
  const warnings = warningsByRequest.get(raw);
  return warnings === undefined ? answer : { ...answer, warnings: [...warnings, ...(answer.warnings ?? [])] };
}
