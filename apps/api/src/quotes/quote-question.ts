import type { Address, Chain, Currency, ErrorCode, Hex, Soon, TradeType } from "@causeway/domain";
import { parseAddress, ServiceError, soon } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import { wholeNumber } from "@causeway/wire";
import type { ChainDirectory, ConnectedChain, RequestEnd } from "../chains/chains.port.ts";
import type { LiquiditySource } from "../markets/liquidity/liquidity.port.ts";
import type { TokenBook } from "../markets/tokens/token-book.port.ts";
import type { PermitWay } from "./permits/chosen-way.ts";
import type { FeeOptions } from "./routing/fee-options.ts";
import type { AskedCalls, TokensOfQuestion } from "./routing/fill-options.ts";
import type { SwapChoice } from "./routing/swap-choice.ts";
import { readSwapChoice } from "./routing/swap-choice.ts";
import {
  depositsClosed,
  disabledChain,
  invalidAddress,
  notBridgeable,
  unsupportedChain,
} from "../http/refusals.ts";

/** A validated quote request. */
export interface QuoteQuestion {
  /** One currency on one chain: the user pays the recipient directly. */
  readonly isSend: boolean;
  readonly origin: ConnectedChain;
  readonly destination: ConnectedChain;
  readonly originCurrency: Currency;
  readonly destinationCurrency: Currency;
  readonly user: Address;
  readonly recipient: Address;
  readonly refundTo: Address;
  readonly amount: bigint;
  readonly tradeType: TradeType;
  /** Absent: the service chooses. */
  readonly slippageBps: number | undefined;
  /** Absent: the lifetime of the policy. */
  readonly ttlSeconds: number | undefined;
  readonly explicitDeposit: boolean;
  /** What a deposit brings above the quoted amount of an exact output stays with the solver. */
  readonly surplusToSolver: boolean;
  readonly swaps: SwapChoice;
  readonly referrer: string | undefined;
  /** Gas units that the origin transaction needs beyond a plain deposit. Absent: the user sends it. */
  readonly originGasOverhead: number | undefined;
  /** The user signs and the service sends. Absent: the user sends. */
  readonly permit?: PermitWay;
  /** Fees that apps take and pay. */
  readonly fees?: FeeOptions;
  /** What the chains report about the two currencies and the recipient. */
  readonly tokens?: TokensOfQuestion;
  /** Calls that the fill makes with the output. Absent: the output is paid to the recipient. */
  readonly calls?: AskedCalls;
  /** Gas units of the sweep from the deposit address. Absent: the user deposits. */
  readonly sweepGas?: bigint;
}

/**
 * Far more than a wallet needs in addition to a deposit, but little enough to advance until the output pays
 * for it.
 */
const MAX_GAS_OVERHEAD = 5_000_000;
const UINT256_MAX = 2n ** 256n - 1n;

/** Dependencies of reading a question. */
export interface QuestionServices {
  readonly chains: ChainDirectory;
  readonly solver: Address;
  readonly quotePolicy: { readonly maxTtlSeconds: number };
  /** Without it, only configured currencies are known. */
  readonly tokens?: TokenBook | undefined;
  readonly liquidity: LiquiditySource;
}

/** @throws ServiceError with a code of the public contract, naming the invalid field */
export function* readQuestion(services: QuestionServices, input: QuoteInput): Soon<QuoteQuestion> {
  const { chains, solver, liquidity } = services;
  const origin = openChain(chains, input.originChainId, "originChainId");
  const destination = openChain(chains, input.destinationChainId, "destinationChainId");
  if (!destination.chain.depositEnabled) throw depositsClosed(destination.chain);

  const originCurrency = yield* currencyOf(services, origin, input.originCurrency, "originCurrency");
  const destinationCurrency = yield* currencyOf(
    services,
    destination,
    input.destinationCurrency,
    "destinationCurrency",
  );
  const user = addressOf(input.user, "user");
  const recipient = input.recipient === undefined ? user : addressOf(input.recipient, "recipient");
  const payee = input.recipient === undefined ? "user" : "recipient";
  refuseTrap(chains, destination, trapsOf(destination.chain, solver), recipient, payee);
  // A token that is not configured must not be the recipient either.
  if (recipient === destinationCurrency.address) throw trap(payee);
  const refundTo = input.refundTo === undefined ? user : addressOf(input.refundTo, "refundTo");
  const refundee = input.refundTo === undefined ? "user" : "refundTo";
  refuseTrap(chains, origin, trapsOf(origin.chain, solver), refundTo, refundee);

  const isSend = origin === destination && originCurrency.address === destinationCurrency.address;
  if (isSend && recipient === user)
    throw refusal(
      "UNSUPPORTED_ROUTE",
      "destinationCurrency must differ from originCurrency, or recipient must differ from user; otherwise nothing would move",
      "destinationCurrency",
    );
  if (!isSend) {
    refuseUnreachable(origin, originCurrency, "originCurrency");
    refuseUnreachable(destination, destinationCurrency, "destinationCurrency");
  }

  return {
    isSend,
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
    ttlSeconds: ttlOf(input.ttl, services.quotePolicy.maxTtlSeconds),
    explicitDeposit: input.explicitDeposit ?? true,
    surplusToSolver: input.enableTrueExactOutput === true && input.tradeType === "EXACT_OUTPUT",
    swaps: readSwapChoice(liquidity, origin, destination, input),
    referrer: input.referrer,
    originGasOverhead: overheadOf(input.originGasOverhead),
  };
}

