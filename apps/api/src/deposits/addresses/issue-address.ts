import { isBoundToOrder, NATIVE_CURRENCY, parseAddress, ServiceError } from "@causeway/domain";
import type {
  Address,
  ChainProfile,
  Currency,
  DepositAddressKey,
  ErrorCode,
  RefundTarget,
  RequestTerms,
} from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { NewDepositAddress, RouteQuestion } from "./deposit-addresses.port.ts";
import { isPlaceholder } from "../../chains/index.ts";

/** The origin chain's support for deposit addresses. */
export interface AddressSide {
  /** Payments to its deposit addresses do not show who owns the funds. */
  readonly hidesPayers: boolean;
  /** Undefined: this instance issues no deposit addresses on the chain. */
  readonly depositAddressOf?: ((key: DepositAddressKey) => Address) | undefined;
}

/** The deposit address options of a quote. */
export interface AddressOptions {
  readonly strict: boolean;
  /** The zero address: no one. */
  readonly recovery: Address;
  readonly refundTo: RefundTarget;
}

interface Refusal {
  readonly field: keyof QuoteInput;
  readonly code: ErrorCode;
  readonly message: string;
  readonly applies: (input: QuoteInput) => boolean;
}

/** Limits what anyone can store without paying: a deposit address is stored with its quote request. */
const MAX_STORED_CHARACTERS = 8_192;

/**
 * Options that a deposit address does not support, because its payer only transfers funds, and neither signs
 * nor calls anything.
 */
const refusals: readonly Refusal[] = [
  {
    field: "useDepositAddress",
    code: "INVALID_REQUEST",
    message: `useDepositAddress: the request must have at most ${MAX_STORED_CHARACTERS} characters; shorten its longest fields`,
    applies: (input) => JSON.stringify(requoteInput(input)).length > MAX_STORED_CHARACTERS,
  },
  {
    // The depository would record the address itself as the depositor, and a refund would return to it again
    // and again.
    field: "user",
    code: "INVALID_ADDRESS",
    message: "user must not be the zero address with useDepositAddress: it becomes the depositor",
    applies: ({ user }) => parseAddress(user) === NATIVE_CURRENCY,
  },
  {
    // A deposit with a different amount would be refunded to `user`, which is a placeholder.
    field: "user",
    code: "INVALID_ADDRESS",
    message:
      "user is a placeholder and refundTo is the zero address (refund to the sender): with strict, set user to a wallet, or refundTo to a nonzero address",
    applies: ({ strict, user, refundTo }) => {
      const named = parseAddress(user);
      return (
        strict === true &&
        named !== undefined &&
        isPlaceholder(named) &&
        refundTo !== undefined &&
        parseAddress(refundTo) === NATIVE_CURRENCY
      );
    },
  },
  {
    field: "txs",
    code: "EXTRA_TXS_NOT_SUPPORTED",
    message: "txs is not supported with useDepositAddress",
    applies: ({ txs }) => txs !== undefined && txs.length > 0,
  },
  {
    field: "usePermit",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: "usePermit is not supported with useDepositAddress",
    applies: ({ usePermit }) => usePermit === true,
  },
  {
    field: "authorizationList",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: "authorizationList is not supported with useDepositAddress",
    applies: ({ authorizationList }) => authorizationList !== undefined && authorizationList.length > 0,
  },
  {
    field: "originGasOverhead",
    code: "INVALID_REQUEST",
    message:
      "originGasOverhead is not supported with useDepositAddress: the service sends no transaction for the wallet",
    applies: ({ originGasOverhead }) => originGasOverhead !== undefined && Number(originGasOverhead) !== 0,
  },
  {
    field: "sponsoredFeeComponents",
    code: "INVALID_REQUEST",
    message: "sponsoredFeeComponents is not supported with useDepositAddress; omit it",
    applies: ({ sponsoredFeeComponents }) => sponsoredFeeComponents !== undefined,
  },
  {
    field: "tradeType",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message:
      "tradeType EXACT_OUTPUT requires strict with useDepositAddress: an address that is not strict accepts any amount",
    applies: ({ tradeType, strict }) => tradeType === "EXACT_OUTPUT" && strict !== true,
  },
  {
    field: "refundTo",
    code: "INVALID_REQUEST",
    message:
      "refundTo is required with strict: any other payment and any surplus are refunded to it (zero address: to their sender)",
    applies: ({ strict, refundTo }) => strict === true && refundTo === undefined,
  },
];

