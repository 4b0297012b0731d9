import { ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { FastifyRequest } from "fastify";
import type { RateLimits } from "../http/rate-limits.port.ts";
import { hasSecretKey } from "../http/access.route.ts";
import { callerOf } from "../http/rate-limit.route.ts";

/** Maximum call data of one quote without a secret key, in bytes. Quotes are stored before they are paid. */
const MAX_DATA_BYTES = 4_096;
/** Bytes that a call or an authorization counts in addition to its data. */
const OVERHEAD_BYTES = 128;

/**
 * Limits how much data of destination calls a caller without a secret API key may have stored.
 * @throws ServiceError INVALID_EXTRA_TXS for one quote, RATE_LIMITED for the bytes of a day
 */
export async function limitCallData(
  limits: RateLimits | undefined,
  request: Pick<FastifyRequest, "apiKey" | "ip">,
  { txs = [], authorizationList = [] }: Pick<QuoteInput, "txs" | "authorizationList">,
): Promise<void> {
  if (txs.length === 0 || hasSecretKey(request)) return;
  const dataBytes = txs.reduce((sum, { data }) => sum + (data.length - 2) / 2, 0);
  if (dataBytes > MAX_DATA_BYTES)
    throw new ServiceError(
      "INVALID_EXTRA_TXS",
      `txs may carry at most ${MAX_DATA_BYTES} bytes of data in total without a secret API key, got ${dataBytes}`,
      { field: "txs", data: { maxBytes: MAX_DATA_BYTES, bytes: dataBytes } },
    );
  if (limits === undefined) return;
  const { callBytesPerDay } = limits.policy;
  const bytes = dataBytes + OVERHEAD_BYTES * (txs.length + authorizationList.length);
  const { used, endsInMs } = await limits.takeCallBytes(callerOf(request), bytes);
  if (used <= callBytesPerDay) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(endsInMs / 1000));
  throw new ServiceError(
    "RATE_LIMITED",
    `txs exceed the limit of ${callBytesPerDay} bytes in 24 hours without a secret API key; retry in ${retryAfterSeconds} s or send x-api-key`,
    { field: "txs", retryAfterSeconds },
  );
}
