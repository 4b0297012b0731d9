import {
  hasSwaps,
  ServiceError,
  type Address,
  type Currency,
  type ErrorCode,
  type Hex,
} from "@causeway/domain";
import { formatAddress, parseAccount, parseCurrency } from "@causeway/families";
import type { QuoteInput } from "@causeway/wire";
import { wholeNumber } from "@causeway/wire";
import type { AppBalancePolicy } from "../balances/app-balance.port.ts";
import type { QuoteKey } from "../balances/sponsors.port.ts";
import type { ChainDirectory, AnyConnectedChain } from "../chains/chains.port.ts";
import { type AddressOptions, readAddressOptions, refuseUnmovable } from "../deposits/index.ts";
import { connectedChainOf } from "../http/connected-chain.ts";
import {
  depositsClosed,
  depositsNotEnabled,
  disabledChain,
  notBridgeable,
  unsupportedChain,
} from "../http/refusals.ts";
import type { LiquiditySource } from "../markets/liquidity/liquidity.port.ts";
import type { Market } from "./market.ts";
import { choosePermit, type ChoosePermitServices } from "./permits/choose-permit.ts";
import type { PlainQuestion, QuoteQuestion } from "./quote-question.ts";
import { readRequestedCalls } from "./routing/requested-calls.ts";
import { checkTokens, type TokenCheckServices } from "./routing/check-tokens.ts";
import { readFeeOptions } from "./routing/fee-options.ts";
import { refuseUncollectable } from "./routing/refuse-uncollectable.ts";
import { readSwapChoice } from "./routing/swap-choice.ts";
import { refuseUntraceable } from "./routing/refuse-untraceable.ts";
import { requirements, noSends, refuseIncapable } from "./sides/capabilities.ts";
import { sideOf } from "./sides/side-of.ts";
import type { Side } from "./sides/side.ts";

/**
 * Gas units: far more than a wallet needs in addition to a deposit, but little enough for the service to
 * advance until the output pays for it.
 */
const MAX_GAS_OVERHEAD = 5_000_000;
const UINT256_MAX = 2n ** 256n - 1n;

/** Dependencies of reading a question. */
export interface QuestionServices extends TokenCheckServices, ChoosePermitServices {
  readonly market: Market;
  readonly chains: ChainDirectory;
  readonly solver: Address;
  readonly quotePolicy: { readonly maxTtlSeconds: number };
  /** The pools and aggregators for swaps. */
  readonly liquidity: LiquiditySource;
  /** Undefined: app fees are not enabled. */
  readonly appBalance?: AppBalancePolicy | undefined;
  /** Sweeps deposit addresses. Undefined: deposit addresses are not enabled. */
  readonly depositAddressOperator?: { readonly address: Address } | undefined;
}

/** A question, and the options of the deposit address if it requests one. */
export interface QuestionWithOptions {
  readonly question: QuoteQuestion;
  readonly addressOptions: AddressOptions | undefined;
}

/**
 * @param key the client's API key, whose app may sponsor fees; absent: nothing can be sponsored
 * @throws ServiceError with a code of the public contract, naming the invalid field
 */
export function readQuestion(
  services: QuestionServices,
  input: QuoteInput,
  key: QuoteKey | undefined,
): QuestionWithOptions {
  const ends = readEnds(services.chains, input);
  const { effectiveInput, addressOptions } = readAddressOptions(input, ends.origin.chain, ends.from);
  const plain = readPlain(services, ends, effectiveInput);
  const fees = readFeeOptions(input, key, services.appBalance !== undefined);
  if (fees !== undefined) refuseUncollectable(services, plain, fees);
  const permit = input.usePermit === true ? choosePermit(services, plain, input) : undefined;
  if (addressOptions !== undefined)
    refuseUnmovable(
      plain,
      plain.from.evm === undefined || services.depositAddressOperator !== undefined
        ? plain.from.depositAddressOf
        : undefined,
    );
  const calls = readRequestedCalls(input, plain);
  if (calls !== undefined) refuseUntraceable(plain, "SERVICE_UNAVAILABLE", "txs", "txs is not available");
  const tokens = checkTokens(services, plain);
  // Fees need a deposit, calls need a fill, and a pool's output cannot pay for submitting a signature.
  const isFilledBySolver =
    fees !== undefined || calls !== undefined || (permit !== undefined && plain.origin === plain.destination);
  return {
    question: {
      ...plain,
      explicitDeposit: plain.explicitDeposit || permit !== undefined,
      swaps: isFilledBySolver ? { ...plain.swaps, isFilledBySolver } : plain.swaps,
      fees,
      permit,
      tokens,
      calls,
      sweepGas: addressOptions && plain.from.sweepGas(plain.originCurrency),
    },
    addressOptions,
  };
}

