import type { SettingGroup } from "@causeway/config";
import { setting } from "@causeway/config";
import type { PairClass } from "@causeway/domain";
import { defaultFeePolicy } from "@causeway/domain";

const {
  choice,
  evmAddresses,
  flag,
  integer,
  list,
  matching,
  privateKey,
  secret,
  secretUrl,
  text,
  trustedProxies,
  url,
} = setting;

const MINUTE_MS = 60_000;
const DAY_SECONDS = 86_400;
const sourceName = matching("letters, digits, dots and dashes", /^[A-Za-z0-9.-]{1,40}$/);
const bps = integer(0, 10_000);
const millis = integer(1, 86_400_000);
const lifetime = integer(60, 30 * DAY_SECONDS);

// Each group is one heading of docs/CONFIG.md, which is generated from this file.

/** Which configuration files to read. */
export const locationSettings = {
  environment: matching(
    "lowercase words joined by dots",
    /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*$/,
  )({
    name: "ENVIRONMENT",
    describe:
      "Selects `chains.<ENVIRONMENT>.json` and `prices.<ENVIRONMENT>.json`: `local`, `testnets.prod`, `mainnets.prod` or your own. Only `local` accepts publicly known keys.",
  }),
  configsDir: text({
    name: "CONFIGS_DIR",
    describe: "Directory of the configuration files.",
    default: "configs",
  }),
  vaultDir: text({
    name: "VAULT_SECRETS_DIR",
    describe:
      "Directory of secret files. Their `KEY=VALUE` lines override the environment. Files are parsed, never executed.",
    default: "/vault/secrets",
  }),
};

export const storageSettings = {
  databaseUrl: secretUrl(
    "postgres",
    "postgresql",
  )({ name: "DATABASE_URL", describe: "Postgres database, which stores all state of the service." }),
  databasePoolSize: integer(
    1,
    200,
  )({
    name: "DATABASE_POOL_SIZE",
    describe: "Connections per process. In measurements, more than 16 was slower.",
    default: 16,
  }),
  databaseStatementTimeoutMs: millis({
    name: "DATABASE_STATEMENT_TIMEOUT_MS",
    describe: "Postgres cancels a statement that takes longer.",
    default: 15_000,
  }),
  redisUrl: secretUrl(
    "redis",
    "rediss",
  )({
    name: "REDIS_URL",
    describe:
      "Redis for the queues; must run with `maxmemory-policy noeviction`. Losing its data loses no funds and no state.",
  }),
  queuePrefix: matching(
    "letters, digits and dashes",
    /^[A-Za-z0-9-]+$/,
  )({
    name: "QUEUE_PREFIX",
    describe: "Namespace of the queues in Redis. Systems that share a Redis need different prefixes.",
    default: "causeway",
  }),
};

export const httpSettings = {
  httpHost: text({
    name: "HTTP_HOST",
    describe: "Address to listen on; `0.0.0.0` inside a container.",
    default: "127.0.0.1",
  }),
  httpPort: integer(
    0,
    65_535,
  )({ name: "HTTP_PORT", describe: "Port of the API; 0 picks a free port.", default: 3000 }),
  healthPort: integer(
    0,
    65_535,
  )({ name: "HEALTH_PORT", describe: "Port of the worker's health and metrics server.", default: 3001 }),
  requiredChains: list({
    name: "READINESS_CHAINS",
    describe:
      "Names of enabled chains, for example `base,arbitrum`. `GET /health/ready` returns 503 while any of them is `lagging` or `unheard`. Empty: one healthy chain is enough.",
    default: [],
  }),
  bodyLimitBytes: integer(
    1024,
    16_777_216,
  )({
    name: "BODY_LIMIT_BYTES",
    describe: "Maximum size of a request body; larger ones are refused.",
    default: 262_144,
  }),
  trustProxy: trustedProxies({
    name: "TRUST_PROXY",
    describe:
      "Proxies whose `X-Forwarded-For` entry is trusted: the number of proxies in front of the API, or their addresses and ranges. `true` is refused, because callers could then forge addresses in that header and evade the rate limits.",
    default: false,
  }),
  responseCheck: flag({
    name: "RESPONSE_CHECK",
    describe:
      "Checks every response against its schema; a mismatch returns 500 and is logged. Roughly halves the request rate for quotes.",
    default: false,
  }),
  logLevel: choice(
    "fatal",
    "error",
    "warn",
    "info",
    "debug",
    "trace",
    "silent",
  )({ name: "LOG_LEVEL", describe: "Minimum level of logged lines.", default: "info" }),
  logFormat: choice(
    "json",
    "pretty",
  )({
    name: "LOG_FORMAT",
    describe: "`json`: one JSON object per line, for machines. `pretty`: readable lines, for terminals.",
    default: "json",
  }),
  shutdownTimeoutMs: millis({
    name: "SHUTDOWN_TIMEOUT_MS",
    describe:
      "How long a shutdown waits for running requests and jobs. Keep it below the grace period of the platform.",
    default: 25_000,
  }),
};

