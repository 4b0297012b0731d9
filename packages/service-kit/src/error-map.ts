import { STATUS_CODES } from "node:http";
import { type ErrorCode, ServiceError } from "@causeway/domain";
import type { ErrorBody } from "@causeway/wire";

/** The answer to errors with one code. */
interface CodeAnswer {
  readonly status: number;
  /** Replaces the error's own message if that is not meant for the caller. */
  readonly message?: string;
  /** Seconds after which the same call may succeed. */
  readonly retryAfterSeconds?: number;
  /** Additional fields of the body. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Complete by type: a new code does not compile without an entry. */
const answers = {
  INVALID_REQUEST: { status: 400 },
  AMOUNT_TOO_LOW: { status: 400 },
  CHAIN_DISABLED: { status: 400 },
  EXTRA_TXS_NOT_SUPPORTED: { status: 400 },
  INSUFFICIENT_FUNDS: { status: 400 },
  INSUFFICIENT_LIQUIDITY: { status: 400 },
  INVALID_ADDRESS: { status: 400 },
  INVALID_EXTRA_TXS: { status: 400 },
  INVALID_GAS_LIMIT_FOR_DEPOSIT_SPECIFIED_TXS: { status: 400 },
  INVALID_INPUT_CURRENCY: { status: 400 },
  INVALID_OUTPUT_CURRENCY: { status: 400 },
  INVALID_RECIPIENT: { status: 400 },
  INVALID_SLIPPAGE_TOLERANCE: { status: 400 },
  NO_INTERNAL_SWAP_ROUTES_FOUND: { status: 400 },
  NO_QUOTES: { status: 400 },
  NO_SWAP_ROUTES_FOUND: { status: 400 },
  ROUTE_TEMPORARILY_RESTRICTED: { status: 400 },
  SANCTIONED_CURRENCY: { status: 400 },
  SANCTIONED_WALLET_ADDRESS: { status: 400 },
  SWAP_IMPACT_TOO_HIGH: { status: 400 },
  UNSUPPORTED_CHAIN: { status: 400 },
  UNSUPPORTED_CURRENCY: { status: 400 },
  UNSUPPORTED_EXECUTION_TYPE: { status: 400 },
  UNSUPPORTED_ROUTE: { status: 400 },
  USER_RECIPIENT_MISMATCH: { status: 400 },
  DESTINATION_TX_FAILED: { status: 400 },
  ERC20_ROUTER_ADDRESS_NOT_FOUND: { status: 400 },
  SWAP_QUOTE_FAILED: { status: 400 },
  PERMIT_FAILED: { status: 400 },
  UNAUTHORIZED: { status: 401 },
  FORBIDDEN: { status: 403 },
  NOT_FOUND: { status: 404 },
  REQUEST_NOT_FOUND: { status: 404, extra: { status: "unknown" } },
  TRANSACTION_NOT_FOUND: { status: 404 },
  FAST_FILL_REFUSED: { status: 400 },
  INSUFFICIENT_APP_BALANCE: { status: 403 },
  REQUEST_IN_PROGRESS: { status: 409 },
  NONCE_TAKEN: { status: 409 },
  PAYLOAD_TOO_LARGE: { status: 413 },
  UNSUPPORTED_MEDIA_TYPE: { status: 415 },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, retryAfterSeconds: 1 },
  IDEMPOTENCY_KEY_REUSED: { status: 422 },
  RATE_LIMITED: { status: 429, retryAfterSeconds: 1 },
  PRICE_FETCH_FAILED: { status: 503, retryAfterSeconds: 1 },
  SERVICE_UNAVAILABLE: { status: 503, retryAfterSeconds: 1 },
  REQUEST_TIMED_OUT: { status: 503, retryAfterSeconds: 1 },
  RPC_HTTP_ERROR: { status: 503, retryAfterSeconds: 1 },
  UNKNOWN_ERROR: { status: 500, message: "internal error" },
} as const satisfies Record<ErrorCode, CodeAnswer>;

