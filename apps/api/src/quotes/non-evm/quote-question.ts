import type { Address, Chain, Currency, ErrorCode, Hex, RailChain, TradeType } from "@causeway/domain";
import { parseAccount, parseCurrency, ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { ChainDirectory, ConnectedRail, RequestEnd } from "../../chains/chains.port.ts";
import { amountOf, refuseTrap, slippageOf, trap, ttlOf, zeroAddress } from "../quote-question.ts";
import { endOf, isRail } from "../../http/request-end.ts";
import {
  depositsClosed,
  depositsNotEnabled,
  disabledChain,
  notBridgeable,
  unsupportedChain,
} from "../../http/refusals.ts";

/** A quote request to or from a chain that is reached by a rail, whose words have all found their meaning. */
export interface RailQuestion {
  readonly origin: RequestEnd;
  readonly destination: RequestEnd;
  readonly originCurrency: Currency;
  readonly destinationCurrency: Currency;
  readonly user: Hex;
  readonly recipient: Hex;
  readonly refundTo: Hex;
  readonly amount: bigint;
  readonly tradeType: TradeType;
  /** Undefined = chosen by the service. */
  readonly slippageBps: number | undefined;
  /** Undefined = the policy's lifetime. */
  readonly ttlSeconds: number | undefined;
  readonly explicitDeposit: boolean;
  readonly referrer: string | undefined;
  /** The key behind the user's address on Bitcoin, when the client gave it. */
  readonly publicKey: string | undefined;
}

export interface RailQuestionServices {
  readonly chains: ChainDirectory;
  readonly solver: Address;
  readonly quotePolicy: { readonly maxTtlSeconds: number };
}

/** @throws ServiceError with the code of the client contract and the field at fault */
export function readRailQuestion(services: RailQuestionServices, input: QuoteInput): RailQuestion {
  const { chains, solver, quotePolicy } = services;
  const origin = openEnd(chains, input.originChainId, "originChainId");
  const destination = openEnd(chains, input.destinationChainId, "destinationChainId");
  if (!destination.chain.depositEnabled) throw depositsClosed(destination.chain);
  if (isRail(origin) && !makesSteps(origin)) throw depositsNotEnabled(origin.chain);
  refuseOldProtocol(origin, input);

  const originCurrency = currencyOf(chains, origin.chain, input.originCurrency, "originCurrency");
  const destinationCurrency = currencyOf(
    chains,
    destination.chain,
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
  const recipient = recipientOf(origin.chain, destination.chain, user, input.recipient);
  refuseNoWallet(
    { chains, solver },
    destination,
    recipient,
    input.recipient === undefined ? "user" : "recipient",
  );
  const refundTo =
    input.refundTo === undefined ? user : parseAccount(origin.chain, input.refundTo, "refundTo");
  refuseNoWallet({ chains, solver }, origin, refundTo, input.refundTo === undefined ? "user" : "refundTo");
  return {
    origin,
    destination,
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

/**
 * What the user's wallet signs is told by his side of the chain: all of it, or how the exchange calls what he
 * withdraws.
 */
function makesSteps({ chain, users }: ConnectedRail): boolean {
  return chain.exchange === undefined ? users?.deposit !== undefined : users?.token !== undefined;
}

/**
 * Transfers on the exchange carry nothing but a nonce: whoever withdraws has to know the steps that say what
 * it is for.
 */
function refuseOldProtocol(origin: RequestEnd, { protocolVersion }: QuoteInput): void {
  if (!isRail(origin) || origin.chain.exchange === undefined || protocolVersion === "v2") return;
  throw refusal(
    "INVALID_REQUEST",
    `protocolVersion must be v2 for deposits from ${origin.chain.displayName}`,
    "protocolVersion",
  );
}

/** What the solver holds: nothing is exchanged on the way. */
function currencyOf(
  chains: ChainDirectory,
  chain: Chain | RailChain,
  text: string,
  field: "originCurrency" | "destinationCurrency",
): Currency {
  const address = parseCurrency(chain, text);
  const known = address === undefined ? undefined : chains.currency(chain.id, address);
  if (known === undefined) {
    // Another token of an EVM chain may be swapped elsewhere, but not on this way.
    if (address !== undefined && chain.vmType === "evm" && chain.liquidity !== undefined) throw noSwap(field);
    const code = field === "originCurrency" ? "INVALID_INPUT_CURRENCY" : "INVALID_OUTPUT_CURRENCY";
    throw refusal(
      code,
      `Invalid input or output currency: ${field} must be the address of a currency that GET /chains lists for ${chain.displayName}`,
      field,
    );
  }
  if (known.supportsBridging) return known;
  throw chain.vmType === "evm" && chain.liquidity !== undefined
    ? noSwap(field)
    : notBridgeable(known, chain, field);
}

function noSwap(field: string): ServiceError {
  return refusal(
    "NO_SWAP_ROUTES_FOUND",
    "No routes found: swaps are not supported to or from non-EVM chains; use a currency that GET /chains lists with supportsBridging",
    field,
  );
}

/**
 * The user's own address stands for the recipient only where he surely has the key to it: on chains of one
 * family, and on an EVM chain for an account of the exchange, which is an EVM wallet's. The other way round
 * it may be a contract's, to which nobody on the exchange has a key.
 */
function recipientOf(
  origin: Chain | RailChain,
  destination: Chain | RailChain,
  user: Hex,
  text: string | undefined,
): Hex {
  if (text !== undefined) return parseAccount(destination, text, "recipient");
  const isHis =
    origin.vmType === destination.vmType || (origin.vmType === "hypevm" && destination.vmType === "evm");
  if (isHis) return user;
  throw refusal(
    "INVALID_ADDRESS",
    `recipient is required: an address on ${destination.displayName}`,
    "recipient",
  );
}

/**
 * @throws ServiceError INVALID_RECIPIENT for an account from which a payment could never be taken out again
 */
function refuseNoWallet(
  { chains, solver }: Pick<RailQuestionServices, "chains" | "solver">,
  end: RequestEnd,
  account: Hex,
  field: string,
): void {
  if (!isRail(end)) return refuseTrap(chains, end, solver, account, field);
  const { chain, rail } = end;
  if (/^0x0*$/.test(account)) throw zeroAddress(field);
  if (
    account === chain.depository ||
    account === rail.solver ||
    chains.currency(chain.id, account) !== undefined
  )
    throw trap(field);
}

/** What the contract says of it is for some wallets only; whatever else stands there is ignored. */
function publicKeyOf(data: unknown): string | undefined {
  const key =
    typeof data === "object" && data !== null && "userPublicKey" in data ? data.userPublicKey : undefined;
  return typeof key === "string" && /^[0-9a-fA-F]{64,66}$/.test(key) ? key.toLowerCase() : undefined;
}

function refusal(code: ErrorCode, message: string, field: string): ServiceError {
  return new ServiceError(code, message, { field });
}