const perMinute = integer(1, 1_000_000);

/** Who may call how often, and who keeps the keys. */
export const accessSettings = {
  metricsToken: secret({
    name: "METRICS_TOKEN",
    describe:
      "Token that scrapers of `GET /metrics` send as `Authorization: Bearer`; at least 32 characters. Unset: the API does not serve `/metrics`, and the worker serves it without a token on `HEALTH_PORT`, which must not be public.",
    optional: true,
  }),
  operatorToken: secret({
    name: "OPERATOR_TOKEN",
    describe:
      "Token for managing API keys at `/admin/keys` (`Authorization: Bearer`); at least 32 characters. Unset: these routes do not exist, and only `operator keys` manages keys.",
    optional: true,
  }),
  rateLimits: choice(
    "on",
    "off",
  )({
    name: "RATE_LIMITS",
    describe:
      "Whether calls are rate-limited. All processes on the same Redis share the limits; while Redis is unavailable, each process counts on its own.",
    default: "on",
  }),
  rateLimitQuote: perMinute({
    name: "RATE_LIMIT_QUOTE_PER_MINUTE",
    describe: "Quotes per API key and minute, unless the key has its own limit.",
    default: 50,
  }),
  rateLimitOther: perMinute({
    name: "RATE_LIMIT_OTHER_PER_MINUTE",
    describe: "Other calls per API key and minute, unless the key has its own limit.",
    default: 200,
  }),
  rateLimitStatus: perMinute({
    name: "RATE_LIMIT_STATUS_PER_MINUTE",
    describe: "Status queries per API key and minute. Clients poll each request about once per second.",
    default: 1_200,
  }),
  rateLimitIpQuote: perMinute({
    name: "RATE_LIMIT_IP_QUOTE_PER_MINUTE",
    describe: "Quotes without a key per IP address and minute. IPv6 addresses count by /64 network.",
    default: 30,
  }),
  rateLimitIpOther: perMinute({
    name: "RATE_LIMIT_IP_OTHER_PER_MINUTE",
    describe: "Other calls without a key per IP address and minute, including calls with invalid keys.",
    default: 120,
  }),
  rateLimitIpStatus: perMinute({
    name: "RATE_LIMIT_IP_STATUS_PER_MINUTE",
    describe: "Status queries without a key per IP address and minute.",
    default: 600,
  }),
  rateLimitIpCallBytes: integer(
    0,
    1_000_000_000,
  )({
    name: "RATE_LIMIT_IP_CALL_BYTES_PER_DAY",
    describe:
      "Bytes of destination calls (`txs`) in quotes without a secret key per IP address and 24 hours. Quotes are stored before they are paid.",
    default: 2_097_152,
  }),
};