/**
 * The answer to an error, and whether the error is unexpected (then it belongs in the log, with its causes).
 */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody & Record<string, unknown>;
  readonly unexpected: boolean;
}

/** The answer to any thrown value. Never shows the message of an error that was not meant for the caller. */
export function answerFor(thrown: unknown): ErrorAnswer {
  const error = asServiceError(thrown);
  const codeAnswer: CodeAnswer = answers[error.code];
  const retryAfter = error.facts.retryAfterSeconds ?? codeAnswer.retryAfterSeconds;
  return {
    ...errorAnswer(codeAnswer.status, error.code, codeAnswer.message ?? error.message, {
      ...codeAnswer.extra,
      ...errorData(error),
      ...(error.facts.requestId === undefined ? {} : { requestId: error.facts.requestId }),
      ...(error.facts.failedCallData === undefined ? {} : { failedCallData: error.facts.failedCallData }),
      ...(error.facts.approxSimulatedBlock === undefined
        ? {}
        : { approxSimulatedBlock: error.facts.approxSimulatedBlock }),
    }),
    headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
    unexpected: codeAnswer.status >= 500,
  };
}

/** The facts of an error, including the invalid field. */
function errorData({ facts: { field, data } }: ServiceError): { readonly errorData?: unknown } {
  if (typeof data === "string") return { errorData: data };
  if (field === undefined && data === undefined) return {};
  return { errorData: { ...(field === undefined ? {} : { field }), ...data } };
}

/** An answer whose status differs from the usual status of its code. */
export function errorAnswer(
  status: number,
  errorCode: ErrorCode,
  message: string,
  extra: Readonly<Record<string, unknown>> = {},
): ErrorAnswer {
  return {
    status,
    headers: {},
    body: { message, errorCode, ...extra, statusCode: status, error: STATUS_CODES[status] ?? "Error" },
    unexpected: false,
  };
}

function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  return (
    rpcFault(thrown) ??
    frameworkError(thrown) ??
    new ServiceError("UNKNOWN_ERROR", "internal error", { cause: thrown })
  );
}

/**
 * An error of a node or the network anywhere in the chain of causes: never the caller's, and its text may
 * contain a private URL.
 */
function rpcFault(thrown: unknown): ServiceError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth++) {
    // Compares the code, because subclasses have other names.
    if (!("code" in error) || error.code !== "RPC_FAULT") continue;
    return new ServiceError("RPC_HTTP_ERROR", "a chain node returned no usable response; try again", {
      cause: thrown,
    });
  }
  return undefined;
}

/** Errors that the HTTP framework throws before a route is reached. */
function frameworkError(thrown: unknown): ServiceError | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code, statusCode } = thrown as { code?: unknown; statusCode?: unknown };
  if (thrown.name === "TimeoutError") {
    return new ServiceError("REQUEST_TIMED_OUT", "the request took too long; try again", { cause: thrown });
  }
  const mapped = typeof code === "string" ? framework[code] : undefined;
  if (mapped !== undefined) return new ServiceError(mapped.code, mapped.message, { cause: thrown });
  const isParserError = thrown instanceof SyntaxError && statusCode === 400;
  const isFrameworkError =
    typeof code === "string" && code.startsWith("FST_") && typeof statusCode === "number" && statusCode < 500;
  return isParserError || isFrameworkError
    ? new ServiceError("INVALID_REQUEST", isParserError ? NOT_JSON : thrown.message, { cause: thrown })
    : undefined;
}

const NOT_JSON = "body is not valid JSON";

const framework: Readonly<Record<string, { readonly code: ErrorCode; readonly message: string }>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "content-type must be application/json",
  },
  FST_ERR_CTP_BODY_TOO_LARGE: { code: "PAYLOAD_TOO_LARGE", message: "body is too large" },
  FST_ERR_CTP_INVALID_JSON_BODY: { code: "INVALID_REQUEST", message: NOT_JSON },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: "INVALID_REQUEST", message: "body is required" },
  FST_ERR_BAD_URL: { code: "INVALID_REQUEST", message: "URL is not valid" },
};
