import type { TokenBehaviour } from "@causeway/chains";
import type { Currency, Soon } from "@causeway/domain";
import { ServiceError, soon } from "@causeway/domain";
import type { ChainDirectory } from "../../chains/chains.port.ts";
import type { RecipientCodes } from "../../chains/recipient-codes.port.ts";
import type { TokenBook } from "../../markets/tokens/token-book.port.ts";
import type { TokenQuirks } from "../../chains/token-quirks.port.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { TokensOfQuestion } from "./fill-options.ts";

export interface TokenCheckServices {
  readonly chains: ChainDirectory;
  readonly recipientCodes: RecipientCodes;
  readonly tokens?: TokenBook | undefined;
  /** Without it, token behavior is not checked. */
  readonly quirks?: TokenQuirks | undefined;
}

/**
 * Refuses tokens whose behavior could break the promised amounts, and recipients that could not use the
 * output. Configured tokens are trusted; others are inspected once. If inspection fails, it assumes the
 * worst: it resets the allowance and tries the fill first.
 * @throws ServiceError UNSUPPORTED_CURRENCY, INVALID_RECIPIENT
 */
export function* checkTokens(services: TokenCheckServices, question: QuoteQuestion): Soon<TokensOfQuestion> {
  const { originCurrency, destinationCurrency, destination, recipient } = question;
  yield* refuseTokenRecipient(services, question);
  const { quirks, chains } = services;
  if (quirks === undefined) return { resetsApproval: originCurrency.resetsApproval, isUnproven: false };
  const isForeign = ({ chainId, address }: Currency): boolean =>
    chains.currency(chainId, address) === undefined;
  const behaviour = (currency: Currency) =>
    isForeign(currency) ? quirks.behaviour(currency.chainId, currency.address) : undefined;
  // Start all requests before waiting for any.
  const asked = {
    origin: behaviour(originCurrency),
    destination: behaviour(destinationCurrency),
    recipient: isForeign(destinationCurrency)
      ? quirks.recipient(destination.chain.id, destinationCurrency.address, recipient)
      : "open",
  };
  const paid = yield* soon(asked.origin);
  const got = yield* soon(asked.destination);
  const standing = yield* soon(asked.recipient);
  refuseInexact(paid, originCurrency, "originCurrency");
  refuseInexact(got, destinationCurrency, "destinationCurrency");
  if (standing === "blocked")
    throw new ServiceError(
      "INVALID_RECIPIENT",
      `recipient is blocked by the token ${destinationCurrency.symbol}; use another recipient`,
      {
        field: "recipient",
      },
    );
  return {
    resetsApproval: paid === undefined ? originCurrency.resetsApproval : (paid.resetsApproval ?? true),
    isUnproven: (got !== undefined && got.transfers === undefined) || standing === undefined,
  };
}

function refuseInexact(behaviour: TokenBehaviour | undefined, { symbol }: Currency, field: string): void {
  if (behaviour?.transfers === "charges")
    throw new ServiceError(
      "UNSUPPORTED_CURRENCY",
      `${field} ${symbol} charges a fee on transfers, which is not supported`,
      { field },
    );
  if (behaviour?.transfers === "refuses")
    throw new ServiceError(
      "UNSUPPORTED_CURRENCY",
      `${field} ${symbol} cannot be transferred after it was bought`,
      {
        field,
      },
    );
}

/** Refuses a recipient that is a token contract. Configured tokens were refused earlier. */
function* refuseTokenRecipient(
  { recipientCodes, tokens }: TokenCheckServices,
  { destination, recipient, user }: QuoteQuestion,
): Soon<void> {
  // The user signs or sends with this account, so it can use the output.
  if (tokens === undefined || recipient === user) return;
  const { id } = destination.chain;
  if (!(yield* soon(recipientCodes.hasCode(id, recipient)))) return;
  if ((yield* soon(tokens.token(id, recipient))) === undefined) return;
  throw new ServiceError("INVALID_RECIPIENT", "recipient must be a wallet, not a token contract", {
    field: "recipient",
  });
}