/** Clients and receivers that are told of changes. */
export const pushSettings = {
  maxConnections: integer(
    1,
    1_000_000,
  )({
    name: "PUSH_MAX_CONNECTIONS",
    describe:
      "WebSockets and streams open at once per process. Each needs a file descriptor: `ulimit -n` must be higher.",
    default: 20_000,
  }),
  maxPerAddress: integer(
    1,
    1_000_000,
  )({
    name: "PUSH_MAX_CONNECTIONS_PER_ADDRESS",
    describe: "WebSockets and streams open at once per IP address. IPv6 addresses count by /64 network.",
    default: 200,
  }),
  maxSubscriptions: integer(
    1,
    10_000,
  )({
    name: "PUSH_MAX_SUBSCRIPTIONS",
    describe: "Subscriptions per WebSocket.",
    default: 100,
  }),
  heartbeatMs: millis({
    name: "PUSH_HEARTBEAT_MS",
    describe:
      "Interval of heartbeats on open connections. A WebSocket that does not answer one before the next is closed.",
    default: 20_000,
  }),
  webhookAllowPrivate: flag({
    name: "WEBHOOK_ALLOW_PRIVATE",
    describe:
      "Allows webhooks to private, loopback and link-local addresses and over plain http. For receivers on the operator's own network.",
    default: false,
  }),
  webhookTimeoutMs: integer(
    100,
    30_000,
  )({
    name: "WEBHOOK_TIMEOUT_MS",
    describe: "Timeout of one webhook delivery, including its response.",
    default: 10_000,
  }),
};

const account = evmAddresses("address, 0x and 40 hex digits", /^0x[0-9a-fA-F]{40}$/);

/**
 * The worker needs the keys, the API the addresses of all but SOLVER_PRIVATE_KEY. Set in both processes, the
 * addresses also keep the worker from starting with another key.
 */
export const solverSettings = {
  solverPrivateKey: privateKey({
    name: "SOLVER_PRIVATE_KEY",
    describe:
      "Signs fills, refunds and orders on every chain. Outside `local`, the keys of the local system are refused.",
  }),
  solverFormerKeys: secret({
    name: "SOLVER_FORMER_KEYS",
    describe:
      "Worker only. Former values of SOLVER_PRIVATE_KEY, 32 bytes of hex each, separated by commas. They sign only for orders that name them, so that settlement repays those fills; nothing is paid from their accounts. An order whose key is in neither setting is not filled.",
    optional: true,
  }),
  solverFormerAddresses: evmAddresses(
    "addresses separated by commas",
    /^0x[0-9a-fA-F]{40}(\s*,\s*0x[0-9a-fA-F]{40})*\s*,?$/,
  )({
    name: "SOLVER_FORMER_ADDRESSES",
    describe: "Addresses of SOLVER_FORMER_KEYS, for the API.",
    optional: true,
  }),
  executorPrivateKey: privateKey({
    name: "EXECUTOR_PRIVATE_KEY",
    describe:
      "Worker only. Sends the calls of `POST /execute` on every chain. Use a different key than the solver's, and fund it with native token for gas only: calls chosen by users run under its address. Unset: no gasless execution.",
    optional: true,
  }),
  executorAddress: account({
    name: "EXECUTOR_ADDRESS",
    describe: "Address of EXECUTOR_PRIVATE_KEY, for the API. Unset: no gasless execution.",
    optional: true,
  }),
  depositAddressOperatorPrivateKey: privateKey({
    name: "DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY",
    describe:
      "Worker only. Moves funds from deposit addresses into the depository: the `operator` of every `depositAddressFactory`, on every chain. Use a separate key, funded with native token for gas only. Unset: no deposit addresses are issued, and funds at issued ones are not moved.",
    optional: true,
  }),
  depositAddressOperatorAddress: account({
    name: "DEPOSIT_ADDRESS_OPERATOR_ADDRESS",
    describe:
      "Address of DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY, for the API. Unset: the API issues no deposit addresses.",
    optional: true,
  }),
  solverSolanaKey: privateKey({
    name: "SOLVER_SOLANA_KEY",
    describe:
      "Worker only. Pays on Solana: the 32-byte seed of an ed25519 key. Required if a chain of the family solana-vm is enabled. On Hyperliquid, the solver uses the account of SOLVER_PRIVATE_KEY.",
    optional: true,
  }),
  solverSolanaAddress: text({
    name: "SOLVER_SOLANA_ADDRESS",
    describe:
      "Base58 address of SOLVER_SOLANA_KEY, for the API. Required if a chain of the family solana-vm is enabled.",
    optional: true,
  }),
  solverBitcoinKey: privateKey({
    name: "SOLVER_BITCOIN_KEY",
    describe: "Worker only. Pays on Bitcoin. Required if a chain of the family bitcoin-vm is enabled.",
    optional: true,
  }),
  solverBitcoinAddress: text({
    name: "SOLVER_BITCOIN_ADDRESS",
    describe:
      "P2WPKH address of SOLVER_BITCOIN_KEY, for the API. Required if a chain of the family bitcoin-vm is enabled.",
    optional: true,
  }),
  solverChainName: text({
    name: "SOLVER_CHAIN_NAME",
    describe: "Solver chain named in orders. Default: the first enabled chain.",
    optional: true,
  }),
};