function openChain(chains: ChainDirectory, id: number, field: string): ConnectedChain {
  const connected = chains.get(id);
  if (connected === undefined) throw unsupportedChain(id, field);
  if (connected.chain.disabled) throw disabledChain(connected.chain, field);
  return connected;
}

function* currencyOf(
  { chains, tokens }: QuestionServices,
  { chain }: ConnectedChain,
  text: string,
  field: "originCurrency" | "destinationCurrency",
): Soon<Currency> {
  const address = parseAddress(text);
  const known = address === undefined ? undefined : chains.currency(chain.id, address);
  if (known !== undefined) return known;
  // Without liquidity an unconfigured token could not be used, so the chain is not asked about it.
  if (address !== undefined && tokens !== undefined && chain.liquidity !== undefined) {
    const found = yield* soon(tokens.token(chain.id, address));
    if (found !== undefined) return found;
  }
  const code = field === "originCurrency" ? "INVALID_INPUT_CURRENCY" : "INVALID_OUTPUT_CURRENCY";
  throw refusal(
    code,
    address === undefined
      ? `Invalid input or output currency: ${field} must be a token address, not a symbol or name; find it with GET /currencies/v2`
      : `Invalid input or output currency: ${field} ${address} is not a token contract on ${chain.displayName}`,
    field,
  );
}

/** What the solver does not hold must be swapped on its own chain. */
function refuseUnreachable({ chain }: ConnectedChain, currency: Currency, field: string): void {
  if (!currency.supportsBridging && chain.liquidity === undefined)
    throw notBridgeable(currency, chain, field);
}

function addressOf(text: string, field: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw invalidAddress(field);
  return address;
}

/** Accounts on an EVM chain, besides tokens, from which a payment could never be moved again. */
export function trapsOf({ contracts, liquidity }: Chain, solver: Address): ReadonlyArray<Hex | undefined> {
  const {
    depository,
    formerDepositories = [],
    router,
    approvalProxy,
    serviceReceiver,
    multicall3,
  } = contracts;
  return [
    depository,
    ...formerDepositories,
    router,
    approvalProxy,
    serviceReceiver,
    multicall3,
    solver,
    liquidity?.wrappedNative,
  ];
}

/**
 * Refuses accounts from which a payment could never be moved again: traps, zero and tokens. Other burn
 * addresses are placeholders of clients without a connected wallet.
 * @throws ServiceError INVALID_RECIPIENT
 */
export function refuseTrap(
  chains: Pick<ChainDirectory, "currency">,
  { chain }: RequestEnd,
  traps: ReadonlyArray<Hex | undefined>,
  account: Hex,
  field: string,
): void {
  if (/^0x0*$/.test(account))
    throw refusal("INVALID_RECIPIENT", `${field} must be a wallet, not the zero address`, field);
  if (traps.includes(account) || chains.currency(chain.id, account) !== undefined) throw trap(field);
}

function trap(field: string): ServiceError {
  return refusal(
    "INVALID_RECIPIENT",
    `${field} must be a wallet, not a token or a contract of this service`,
    field,
  );
}

export function amountOf(digits: string): bigint {
  const amount = /^\d{1,78}$/.test(digits) ? BigInt(digits) : undefined;
  if (amount === undefined || amount > UINT256_MAX)
    throw refusal("INVALID_REQUEST", "amount must be a string of decimal digits below 2^256", "amount");
  if (amount === 0n) throw refusal("AMOUNT_TOO_LOW", "amount must be greater than 0", "amount");
  return amount;
}

export function slippageOf(input: QuoteInput): number | undefined {
  bpsOf(input.latePaymentSlippageTolerance, "latePaymentSlippageTolerance");
  return bpsOf(input.slippageTolerance, "slippageTolerance");
}

function overheadOf(value: number | string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const units = wholeNumber(value);
  if (units === undefined || units > MAX_GAS_OVERHEAD)
    throw refusal(
      "INVALID_REQUEST",
      `originGasOverhead must be a whole number of gas units from 0 to ${MAX_GAS_OVERHEAD}`,
      "originGasOverhead",
    );
  return units;
}

function bpsOf(value: number | string | undefined, field: string): number | undefined {
  if (value === undefined) return undefined;
  const bps = wholeNumber(value);
  if (bps === undefined || bps > 10_000)
    throw refusal(
      "INVALID_SLIPPAGE_TOLERANCE",
      `${field} must be a whole number of bps from 0 to 10000`,
      field,
    );
  return bps;
}

export function ttlOf(seconds: number | undefined, max: number): number | undefined {
  if (seconds === undefined) return undefined;
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > max)
    throw refusal("INVALID_REQUEST", `ttl must be a whole number of seconds from 1 to ${max}`, "ttl");
  return seconds;
}

function refusal(code: ErrorCode, message: string, field: string): ServiceError {
  return new ServiceError(code, message, { field });
}
