import type { TokenBehavior } from "@causeway/chains";
import type { Currency } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { ChainDirectory } from "../../chains/chains.port.ts";
import type { Market, MarketSources } from "../market.ts";
import type { PlainQuestion } from "../quote-question.ts";
import type { TokenFacts } from "./fill-options.ts";

export interface TokenCheckServices extends Pick<MarketSources, "tokens" | "quirks"> {
  readonly market: Market;
  readonly chains: Pick<ChainDirectory, "currency">;
}

/**
 * Refuses tokens whose behavior could break the quoted amounts, and recipients that could not use the
 * output. Configured tokens are trusted; others are inspected once. If the inspection fails, the worst is
 * assumed: the allowance is reset and the fill is dry-run.
 * @throws ServiceError UNSUPPORTED_CURRENCY, INVALID_RECIPIENT
 */
export function checkTokens(services: TokenCheckServices, question: PlainQuestion): TokenFacts {
  const { originCurrency, destinationCurrency, destination, recipient } = question;
  refuseTokenRecipient(services, question);
  const { quirks, chains, market } = services;
  if (quirks === undefined) return { resetsApproval: originCurrency.resetsApproval, isUnproven: false };
  const isUnconfigured = ({ chainId, address }: Currency): boolean =>
    chains.currency(chainId, address) === undefined;
  const behavior = (currency: Currency) =>
    isUnconfigured(currency) ? market.behavior(currency.chainId, currency.address) : undefined;
  const standingOf = () =>
    isUnconfigured(destinationCurrency)
      ? market.standing(destination.chain.id, destinationCurrency.address, recipient)
      : "open";
  market.together(
    () => behavior(originCurrency),
    () => behavior(destinationCurrency),
    standingOf,
  );
  const originBehavior = behavior(originCurrency);
  const destinationBehavior = behavior(destinationCurrency);
  const standing = standingOf();
  refuseInexact(originBehavior, originCurrency, "originCurrency");
  refuseInexact(destinationBehavior, destinationCurrency, "destinationCurrency");
  if (standing === "blocked")
    throw new ServiceError(
      "INVALID_RECIPIENT",
      `recipient is blocked by the token ${destinationCurrency.symbol}; use another recipient`,
      {
        field: "recipient",
      },
    );
  return {
    resetsApproval:
      originBehavior === undefined ? originCurrency.resetsApproval : (originBehavior.resetsApproval ?? true),
    isUnproven:
      (destinationBehavior !== undefined && destinationBehavior.transfers === undefined) ||
      standing === undefined,
  };
}

function refuseInexact(behavior: TokenBehavior | undefined, { symbol }: Currency, field: string): void {
  if (behavior?.transfers === "charges")
    throw new ServiceError(
      "UNSUPPORTED_CURRENCY",
      `${field} ${symbol} charges a fee on transfers, which is not supported`,
      { field },
    );
  if (behavior?.transfers === "refuses")
    throw new ServiceError(
      "UNSUPPORTED_CURRENCY",
      `${field} ${symbol} cannot be transferred after it was bought`,
      {
        field,
      },
    );
}

/** Refuses a recipient that is a token contract. Configured tokens were refused earlier. */
function refuseTokenRecipient(
  { tokens, market }: TokenCheckServices,
  { destination, to, recipient, user }: PlainQuestion,
): void {
  // The user signs or sends with this account, so it can use the output.
  if (tokens === undefined || !to.runsRecipientCode || recipient === user) return;
  const { id } = destination.chain;
  if (!market.hasCode(id, recipient)) return;
  if (market.token(id, recipient) === undefined) return;
  throw new ServiceError("INVALID_RECIPIENT", "recipient must be a wallet, not a token contract", {
    field: "recipient",
  });
}