export const priceSettings = {
  priceSource: choice(
    "fixed",
    "coingecko",
    "defillama",
  )({
    name: "PRICE_SOURCE",
    describe:
      "`fixed` reads `prices.<ENVIRONMENT>.json`; the others query an HTTP service with that interface.",
    default: "defillama",
  }),
  priceUrl: url(
    "http",
    "https",
  )({
    name: "PRICE_URL",
    describe: "Base URL of the HTTP source. Default: its public URL.",
    optional: true,
  }),
  priceApiKey: secret({
    name: "PRICE_API_KEY",
    describe: "API key for the HTTP source, if it requires one.",
    optional: true,
  }),
  priceRefreshMs: millis({
    name: "PRICE_REFRESH_MS",
    describe:
      "A price older than this is refreshed in the background when used. A price older than three times this is refreshed before use.",
    default: 10_000,
  }),
  priceMaxAgeMs: millis({
    name: "PRICE_MAX_AGE_MS",
    describe: "Maximum age of a price. With only older prices, quotes return 503 `PRICE_FETCH_FAILED`.",
    default: 5 * MINUTE_MS,
  }),
  priceVolatileMaxAgeMs: millis({
    name: "PRICE_VOLATILE_MAX_AGE_MS",
    describe:
      "Maximum age of a non-stablecoin price in quotes between different assets; with only older prices, they return 503 `PRICE_FETCH_FAILED`. The age follows the source's own timestamp. The quoted spread grows with it, so a fresher source gives better quotes.",
    default: 90_000,
  }),
  priceSecondSource: choice(
    "none",
    "coingecko",
    "defillama",
  )({
    name: "PRICE_SECOND_SOURCE",
    describe:
      "Second source that must confirm each price within 0.5 % (stablecoins) or 1.5 % (others). Unconfirmed prices are not used between different assets, even while the second source is down.",
    default: "none",
  }),
  priceSecondUrl: url(
    "http",
    "https",
  )({
    name: "PRICE_SECOND_URL",
    describe: "Base URL of the second source. Default: its public URL.",
    optional: true,
  }),
  priceSecondApiKey: secret({
    name: "PRICE_SECOND_API_KEY",
    describe: "API key for the second source, if it requires one.",
    optional: true,
  }),
  priceTimeoutMs: millis({
    name: "PRICE_TIMEOUT_MS",
    describe: "Timeout of one request to the source.",
    default: 3_000,
  }),
};

export const tokenSettings = {
  tokenLists: list({
    name: "TOKEN_LISTS",
    describe:
      "Token lists in the tokenlists.org format, as file paths or `https` URLs; the first list that contains a token wins. Their tokens are searchable and count as verified: use only lists whose maintainers you trust. Unlisted tokens are read from their chain.",
    default: [],
  }),
  tokenListRefreshMs: millis({
    name: "TOKEN_LIST_REFRESH_MS",
    describe: "How often token lists are reloaded. A list that cannot be read keeps its previous content.",
    default: 60 * MINUTE_MS,
  }),
  tokenListTimeoutMs: millis({
    name: "TOKEN_LIST_TIMEOUT_MS",
    describe: "Timeout for loading a list, and the longest time that startup waits for the lists.",
    default: 5_000,
  }),
};

const fees = defaultFeePolicy;

/** What a pair class is, in the words of the documentation. */
const pairs = {
  sameAsset: "the same asset on two chains",
  wrap: "two forms of one asset",
  stable: "two stable assets",
  major: "a pair with a major asset and no minor one",
  minor: "a pair with a minor asset",
} as const satisfies Record<PairClass, string>;