type Ends = Pick<QuoteQuestion, "origin" | "destination" | "from" | "to">;

function readEnds(chains: ChainDirectory, input: QuoteInput): Ends {
  const origin = openEnd(chains, input.originChainId, "originChainId");
  const destination = openEnd(chains, input.destinationChainId, "destinationChainId");
  if (!destination.chain.depositEnabled) throw depositsClosed(destination.chain);
  const [from, to] = [sideOf(origin), sideOf(destination)];
  refuseIncapable(
    {
      origin: { can: from.can, displayName: origin.chain.displayName },
      destination: { can: to.can, displayName: destination.chain.displayName },
    },
    input,
  );
  if (!from.makesSteps) throw depositsNotEnabled(origin.chain);
  // The transfer carries no order id, so the client must support the step that maps the nonce to the request.
  if (from.needsWalletNonce && input.protocolVersion !== "v2")
    throw refusal(
      "INVALID_REQUEST",
      `protocolVersion must be v2 for deposits from ${origin.chain.displayName}`,
      "protocolVersion",
    );
  return { origin, destination, from, to };
}

function openEnd(chains: ChainDirectory, id: number, field: string): AnyConnectedChain {
  const connected = connectedChainOf(chains, id);
  if (connected === undefined) throw unsupportedChain(id, field);
  if (connected.chain.disabled) throw disabledChain(connected.chain, field);
  return connected;
}

function readPlain(services: QuestionServices, ends: Ends, input: QuoteInput): PlainQuestion {
  const { chains, solver, liquidity } = services;
  const { origin, destination, from, to } = ends;
  const originCurrency = currencyOf(services, origin, from, input, "originCurrency");
  const destinationCurrency = currencyOf(services, destination, to, input, "destinationCurrency");
  const isSend = origin === destination && originCurrency.address === destinationCurrency.address;
  if (isSend && !from.can.sends) throw noSends();
  const user = parseAccount(origin.chain, input.user, "user");
  const recipient = recipientOf(from, destination, user, input.recipient);
  const recipientField = input.recipient === undefined ? "user" : "recipient";
  refuseUnsafeAccount(chains, destination, to.unsafeAccounts(solver), recipient, recipientField);
  // `refuseUnsafeAccount` knows only configured tokens.
  if (recipient === destinationCurrency.address) throw unsafeAccount(recipientField);
  const refundTo =
    input.refundTo === undefined ? user : parseAccount(origin.chain, input.refundTo, "refundTo");
  const refundField = input.refundTo === undefined ? "user" : "refundTo";
  refuseUnsafeAccount(chains, origin, from.unsafeAccounts(solver), refundTo, refundField);
  if (isSend && recipient === user)
    throw refusal(
      "UNSUPPORTED_ROUTE",
      "destinationCurrency must differ from originCurrency, or recipient must differ from user; otherwise nothing would move",
      "destinationCurrency",
    );
  if (!isSend) {
    if (origin === destination && !from.can.sends && !originCurrency.supportsBridging)
      throw notBridgeable(
        originCurrency,
        origin.chain,
        "originCurrency",
        "it can only be swapped in requests to other chains",
      );
    refuseUnreachable(origin, from, originCurrency, "originCurrency");
    refuseUnreachable(destination, to, destinationCurrency, "destinationCurrency");
  }
  return {
    ...ends,
    isSend,
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
    publicKey: publicKeyOf(input.additionalData),
    originGasOverhead: from.can.executions ? overheadOf(input.originGasOverhead) : undefined,
  };
}

/** What each side needs to swap a currency that the solver does not hold. */
const swapRequirements = {
  originCurrency: requirements.swapBefore,
  destinationCurrency: requirements.swapAfter,
} as const;
type CurrencyField = keyof typeof swapRequirements;

function currencyOf(
  { chains, market }: QuestionServices,
  { chain }: AnyConnectedChain,
  side: Side,
  input: QuoteInput,
  field: CurrencyField,
): Currency {
  const address = parseCurrency(chain, input[field]);
  const configured = address === undefined ? undefined : chains.currency(chain.id, address);
  if (configured !== undefined) return configured;
  // Without swaps, an unconfigured token could not be used, so the chain is not queried for it.
  if (address !== undefined && side.can[swapRequirements[field].capability] && hasSwaps(chain)) {
    const token = market.token(chain.id, address);
    if (token !== undefined) return token;
  }
  throw refusal(
    field === "originCurrency" ? "INVALID_INPUT_CURRENCY" : "INVALID_OUTPUT_CURRENCY",
    `Invalid input or output currency: ${field} ${invalidCurrencyReason(side, chain, address, field)}`,
    field,
  );
}

