import type { Address, Chain, Currency, ErrorCode, Hex, RailChain, TradeType } from "@causeway/domain";
import { parseAccount, parseCurrency, ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { ChainDirectory, RequestEnd } from "../../chains/chains.port.ts";
import { amountOf, refuseTrap, slippageOf, ttlOf } from "../quote-question.ts";
import { type Side, sideOf } from "../side.ts";
import type { StepsQuestion } from "./quote-steps.ts";
import { endOf } from "../../http/request-end.ts";
import {
  depositsClosed,
  depositsNotEnabled,
  disabledChain,
  notBridgeable,
  unsupportedChain,
} from "../../http/refusals.ts";

/** A validated quote request from or to a non-EVM chain. */
export interface RailQuestion extends StepsQuestion {
  readonly origin: RequestEnd;
  readonly destination: RequestEnd;
  readonly from: Side;
  readonly to: Side;
  readonly destinationCurrency: Currency;
  readonly user: Hex;
  readonly recipient: Hex;
  readonly refundTo: Hex;
  readonly amount: bigint;
  readonly tradeType: TradeType;
  /** Absent: the service chooses. */
  readonly slippageBps: number | undefined;
  /** Absent: the lifetime of the policy. */
  readonly ttlSeconds: number | undefined;
  readonly explicitDeposit: boolean;
  readonly referrer: string | undefined;
}

export interface RailQuestionServices {
  readonly chains: ChainDirectory;
  readonly solver: Address;
  readonly quotePolicy: { readonly maxTtlSeconds: number };
}

/** @throws ServiceError with a code of the public contract, naming the invalid field */
export function readRailQuestion(services: RailQuestionServices, input: QuoteInput): RailQuestion {
  const { chains, solver, quotePolicy } = services;
  const origin = openEnd(chains, input.originChainId, "originChainId");
  const destination = openEnd(chains, input.destinationChainId, "destinationChainId");
  if (!destination.chain.depositEnabled) throw depositsClosed(destination.chain);
  const [from, to] = [sideOf(origin), sideOf(destination)];
  if (!from.makesSteps) throw depositsNotEnabled(origin.chain);
  // Without the id of an order, the client must know the step that maps the nonce to the request.
  if (from.needsWalletNonce && input.protocolVersion !== "v2")
    throw refusal(
      "INVALID_REQUEST",
      `protocolVersion must be v2 for deposits from ${origin.chain.displayName}`,
      "protocolVersion",
    );

  const originCurrency = currencyOf(chains, origin.chain, from, input.originCurrency, "originCurrency");
  const destinationCurrency = currencyOf(
    chains,
    destination.chain,
    to,
    input.destinationCurrency,
    "destinationCurrency",
  );
  if (origin === destination && originCurrency === destinationCurrency)
    throw refusal(
      "UNSUPPORTED_ROUTE",
      "destinationCurrency must differ from originCurrency on the same chain: send a plain transfer instead",
      "destinationCurrency",
    );
  const user = parseAccount(origin.chain, input.user, "user");
  const recipient = recipientOf(from, destination.chain, user, input.recipient);
  const payee = input.recipient === undefined ? "user" : "recipient";
  refuseTrap(chains, destination, to.traps(solver), recipient, payee);
  const refundTo =
    input.refundTo === undefined ? user : parseAccount(origin.chain, input.refundTo, "refundTo");
  const refundee = input.refundTo === undefined ? "user" : "refundTo";
  refuseTrap(chains, origin, from.traps(solver), refundTo, refundee);
  return {
    origin,
    destination,
    from,
    to,
    originCurrency,
    destinationCurrency,
    user,
    recipient,
    refundTo,
    amount: amountOf(input.amount),
    tradeType: input.tradeType,
    slippageBps: slippageOf(input),
    ttlSeconds: ttlOf(input.ttl, quotePolicy.maxTtlSeconds),
    explicitDeposit: input.explicitDeposit ?? true,
    referrer: input.referrer,
    publicKey: publicKeyOf(input.additionalData),
  };
}

function openEnd(chains: ChainDirectory, id: number, field: string): RequestEnd {
  const end = endOf(chains, id);
  if (end === undefined) throw unsupportedChain(id, field);
  if (end.chain.disabled) throw disabledChain(end.chain, field);
  return end;
}

/** Resolves a currency that the solver holds: these routes do not swap. */
function currencyOf(
  chains: ChainDirectory,
  chain: Chain | RailChain,
  { swaps }: Side,
  text: string,
  field: "originCurrency" | "destinationCurrency",
): Currency {
  const address = parseCurrency(chain, text);
  const known = address === undefined ? undefined : chains.currency(chain.id, address);
  if (known === undefined) {
    // Another token of an EVM chain may be swapped on other routes, but not on this one.
    if (address !== undefined && swaps) throw noSwap(field);
    const code = field === "originCurrency" ? "INVALID_INPUT_CURRENCY" : "INVALID_OUTPUT_CURRENCY";
    throw refusal(
      code,
      `Invalid input or output currency: ${field} must be the address of a currency that GET /chains lists for ${chain.displayName}`,
      field,
    );
  }
  if (known.supportsBridging) return known;
  throw swaps ? noSwap(field) : notBridgeable(known, chain, field);
}

function noSwap(field: string): ServiceError {
  return refusal(
    "NO_SWAP_ROUTES_FOUND",
    "No routes found: swaps are not supported to or from non-EVM chains; use a currency that GET /chains lists with supportsBridging",
    field,
  );
}

/**
 * The user's own address is the default recipient only where the user surely has its key: within one chain
 * family, and on EVM chains for a Hyperliquid user, who has an EVM wallet. In the other direction the address
 * may be a contract's, which has no key on Hyperliquid.
 */
function recipientOf(
  { walletFamilies }: Side,
  destination: Chain | RailChain,
  user: Hex,
  text: string | undefined,
): Hex {
  if (text !== undefined) return parseAccount(destination, text, "recipient");
  if (walletFamilies.includes(destination.vmType)) return user;
  throw refusal(
    "INVALID_ADDRESS",
    `recipient is required: an address on ${destination.displayName}`,
    "recipient",
  );
}

/** The public contract defines it for some wallets only; any other value is ignored. */
function publicKeyOf(data: unknown): string | undefined {
  const key =
    typeof data === "object" && data !== null && "userPublicKey" in data ? data.userPublicKey : undefined;
  return typeof key === "string" && /^[0-9a-fA-F]{64,66}$/.test(key) ? key.toLowerCase() : undefined;
}

function refusal(code: ErrorCode, message: string, field: string): ServiceError {
  return new ServiceError(code, message, { field });
}