const serviceFee = (name: string, pair: PairClass) =>
  bps({
    name,
    describe: `Service fee for ${pairs[pair]}, relative to the input.`,
    default: fees.serviceBps[pair],
  });
const slippage = (name: string, pair: PairClass) =>
  bps({
    name,
    describe: `Slippage for ${pairs[pair]} if the request sets none.`,
    default: fees.automaticSlippageBps[pair],
  });

export const swapSettings = {
  swapAggregatorUrl: url(
    "http",
    "https",
  )({
    name: "SWAP_AGGREGATOR_URL",
    describe:
      "Swap aggregator, used when the configured pools offer no route or a quote asks for it. The URL without `/price` and `/quote`, for example `https://api.example.org/swap/allowance-holder`. The router executes its calldata: use only a service that you trust. Unset: pools only.",
    optional: true,
  }),
  swapAggregatorApiKey: secret({
    name: "SWAP_AGGREGATOR_API_KEY",
    describe: "API key of the swap aggregator, sent as `0x-api-key`.",
    optional: true,
  }),
  swapAggregatorName: sourceName({
    name: "SWAP_AGGREGATOR_NAME",
    describe: "Name of the swap aggregator in `/swap-sources` and in quotes.",
    default: "aggregator",
  }),
  swapAggregatorTimeoutMs: millis({
    name: "SWAP_AGGREGATOR_TIMEOUT_MS",
    describe:
      "Timeout of one request to the swap aggregator. A quote without another route waits this long. After a failure, the aggregator is not called for three seconds.",
    default: 1_500,
  }),
};

export const quoteSettings = {
  sameAssetFeeBps: serviceFee("FEE_SAME_ASSET_BPS", "sameAsset"),
  wrapFeeBps: serviceFee("FEE_WRAP_BPS", "wrap"),
  stableFeeBps: serviceFee("FEE_STABLE_BPS", "stable"),
  majorFeeBps: serviceFee("FEE_MAJOR_BPS", "major"),
  minorFeeBps: serviceFee("FEE_MINOR_BPS", "minor"),
  sameAssetSlippageBps: slippage("SLIPPAGE_SAME_ASSET_BPS", "sameAsset"),
  wrapSlippageBps: slippage("SLIPPAGE_WRAP_BPS", "wrap"),
  stableSlippageBps: slippage("SLIPPAGE_STABLE_BPS", "stable"),
  majorSlippageBps: slippage("SLIPPAGE_MAJOR_BPS", "major"),
  minorSlippageBps: slippage("SLIPPAGE_MINOR_BPS", "minor"),
  firmSeconds: integer(
    0,
    3600,
  )({
    name: "QUOTE_FIRM_SECONDS",
    describe: "How long the quoted output is guaranteed after the quote, even if prices move.",
    default: fees.firmSeconds,
  }),
  maxSwapImpactBps: bps({
    name: "QUOTE_MAX_SWAP_IMPACT_BPS",
    describe:
      "Maximum cost of a quote's swaps, relative to the input value. Above it, quotes return `SWAP_IMPACT_TOO_HIGH` unless the request sets `overridePriceImpact`.",
    default: fees.maxSwapImpactBps,
  }),
  honourBps: bps({
    name: "QUOTE_HONOUR_BPS",
    describe:
      "If prices move before the fill, the output is repriced. The quoted output is still paid if the repriced one is at most this much lower. Limits the solver's loss from a price jump. Between two assets, it is capped at the service fee of their pair.",
    default: fees.honourBps,
  }),
  orderLifetimeSeconds: lifetime({
    name: "ORDER_LIFETIME_SECONDS",
    describe: "Time to fill an order if the request sets no `ttl`; then it is refunded.",
    default: fees.orderLifetimeSeconds,
  }),
  maxTtlSeconds: lifetime({
    name: "QUOTE_MAX_TTL_SECONDS",
    describe: "Maximum `ttl` of a request.",
    default: fees.orderLifetimeSeconds,
  }),
  fillGraceSeconds: lifetime({
    name: "FILL_GRACE_SECONDS",
    describe:
      "How long an order stays valid after its fill deadline, so that a fill sent at the last moment can still be mined in time to be attested.",
    default: fees.fillGraceSeconds,
  }),
  refundGraceSeconds: lifetime({
    name: "REFUND_GRACE_SECONDS",
    describe: "How long after an order's deadline its refund can still be paid.",
    default: fees.refundGraceSeconds,
  }),
  refundGasMarginBps: integer(
    0,
    100_000,
  )({
    name: "REFUND_GAS_MARGIN_BPS",
    describe:
      "Margin added to the live gas price when a refund is estimated, because it may be sent days later.",
    default: fees.refundGasMarginBps,
  }),
};

