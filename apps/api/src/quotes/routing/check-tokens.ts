import type { TokenBehaviour } from "@causeway/chains";
import type { Currency, Soon } from "@causeway/domain";
import { ServiceError, soon } from "@causeway/domain";
import type { ChainDirectory } from "../../chains/chains.port.ts";
import type { RecipientCodes } from "../../chains/recipient-codes.port.ts";
import type { TokenBook } from "../../markets/tokens/token-book.port.ts";
import type { TokenQuirks } from "../../chains/token-quirks.port.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { TokensOfQuestion } from "./fill-wishes.ts";

export interface TokenCheckServices {
  readonly chains: ChainDirectory;
  readonly recipientCodes: RecipientCodes;
  readonly tokens?: TokenBook | undefined;
  /** Undefined: nobody looks at how tokens behave. */
  readonly quirks?: TokenQuirks | undefined;
}

/**
 * Refuses tokens with which a promise could not be kept to the unit, and recipients that could never use what
 * they get. Of configured tokens the operator knows; any other is looked at once, and of what cannot be found
 * out the worse is taken: an allowance is reset, and the fill tried first.
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
  // All are asked before any is waited for.
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

/**
 * Tokens that are configured were refused before; others are contracts, and only contracts are asked what
 * they are.
 */
function* refuseTokenRecipient(
  { recipientCodes, tokens }: TokenCheckServices,
  { destination, recipient, user }: QuoteQuestion,
): Soon<void> {
  // Whoever asks for his own account signs or calls with it.
  if (tokens === undefined || recipient === user) return;
  const { id } = destination.chain;
  if (!(yield* soon(recipientCodes.hasCode(id, recipient)))) return;
  if ((yield* soon(tokens.token(id, recipient))) === undefined) return;
  throw new ServiceError("INVALID_RECIPIENT", "recipient must be a wallet, not a token contract", {
    field: "recipient",
  });
}
