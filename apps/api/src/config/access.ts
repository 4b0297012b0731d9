import type { Secret, SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";
import type { RateLimitPolicy } from "../http/rate-limits.port.ts";

const { choice, integer, secret } = setting;

const perMinute = (name: string, limit: number, describe: string) =>
  integer({ name, min: 1, max: 1_000_000, default: limit, describe });

/** Tokens of operators, and how often clients may call. */
export const accessSettings = {
  metricsToken: secret({
    name: "METRICS_TOKEN",
    optional: true,
    describe:
      "Token that scrapers of `GET /metrics` send as `Authorization: Bearer`; at least 32 characters. Unset: the API does not serve `/metrics`, and the worker serves it without a token on `HEALTH_PORT`, which must not be public.",
  }),
  operatorToken: secret({
    name: "OPERATOR_TOKEN",
    optional: true,
    describe:
      "Token for `/admin/keys` and `/admin/pauses`, sent as `Authorization: Bearer`; at least 32 characters. Unset: these routes do not exist; use `operator keys` and `operator pause`.",
  }),
  rateLimits: choice({
    name: "RATE_LIMITS",
    values: ["on", "off"],
    default: "on",
    describe:
      "Whether calls are rate-limited. Processes that share a Redis share the limits. While Redis is unavailable, each process counts on its own.",
  }),
  rateLimitQuote: perMinute(
    "RATE_LIMIT_QUOTE_PER_MINUTE",
    50,
    "Quotes per API key and minute, unless the key has its own limit.",
  ),
  rateLimitOther: perMinute(
    "RATE_LIMIT_OTHER_PER_MINUTE",
    200,
    "Other calls per API key and minute, unless the key has its own limit.",
  ),
  rateLimitStatus: perMinute(
    "RATE_LIMIT_STATUS_PER_MINUTE",
    1_200,
    "Status queries per API key and minute. Clients poll each request about once per second.",
  ),
  rateLimitIpQuote: perMinute(
    "RATE_LIMIT_IP_QUOTE_PER_MINUTE",
    30,
    "Quotes without a key per IP address and minute. IPv6 addresses count by /64 network.",
  ),
  rateLimitIpOther: perMinute(
    "RATE_LIMIT_IP_OTHER_PER_MINUTE",
    120,
    "Other calls without a key per IP address and minute, including calls with invalid keys.",
  ),
  rateLimitIpStatus: perMinute(
    "RATE_LIMIT_IP_STATUS_PER_MINUTE",
    600,
    "Status queries without a key per IP address and minute.",
  ),
  rateLimitIpCallBytes: integer({
    name: "RATE_LIMIT_IP_CALL_BYTES_PER_DAY",
    min: 0,
    max: 1_000_000_000,
    default: 2_097_152,
    describe:
      "Bytes of destination calls (`txs`) that an IP address may quote within 24 hours without a secret API key. Every quote is stored, whether or not it is paid.",
  }),
};

export interface AccessConfig {
  /** Undefined: the API serves no metrics. */
  readonly metricsToken: Secret | undefined;
  /** Undefined: the routes for managing API keys are disabled. */
  readonly operatorToken: Secret | undefined;
  /** Undefined: calls are not limited. */
  readonly limits: RateLimitPolicy | undefined;
}

export function accessConfig(access: SettingValues<typeof accessSettings>): AccessConfig {
  const { metricsToken, operatorToken } = access;
  return { metricsToken, operatorToken, limits: rateLimits(access) };
}

function rateLimits(access: SettingValues<typeof accessSettings>): RateLimitPolicy | undefined {
  if (access.rateLimits === "off") return undefined;
  return {
    key: {
      quote: access.rateLimitQuote,
      status: access.rateLimitStatus,
      other: access.rateLimitOther,
    },
    address: {
      quote: access.rateLimitIpQuote,
      status: access.rateLimitIpStatus,
      other: access.rateLimitIpOther,
    },
    callBytesPerDay: access.rateLimitIpCallBytes,
  };
}

/** 32 hex characters are 128 bits. */
const MIN_TOKEN_LENGTH = 32;
/** Start of the token that the local system uses. */
const LOCAL_TOKEN = "local-";

/** @param publicEnvironment undefined if the environment is local or unknown */
export function tokenProblems(
  { metricsToken, operatorToken }: Partial<SettingValues<typeof accessSettings>>,
  publicEnvironment: string | undefined,
): readonly string[] {
  const tokens = { OPERATOR_TOKEN: operatorToken, METRICS_TOKEN: metricsToken };
  const problems = Object.entries(tokens).flatMap(([name, token]) =>
    token !== undefined && token.reveal().length < MIN_TOKEN_LENGTH
      ? [`${name} must have at least ${MIN_TOKEN_LENGTH} characters`]
      : [],
  );
  const isPubliclyKnown = operatorToken?.reveal().startsWith(LOCAL_TOKEN) === true;
  if (publicEnvironment !== undefined && isPubliclyKnown)
    problems.push(
      `OPERATOR_TOKEN is the publicly known token of local systems and not allowed in ENVIRONMENT ${publicEnvironment}`,
    );
  return problems;
}
