import type { Chain, Currency } from "@causeway/domain";
import { formatAmount, ServiceError } from "@causeway/domain";

/** Errors that several endpoints return, so that each has one text. */
export function unsupportedChain(chainId: number, field = "chainId"): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_CHAIN",
    `Chain ${chainId} is not supported; GET /chains lists the supported chains`,
    { field },
  );
}

export function disabledChain(
  { displayName }: { readonly displayName: string },
  field?: string,
  requestId?: string,
): ServiceError {
  return new ServiceError("CHAIN_DISABLED", `${displayName} is disabled; use another chain`, {
    ...(field !== undefined && { field }),
    ...(requestId !== undefined && { requestId }),
  });
}

export function invalidAddress(field: string): ServiceError {
  return new ServiceError("INVALID_ADDRESS", `${field} must be a 20-byte address`, { field });
}

export function requestNotFound(requestId: string): ServiceError {
  return new ServiceError("REQUEST_NOT_FOUND", `Request ${requestId} not found`, { requestId });
}

export function depositAddressNotFound(address?: string, field?: string): ServiceError {
  const named = address === undefined ? "Deposit address" : `Deposit address ${address}`;
  return new ServiceError("NOT_FOUND", `${named} not found: this service did not issue it`, {
    ...(field !== undefined && { field }),
  });
}

/** An amount in base units and in whole tokens. */
export function amountText(
  amount: bigint,
  { decimals, symbol }: Pick<Currency, "decimals" | "symbol">,
): string {
  return `${amount} (${formatAmount(amount, decimals)} ${symbol})`;
}

export function insufficientLiquidity(
  { decimals, symbol }: Pick<Currency, "decimals" | "symbol">,
  amount: bigint,
): ServiceError {
  const available = amount > 0n ? amount : 0n;
  return new ServiceError(
    "INSUFFICIENT_LIQUIDITY",
    `Insufficient liquidity: ${available} base units (${formatAmount(available, decimals)} ${symbol}) available`,
    { field: "amount", data: { available: available.toString() } },
  );
}

export function aboveMaxFill(
  { decimals, symbol }: Pick<Currency, "decimals" | "symbol">,
  maxFillAmount: bigint,
): ServiceError {
  return new ServiceError(
    "INSUFFICIENT_LIQUIDITY",
    `amount: the output of one request must be at most ${maxFillAmount} base units (${formatAmount(maxFillAmount, decimals)} ${symbol})`,
    { field: "amount", data: { available: maxFillAmount.toString() } },
  );
}

/** The error when no input that fits into a transaction yields the requested output. */
export function inputOutOfRange({ symbol }: Pick<Currency, "symbol">): ServiceError {
  return new ServiceError(
    "INVALID_REQUEST",
    `amount is too large: no deposit of ${symbol} could pay for it`,
    {
      field: "amount",
    },
  );
}

export function restrictedChain(
  { displayName, partialDisableLimit }: Pick<Chain, "displayName" | "partialDisableLimit">,
  field: string,
): ServiceError {
  return new ServiceError(
    "ROUTE_TEMPORARILY_RESTRICTED",
    `${displayName} is temporarily restricted to requests worth at most ${partialDisableLimit} base units of its native token; lower amount`,
    { field, data: { partialDisableLimit: partialDisableLimit.toString() } },
  );
}

/** The operator disabled the chain as a destination of new requests. */
export function depositsClosed({ displayName }: { readonly displayName: string }): ServiceError {
  return new ServiceError(
    "CHAIN_DISABLED",
    `${displayName} is disabled as a destination; use another chain`,
    { field: "destinationChainId" },
  );
}

export function depositsNotEnabled({ displayName }: { readonly displayName: string }): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_ROUTE",
    `Deposits from ${displayName} are not enabled on this service`,
    {
      field: "originChainId",
    },
  );
}

export function balanceUnavailable(
  { displayName }: { readonly displayName: string },
  cause: unknown,
): ServiceError {
  return new ServiceError(
    "RPC_HTTP_ERROR",
    `The node of ${displayName} did not return the user's balance; try again`,
    { field: "originChainId", cause },
  );
}

/** @param why why this kind of chain supports no swap; absent: this chain has no pools */
export function notBridgeable(
  { symbol }: Pick<Currency, "symbol">,
  { displayName }: { readonly displayName: string },
  field: string,
  why?: string,
): ServiceError {
  const reason = why === undefined ? "" : `: ${why}`;
  return new ServiceError(
    "UNSUPPORTED_CURRENCY",
    `${field} ${symbol} cannot be bridged from or to ${displayName}${reason}; use a currency that GET /chains lists with supportsBridging`,
    { field },
  );
}