export const engineSettings = {
  stuckAfterMs: millis({
    name: "TX_STUCK_AFTER_MS",
    describe:
      "A payment with the next nonce of its account that is not mined this long after its last broadcast is replaced at the same nonce with higher fees.",
    default: 30_000,
  }),
  bumpBps: integer(
    1_250,
    100_000,
  )({
    name: "TX_BUMP_BPS",
    describe:
      "How much a replacement raises both fees. Nodes refuse increases below 10 %, some below 12.5 %.",
    default: 1_250,
  }),
  maxAttempts: integer(
    1,
    100,
  )({
    name: "TX_MAX_ATTEMPTS",
    describe: "Maximum number of transactions signed for one nonce; after that, the last one is rebroadcast.",
    default: 12,
  }),
  rebroadcastIntervalMs: millis({
    name: "TX_REBROADCAST_INTERVAL_MS",
    describe: "How often pending transactions are rebroadcast, in case the node dropped them.",
    default: 5_000,
  }),
  orphanedAfterMs: millis({
    name: "TX_ORPHANED_AFTER_MS",
    describe:
      "Signed transactions not broadcast for this long are picked up by another process, which assumes that the one that signed them has died.",
    default: 2_000,
  }),
  cancelAfterDeadlineMs: millis({
    name: "TX_CANCEL_AFTER_DEADLINE_MS",
    describe:
      "How long after the request's deadline a pending fill is replaced by a cancel transaction at its nonce.",
    default: MINUTE_MS,
  }),
  expiryGraceMs: millis({
    name: "EXPIRY_GRACE_MS",
    describe:
      "How long after its deadline a request without a deposit is reported as failed. Until then, a late deposit is refunded, and the request is not reported as failed first.",
    default: 10 * MINUTE_MS,
  }),
  maxPriceExposureUsd: integer(
    1,
    1_000_000_000,
  )({
    name: "PRICE_EXPOSURE_USD_PER_MINUTE",
    describe:
      "Maximum value of fills between different assets per minute and asset, in whole USD, including gas top-ups and call value. Further fills wait for the next minute, and `POST /execute` returns 503 for calls with value. The first fill of a minute always passes. Limits the cost of a wrong price until it is noticed.",
    default: 250_000,
  }),
  inventoryWaitMs: millis({
    name: "FILL_INVENTORY_WAIT_MS",
    describe:
      "How long a fill waits for inventory, or keeps failing for the same reason (a node or a price), before the deposit is refunded. No refund happens while the destination chain may contain a payment that the database does not know.",
    default: 5 * MINUTE_MS,
  }),
  burntFillsDailyUsd: matching(
    "a USD amount as a decimal number, for example 100",
    /^\d{1,9}(\.\d{1,18})?$/,
  )({
    name: "BURNT_FILLS_DAILY_USD",
    describe:
      "Maximum gas cost per 24 hours of reverted fills that the solver pays itself because their deposits do not cover it. Above it, fills that swap, make calls, pay native token to a contract or top up gas wait, and their deposits are refunded after `FILL_INVENTORY_WAIT_MS`.",
    default: "100",
  }),
  unattributedRefundAfterMs: integer(
    0,
    30 * 86_400_000,
  )({
    name: "UNATTRIBUTED_REFUND_AFTER_MS",
    describe:
      "How long after detection a final deposit without an order, or with an order unknown to this instance, is returned to its depositor, within half of `UNREPAID_REFUNDS_DAILY_USD`. 0: only `operator refund` returns it. Use 0 if other solvers take deposits in the same depository, because their orders are unknown here.",
    default: 3_600_000,
  }),
  unrepaidRefundsDailyUsd: matching(
    "a USD amount as a decimal number, for example 1000",
    /^\d{1,9}(\.\d{1,18})?$/,
  )({
    name: "UNREPAID_REFUNDS_DAILY_USD",
    describe:
      "Maximum cost per 24 hours of refunds that settlement may never repay: deposits in a different currency than their order's, by a different depositor or without an order, and refunds after or shortly before the order's refund deadline. A single refund above it is left to the operator (`MANUAL_REFUND_REQUIRED`); a refund that exceeds the rest of the daily limit waits. `operator funds` lists both, and `operator refund` releases them.",
    default: "1000",
  }),
  fastFillGraceMs: millis({
    name: "FAST_FILL_GRACE_MS",
    describe:
      "How long after the order's deadline the app is charged for a fast fill without a deposit. A deposit that arrives later is still credited, at its value at that time.",
    default: 60 * MINUTE_MS,
  }),
  maxBurntFastFillUsd: integer(
    1,
    1_000_000_000,
  )({
    name: "FAST_FILL_DAILY_BURNT_USD",
    describe:
      "Maximum gas cost of reverted fast fills per app balance and 24 hours. Above it, further fast fills are refused (`dailyBurntUsd`). The app is charged for that gas.",
    default: 100,
  }),
  nudgeIntervalMs: millis({
    name: "LANE_INTERVAL_MS",
    describe: "How often pending transactions are checked for replacement.",
    default: 1_000,
  }),
  reconcileIntervalMs: millis({
    name: "RECONCILE_INTERVAL_MS",
    describe: "How often stored state is checked for overdue work.",
    default: 3_000,
  }),
  overdueAfterMs: millis({
    name: "OVERDUE_AFTER_MS",
    describe:
      "A fill, refund, execution, claim or sweep without a queued job for this long gets a new job. If it still makes no progress, the next one follows after 5 to 30 seconds.",
    default: 5_000,
  }),
  maxScanBlocks: integer(
    1,
    100_000,
  )({
    name: "SCAN_MAX_BLOCKS",
    describe: "Blocks scanned per step while catching up. Providers limit the range of log queries.",
    default: 500,
  }),
};

