import type { Hex } from "./ids/hex.ts";

/**
 * Error codes of the public contract (quotes) and of the service's own endpoints. service-kit maps each to a
 * status and a body.
 */
export const errorCodes = [
  "INVALID_REQUEST",
  "AMOUNT_TOO_LOW",
  "CHAIN_DISABLED",
  "EXTRA_TXS_NOT_SUPPORTED",
  "INSUFFICIENT_FUNDS",
  "INSUFFICIENT_LIQUIDITY",
  "INVALID_ADDRESS",
  "INVALID_EXTRA_TXS",
  "INVALID_GAS_LIMIT_FOR_DEPOSIT_SPECIFIED_TXS",
  "INVALID_INPUT_CURRENCY",
  "INVALID_OUTPUT_CURRENCY",
  "INVALID_RECIPIENT",
  "INVALID_SLIPPAGE_TOLERANCE",
  "NO_INTERNAL_SWAP_ROUTES_FOUND",
  "NO_QUOTES",
  "NO_SWAP_ROUTES_FOUND",
  "ROUTE_TEMPORARILY_RESTRICTED",
  "SANCTIONED_CURRENCY",
  "SANCTIONED_WALLET_ADDRESS",
  "SWAP_IMPACT_TOO_HIGH",
  "UNSUPPORTED_CHAIN",
  "UNSUPPORTED_CURRENCY",
  "UNSUPPORTED_EXECUTION_TYPE",
  "UNSUPPORTED_ROUTE",
  "USER_RECIPIENT_MISMATCH",
  "DESTINATION_TX_FAILED",
  "ERC20_ROUTER_ADDRESS_NOT_FOUND",
  "SWAP_QUOTE_FAILED",
  "PERMIT_FAILED",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "NOT_FOUND",
  "REQUEST_NOT_FOUND",
  "TRANSACTION_NOT_FOUND",
  "FAST_FILL_REFUSED",
  "INSUFFICIENT_APP_BALANCE",
  "REQUEST_IN_PROGRESS",
  "NONCE_TAKEN",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "IDEMPOTENCY_IN_PROGRESS",
  "IDEMPOTENCY_KEY_REUSED",
  "RATE_LIMITED",
  "PRICE_FETCH_FAILED",
  "SWAP_QUOTE_FAILED",
  "SERVICE_UNAVAILABLE",
  "REQUEST_TIMED_OUT",
  "RPC_HTTP_ERROR",
  "UNKNOWN_ERROR",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** Facts that accompany an error in the API. */
export interface ErrorFacts {
  /** The invalid field of the request, as the client wrote it. */
  readonly field?: string;
  readonly requestId?: string;
  /** Machine-readable details, `errorData` of the API. Never holds a secret. */
  readonly data?: Readonly<Record<string, unknown>> | string;
  readonly failedCallData?: {
    readonly from: Hex;
    readonly to: Hex;
    readonly data: Hex;
    readonly value: string;
  };
  /** The block at whose state the call was tried, or a neighbor. */
  readonly approxSimulatedBlock?: number;
  /** Seconds after which the same call may succeed, if known. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** Every intended error of this service: `message` is for the caller, `cause` for the log. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  /** The same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = "ServiceError";
    this.code = code;
    this.retryable = retryableCodes.has(code);
    this.facts = facts;
  }
}

const retryableCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "PRICE_FETCH_FAILED",
  "SERVICE_UNAVAILABLE",
  "REQUEST_TIMED_OUT",
  "RPC_HTTP_ERROR",
  "IDEMPOTENCY_IN_PROGRESS",
  "RATE_LIMITED",
  "UNKNOWN_ERROR",
]);

/** A closed union was not exhausted: a bug, never a user error. */
export function unreachable(value: never): never {
  throw new Error(`invariant violated: unexpected value ${JSON.stringify(value)}`);
}