/** The error for a chain on which this instance cannot move funds from deposit addresses. */
function notEnabled(displayName: string): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_EXECUTION_TYPE",
    `useDepositAddress is not enabled on ${displayName}`,
    {
      field: "useDepositAddress",
    },
  );
}

/** Where payments do not show who owns the funds, nothing is refunded to the sender or recovered by a key. */
const hiddenPayerRefusals: readonly Omit<Refusal, "applies">[] = [
  {
    field: "recoveryAddress",
    code: "INVALID_REQUEST",
    message: "recoveryAddress is only supported on EVM chains: set refundTo instead",
  },
  {
    field: "refundTo",
    code: "INVALID_REQUEST",
    message:
      "refundTo is required with useDepositAddress on this chain: payments that are not filled are refunded to it",
  },
];

function refuseHiddenPayer({ recoveryAddress, refundTo }: QuoteInput): void {
  const [recovery, missing] = hiddenPayerRefusals;
  const isNamed = refundTo !== undefined && refundTargetOf(refundTo) !== "sender";
  const refused = recoveryAddress !== undefined ? recovery : isNamed ? undefined : missing;
  if (refused !== undefined) throw new ServiceError(refused.code, refused.message, { field: refused.field });
}

/**
 * Reads whether the client asks for a deposit address, and changes the input accordingly: funds that arrive
 * at the address can only be deposited, so nothing is swapped first.
 * @returns the input to quote, and the options of the address; undefined options: an ordinary quote
 * @throws ServiceError naming the contradicting field
 */
export function readAddressOptions(
  input: QuoteInput,
  { displayName }: Pick<ChainProfile, "displayName">,
  { hidesPayers, depositAddressOf }: AddressSide,
): {
  readonly effectiveInput: QuoteInput;
  readonly addressOptions: AddressOptions | undefined;
} {
  if (input.useDepositAddress !== true) {
    for (const field of ["recoveryAddress", "strict"] as const)
      if (input[field] !== undefined && input[field] !== false)
        throw new ServiceError("INVALID_REQUEST", `${field} requires useDepositAddress to be true`, {
          field,
        });
    return { effectiveInput: input, addressOptions: undefined };
  }
  for (const { field, code, message, applies } of refusals)
    if (applies(input)) throw new ServiceError(code, message, { field });
  if (hidesPayers) {
    if (depositAddressOf === undefined) throw notEnabled(displayName);
    refuseHiddenPayer(input);
  }
  const recovery = recoveryOf(input.recoveryAddress);
  const { refundTo, ...otherFields } = input;
  const isToSender = refundTargetOf(refundTo) === "sender";
  // Until the sender is known, the order names the user, as any order does.
  const namedRefundTo = isToSender ? undefined : refundTo;
  return {
    effectiveInput: {
      ...otherFields,
      ...(namedRefundTo !== undefined && { refundTo: namedRefundTo }),
      disableOriginSwaps: true,
      forceSolverExecution: true,
    },
    addressOptions: { strict: input.strict === true, recovery, refundTo: refundTargetOf(refundTo) },
  };
}

/** The recipient of funds that are not filled; in the request, the zero address means their sender. */
function refundTargetOf(text: string | undefined): RefundTarget {
  const refundTo = text === undefined ? undefined : parseAddress(text);
  if (refundTo === undefined) return "nobody";
  return refundTo === NATIVE_CURRENCY ? "sender" : refundTo;
}