export const settlementSettings = {
  oracleUrls: secret({
    name: "ORACLE_URLS",
    describe:
      "Oracles that attest the solver's payments: `<base URL>|<API key>` joined with `;` (the key is optional). Requires https, except on localhost and on loopback or private IP addresses. Oracles query their peers; if one fails, the next is used. Unset: fills continue, but nothing is settled. Requires `chains.hub.<ENVIRONMENT>.json`.",
    optional: true,
  }),
  oracleSigners: evmAddresses(
    "addresses separated by `;`",
    /^0x[0-9a-fA-F]{40}(;0x[0-9a-fA-F]{40})*;?$/,
  )({
    name: "ORACLE_SIGNERS",
    describe:
      "Subset of the signers accepted by the hub's OracleMultisig whose signatures count. Unset: all of them.",
    optional: true,
  }),
  oracleTimeoutMs: millis({
    name: "ORACLE_TIMEOUT_MS",
    describe: "Timeout of one oracle request, including the oracle's peers.",
    default: 15_000,
  }),
  settlementIntervalMs: millis({
    name: "SETTLEMENT_INTERVAL_MS",
    describe: "How often settlement looks for new work.",
    default: 1_000,
  }),
  settlementMaxRetryMs: millis({
    name: "SETTLEMENT_MAX_RETRY_MS",
    describe: "Maximum delay before a failed oracle request is retried.",
    default: 5 * MINUTE_MS,
  }),
  settlementRejectedRetryMs: millis({
    name: "SETTLEMENT_REJECTED_RETRY_MS",
    describe: "Delay before the attestation of a rejected payment is requested again.",
    default: 6 * 60 * MINUTE_MS,
  }),
  settlementBatchSize: integer(
    1,
    100,
  )({
    name: "SETTLEMENT_BATCH_SIZE",
    describe: "Maximum number of executions per hub transaction.",
    default: 20,
  }),
  settlementStuckAfterMs: millis({
    name: "SETTLEMENT_STUCK_AFTER_MS",
    describe: "A hub transaction not mined after this time is replaced with higher fees.",
    default: 60_000,
  }),
};