function invalidCurrencyReason(
  { evm, can }: Side,
  chain: AnyConnectedChain["chain"],
  address: Hex | undefined,
  field: CurrencyField,
): string {
  const { displayName } = chain;
  const { capability, why } = swapRequirements[field];
  if (!can[capability])
    return `must be the address of a currency that GET /chains lists for ${displayName}: ${why}`;
  if (evm === undefined)
    return address !== undefined && hasSwaps(chain)
      ? `${formatAddress(chain, address)} is not a token on ${displayName}`
      : `must be the address of a currency that GET /chains lists for ${displayName}: this service swaps no other tokens there`;
  return address === undefined
    ? "must be a token address, not a symbol or name; find it with GET /currencies/v2"
    : `${address} is not a token contract on ${displayName}`;
}

/** A currency that the solver does not hold must be swapped on its own chain. */
function refuseUnreachable(
  { chain }: AnyConnectedChain,
  { can }: Side,
  currency: Currency,
  field: CurrencyField,
): void {
  if (currency.supportsBridging) return;
  const { capability, why } = swapRequirements[field];
  const swaps = can[capability];
  if (!swaps || !hasSwaps(chain)) throw notBridgeable(currency, chain, field, swaps ? undefined : why);
}

/**
 * The user's own address is the default recipient only where the user certainly has its key: within one chain
 * family, and on EVM chains for a Hyperliquid user, who has the key of the same EVM address. From an EVM
 * chain to Hyperliquid, the address may be a contract, which has no key.
 */
function recipientOf(
  { walletFamilies }: Side,
  { chain }: AnyConnectedChain,
  user: Hex,
  text: string | undefined,
): Hex {
  if (text !== undefined) return parseAccount(chain, text, "recipient");
  if (walletFamilies.includes(chain.vmType)) return user;
  throw refusal("INVALID_ADDRESS", `recipient is required: an address on ${chain.displayName}`, "recipient");
}

/**
 * The user's public key from `additionalData`. Ignores any other content: the API defines the field for some
 * wallets only.
 */
function publicKeyOf(data: unknown): string | undefined {
  const key =
    typeof data === "object" && data !== null && "userPublicKey" in data ? data.userPublicKey : undefined;
  return typeof key === "string" && /^[0-9a-fA-F]{64,66}$/.test(key) ? key.toLowerCase() : undefined;
}

/**
 * Refuses accounts from which a payment could never be moved again: the zero address, tokens and the
 * service's contracts. Accepts other burn addresses, which clients send as placeholders when no wallet is
 * connected.
 * @throws ServiceError INVALID_RECIPIENT
 */
function refuseUnsafeAccount(
  chains: Pick<ChainDirectory, "currency">,
  { chain }: AnyConnectedChain,
  unsafeAccounts: ReadonlyArray<Hex | undefined>,
  account: Hex,
  field: string,
): void {
  if (/^0x0*$/.test(account))
    throw refusal("INVALID_RECIPIENT", `${field} must be a wallet, not the zero address`, field);
  if (unsafeAccounts.includes(account) || chains.currency(chain.id, account) !== undefined)
    throw unsafeAccount(field);
}

function unsafeAccount(field: string): ServiceError {
  return refusal(
    "INVALID_RECIPIENT",
    `${field} must be a wallet, not a token or a contract of this service`,
    field,
  );
}

function amountOf(digits: string): bigint {
  const amount = /^\d{1,78}$/.test(digits) ? BigInt(digits) : undefined;
  if (amount === undefined || amount > UINT256_MAX)
    throw refusal("INVALID_REQUEST", "amount must be a string of decimal digits below 2^256", "amount");
  if (amount === 0n) throw refusal("AMOUNT_TOO_LOW", "amount must be greater than 0", "amount");
  return amount;
}

function slippageOf(input: QuoteInput): number | undefined {
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

function ttlOf(seconds: number | undefined, max: number): number | undefined {
  if (seconds === undefined) return undefined;
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > max)
    throw refusal("INVALID_REQUEST", `ttl must be a whole number of seconds from 1 to ${max}`, "ttl");
  return seconds;
}

function refusal(code: ErrorCode, message: string, field: string): ServiceError {
  return new ServiceError(code, message, { field });
}