function recoveryOf(text: string | undefined): Address {
  if (text === undefined) return NATIVE_CURRENCY;
  const recovery = parseAddress(text);
  if (recovery === undefined || recovery === NATIVE_CURRENCY)
    throw new ServiceError(
      "INVALID_ADDRESS",
      "recoveryAddress must be a 20-byte address, not the zero address",
      {
        field: "recoveryAddress",
      },
    );
  return recovery;
}

/** @throws ServiceError if this instance cannot move funds from such an address */
export function refuseUnmovable(
  {
    isSend,
    origin,
    originCurrency: currency,
  }: {
    readonly isSend: boolean;
    readonly origin: { readonly chain: Pick<ChainProfile, "displayName"> };
    readonly originCurrency: Currency;
  },
  addressOf: ((key: DepositAddressKey) => Address) | undefined,
): void {
  const { displayName } = origin.chain;
  if (isSend)
    throw new ServiceError(
      "UNSUPPORTED_ROUTE",
      "useDepositAddress is not supported when the user can pay the recipient directly",
      { field: "useDepositAddress" },
    );
  if (addressOf === undefined) throw notEnabled(displayName);
  if (!currency.supportsBridging)
    throw new ServiceError(
      "UNSUPPORTED_CURRENCY",
      `originCurrency ${currency.symbol} is not supported with useDepositAddress; use a currency that GET /chains lists with supportsBridging`,
      { field: "originCurrency" },
    );
}

/** The terms with the deposit address that their order determines. */
export function withAddress(
  terms: RequestTerms,
  addressOf: ((key: DepositAddressKey) => Address) | undefined,
  { strict, recovery, refundTo }: AddressOptions,
): RequestTerms {
  if (addressOf === undefined)
    throw new RangeError("invariant violated: deposit address on a chain that has none");
  const key = keyOf(terms, recovery, { strict, refundTo });
  return { ...terms, depositAddress: { address: addressOf(key), strict, recovery } };
}

function keyOf(
  { orderId, user }: RequestTerms,
  recovery: Address,
  bound: Parameters<typeof isBoundToOrder>[0],
): DepositAddressKey {
  return { id: orderId, depositor: user, recovery, strict: isBoundToOrder(bound) };
}

/** The row to store for a new deposit address; undefined if the terms have none. */
export function newDepositAddress(terms: RequestTerms, input: QuoteInput): NewDepositAddress | undefined {
  const { depositAddress } = terms;
  if (depositAddress === undefined) return undefined;
  const isEvmAccount = input.refundTo === undefined || parseAddress(input.refundTo) !== undefined;
  const refundTo = isEvmAccount ? refundTargetOf(input.refundTo) : terms.refundTo;
  const { strict, recovery } = depositAddress;
  return {
    address: depositAddress.address,
    requestId: terms.requestId,
    key: keyOf(terms, recovery, { strict, refundTo }),
    strict,
    refundTo,
    quoted: { chainId: terms.origin.chainId, currency: terms.origin.currency },
    question: requoteInput(input),
    keyId: terms.keyId,
    createdAtMs: terms.createdAtMs,
    activeAtMs: terms.createdAtMs,
  };
}

/** Fields of a quote request that also apply to a deposit with a different amount at the same address. */
export function requoteInput(input: RouteQuestion): RouteQuestion {
  return Object.fromEntries(
    Object.entries(input).filter(([field]) => !fieldsNotRequoted.has(field)),
  ) as RouteQuestion & Record<string, unknown>;
}

const fieldsNotRequoted: ReadonlySet<string> = new Set<keyof QuoteInput>([
  "amount",
  "tradeType",
  "refundTo",
  // A sponsor of one quote has not agreed to sponsor what anyone sends later.
  "subsidizeFees",
  "maxSubsidizationAmount",
  "sponsoredFeeComponents",
  "fixedRate",
  // Fields without effect.
  "additionalData",
  "gasLimitForDepositSpecifiedTxs",
  "includeProtocolData",
  "latePaymentSlippageTolerance",
  "protocolVersion",
  "referrerAddress",
  "refundOnOrigin",
]);