export const appBalanceSettings = {
  appBalanceChainId: integer(
    1,
    Number.MAX_SAFE_INTEGER,
  )({
    name: "APP_BALANCE_CHAIN_ID",
    describe:
      "Chain on which app balances are topped up, by transfers to the solver, and paid out. Do not change it once there are balances. Default: the first enabled chain.",
    optional: true,
  }),
  appBalanceCurrency: text({
    name: "APP_BALANCE_CURRENCY",
    describe:
      "Symbol, `id` or `priceId` of the currency that is charged first and in which debts are recorded. The chain's other currencies follow in order of address. Default: `usdc` if the chain has it.",
    optional: true,
  }),
  appBalanceConfirmations: integer(
    1,
    100_000,
  )({
    name: "APP_BALANCE_CONFIRMATIONS",
    describe:
      "Confirmations before a top-up is credited, including its own block. Default: those of the chain's strictest tier.",
    optional: true,
  }),
  appBalanceMinTopUpUsd: matching(
    "a USD amount as a decimal number, for example 0.10",
    /^\d{1,9}(\.\d{1,18})?$/,
  )({
    name: "APP_BALANCE_LEAST_TOP_UP_USD",
    describe:
      "Minimum value of a top-up. Smaller transfers are not credited, since each credit slows down block scanning; `operator funds` lists them.",
    default: "0.10",
  }),
  appBalanceClaimSeconds: integer(
    10,
    DAY_SECONDS,
  )({
    name: "APP_BALANCE_CLAIM_SECONDS",
    describe: "How long a claim can be signed after it was offered.",
    default: 600,
  }),
};

/** What the service ventures on signatures of users: their gas is paid by outputs. */
export const permitSettings = {
  permitDailyUsd: matching(
    "a USD amount as a decimal number, for example 100",
    /^\d{1,9}(\.\d{1,18})?$/,
  )({
    name: "PERMIT_DAILY_GAS_USD",
    describe:
      "Maximum gas cost per UTC day of permit signatures that are pending (at their maximum cost) or failed. Above it, `POST /execute/permits` returns `SERVICE_UNAVAILABLE`. Gas already paid by an output does not count.",
    default: "500",
  }),
  permitsPerUser: integer(
    1,
    100_000,
  )({
    name: "PERMIT_MAX_PER_USER",
    describe: "Maximum number of permit signatures per user and hour that are pending or failed.",
    default: 20,
  }),
};

/** What only the operator's `withdraw` needs; the service never reads it. */
export const withdrawSettings = {
  allocatorPrivateKey: privateKey({
    name: "ALLOCATOR_PRIVATE_KEY",
    describe:
      "Signs withdrawals from the depositories and records them in the hub's Allocator. Only `operator withdraw` reads it: keep it off the machines of the service.",
    optional: true,
  }),
};

/** All of them, in the order of the documentation. */
export const apiSettingGroups: readonly SettingGroup[] = [
  { title: "Configuration files", settings: locationSettings },
  { title: "Storage", settings: storageSettings },
  { title: "HTTP, logs and process", settings: httpSettings },
  { title: "Access and rate limits", settings: accessSettings },
  { title: "Push", settings: pushSettings },
  { title: "Solver", settings: solverSettings },
  { title: "Prices", settings: priceSettings },
  { title: "Tokens", settings: tokenSettings },
  { title: "Swaps", settings: swapSettings },
  { title: "Quotes and fees", settings: quoteSettings },
  { title: "Transactions", settings: engineSettings },
  { title: "App balance", settings: appBalanceSettings },
  { title: "Permit signatures", settings: permitSettings },
  { title: "Settlement", settings: settlementSettings },
  { title: "Withdrawals from the hub", settings: withdrawSettings },
];
