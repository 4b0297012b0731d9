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
    "lower-case words joined by dots",
    /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*$/,
  )({
    name: "ENVIRONMENT",
    describe:
      "Chooses `chains.<ENVIRONMENT>.json` and `prices.<ENVIRONMENT>.json`: `local`, `testnets.prod`, `mainnets.prod` or a file of your own. Only `local` accepts publicly known keys.",
  }),
  configsDir: text({
    name: "CONFIGS_DIR",
    describe: "Folder of the configuration files.",
    default: "configs",
  }),
  vaultDir: text({
    name: "VAULT_SECRETS_DIR",
    describe:
      "Folder whose files of `KEY=VALUE` lines are laid over the environment. Parsed, never executed.",
    default: "/vault/secrets",
  }),
};

export const storageSettings = {
  databaseUrl: secretUrl(
    "postgres",
    "postgresql",
  )({ name: "DATABASE_URL", describe: "Postgres, the only memory of the service." }),
  databasePoolSize: integer(
    1,
    200,
  )({
    name: "DATABASE_POOL_SIZE",
    describe: "Connections per process. More than 16 was slower when measured.",
    default: 16,
  }),
  databaseStatementTimeoutMs: millis({
    name: "DATABASE_STATEMENT_TIMEOUT_MS",
    describe: "Postgres ends a statement that takes longer.",
    default: 15_000,
  }),
  redisUrl: secretUrl(
    "redis",
    "rediss",
  )({
    name: "REDIS_URL",
    describe:
      "Redis for the queues; must run with `maxmemory-policy noeviction`. Losing it loses no money and no state.",
  }),
  queuePrefix: matching(
    "letters, digits and dashes",
    /^[A-Za-z0-9-]+$/,
  )({
    name: "QUEUE_PREFIX",
    describe: "Namespace of the queues in Redis: two systems on one Redis need two.",
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
  )({ name: "HTTP_PORT", describe: "Port of the API; 0 lets the system choose.", default: 3000 }),
  healthPort: integer(
    0,
    65_535,
  )({ name: "HEALTH_PORT", describe: "Port of the worker's health and metrics server.", default: 3001 }),
  requiredChains: list({
    name: "READINESS_CHAINS",
    describe:
      "Names of enabled chains, for example `base,arbitrum`: `GET /health/ready` answers 503 while one of them is `lagging` or `unheard`. Empty: one chain of all is enough.",
    default: [],
  }),
  bodyLimitBytes: integer(
    1024,
    16_777_216,
  )({ name: "BODY_LIMIT_BYTES", describe: "Larger request bodies are refused.", default: 262_144 }),
  trustProxy: trustedProxies({
    name: "TRUST_PROXY",
    describe:
      "Proxies whose `X-Forwarded-For` entry is trusted: how many stand in front of the API, or their addresses and ranges. `true` is refused: callers could then write any address into that header and escape the rate limits.",
    default: false,
  }),
  responseCheck: flag({
    name: "RESPONSE_CHECK",
    describe:
      "Checks every answer against its schema; a mismatch is answered 500 and logged. Costs about half of the request rate on quotes.",
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
  )({ name: "LOG_LEVEL", describe: "Lines below this level are not written.", default: "info" }),
  logFormat: choice(
    "json",
    "pretty",
  )({
    name: "LOG_FORMAT",
    describe:
      "`json`: one JSON object per line, for machines. `pretty`: one readable line each, for terminals.",
    default: "json",
  }),
  shutdownTimeoutMs: millis({
    name: "SHUTDOWN_TIMEOUT_MS",
    describe:
      "How long a stop waits for requests and jobs under way. Keep it below the grace period of the platform.",
    default: 25_000,
  }),
};

const perMinute = integer(1, 1_000_000);

/** Who may call how often, and who keeps the keys. */
export const accessSettings = {
  metricsToken: secret({
    name: "METRICS_TOKEN",
    describe:
      "Token that a scraper of `GET /metrics` sends as `Authorization: Bearer`; at least 32 characters. Unset: the API does not serve `/metrics`, and the worker serves it without a token on `HEALTH_PORT`, which must not be public.",
    optional: true,
  }),
  operatorToken: secret({
    name: "OPERATOR_TOKEN",
    describe:
      "Lets whoever has it keep API keys at `/admin/keys` (`Authorization: Bearer`); at least 32 characters. Unset: there are no such routes, and keys are kept by `operator keys` alone.",
    optional: true,
  }),
  rateLimits: choice(
    "on",
    "off",
  )({
    name: "RATE_LIMITS",
    describe:
      "Whether calls are limited. The limits hold for all processes on one Redis together; while it is away each process counts alone.",
    default: "on",
  }),
  rateLimitQuote: perMinute({
    name: "RATE_LIMIT_QUOTE_PER_MINUTE",
    describe: "Quotes of one API key a minute, unless the key says otherwise.",
    default: 50,
  }),
  rateLimitOther: perMinute({
    name: "RATE_LIMIT_OTHER_PER_MINUTE",
    describe: "Other calls of one API key a minute, unless the key says otherwise.",
    default: 200,
  }),
  rateLimitStatus: perMinute({
    name: "RATE_LIMIT_STATUS_PER_MINUTE",
    describe:
      "Questions of one API key for the status of requests a minute: clients ask once a second for each.",
    default: 1_200,
  }),
  rateLimitIpQuote: perMinute({
    name: "RATE_LIMIT_IP_QUOTE_PER_MINUTE",
    describe: "Quotes of one address without a key a minute. IPv6 addresses count by their /64.",
    default: 30,
  }),
  rateLimitIpOther: perMinute({
    name: "RATE_LIMIT_IP_OTHER_PER_MINUTE",
    describe:
      "Other calls of one address without a key a minute, and its calls with keys that are not valid.",
    default: 120,
  }),
  rateLimitIpStatus: perMinute({
    name: "RATE_LIMIT_IP_STATUS_PER_MINUTE",
    describe: "Questions of one address without a key for the status of requests a minute.",
    default: 600,
  }),
  rateLimitIpCallBytes: integer(
    0,
    1_000_000_000,
  )({
    name: "RATE_LIMIT_IP_CALL_BYTES_PER_DAY",
    describe:
      "Bytes of destination calls (`txs`) in the quotes of one address without a secret key in 24 hours. Quotes are stored before they are paid.",
    default: 2_097_152,
  }),
};

/** Clients and receivers that are told of changes. */
export const pushSettings = {
  mostConnections: integer(
    1,
    1_000_000,
  )({
    name: "PUSH_MAX_CONNECTIONS",
    describe:
      "WebSockets and streams that a process keeps open at once. Each takes a file descriptor: `ulimit -n` must be above it.",
    default: 20_000,
  }),
  mostPerAddress: integer(
    1,
    1_000_000,
  )({
    name: "PUSH_MAX_CONNECTIONS_PER_ADDRESS",
    describe: "Of these, from one address. IPv6 addresses count by their /64.",
    default: 200,
  }),
  mostSubscriptions: integer(
    1,
    10_000,
  )({
    name: "PUSH_MAX_SUBSCRIPTIONS",
    describe: "Subscriptions of one WebSocket.",
    default: 100,
  }),
  heartbeatMs: millis({
    name: "PUSH_HEARTBEAT_MS",
    describe:
      "How often open connections get a sign of life. A WebSocket that does not answer one until the next is closed.",
    default: 20_000,
  }),
  webhookAllowPrivate: flag({
    name: "WEBHOOK_ALLOW_PRIVATE",
    describe:
      "Lets webhooks go to private, loopback and link-local addresses, and by plain http: for systems whose receivers stand on the operator's own network.",
    default: false,
  }),
  webhookTimeoutMs: integer(
    100,
    30_000,
  )({
    name: "WEBHOOK_TIMEOUT_MS",
    describe: "Bound of one delivery to a webhook, its answer included.",
    default: 10_000,
  }),
};

const account = evmAddresses("address, 0x and 40 hex digits", /^0x[0-9a-fA-F]{40}$/);

/**
 * The worker needs the keys, the API the addresses of all but SOLVER_PRIVATE_KEY. Set in both processes, the addresses also keep
 * the worker from starting with another key.
 */
export const solverSettings = {
  solverPrivateKey: privateKey({
    name: "SOLVER_PRIVATE_KEY",
    describe:
      "Signs fills, refunds and orders, on every chain. Keys of the local system are refused outside `local`.",
  }),
  solverFormerKeys: secret({
    name: "SOLVER_FORMER_KEYS",
    describe:
      "Worker only. Private keys that were SOLVER_PRIVATE_KEY before, 32 bytes of hex each, separated by commas. They only sign for orders that name them, so that settlement repays what is paid for those; nothing is paid from their accounts. An order whose key is in neither setting is not filled.",
    optional: true,
  }),
  solverFormerAddresses: evmAddresses(
    "addresses separated by commas",
    /^0x[0-9a-fA-F]{40}(\s*,\s*0x[0-9a-fA-F]{40})*\s*,?$/,
  )({
    name: "SOLVER_FORMER_ADDRESSES",
    describe: "The addresses of SOLVER_FORMER_KEYS, for the API.",
    optional: true,
  }),
  executorPrivateKey: privateKey({
    name: "EXECUTOR_PRIVATE_KEY",
    describe:
      "Worker only. Sends the calls of `POST /execute`, on every chain. Another key than the solver's, with native token for gas and nothing else: whatever a user signed runs in its name. Unset: no gasless execution.",
    optional: true,
  }),
  executorAddress: account({
    name: "EXECUTOR_ADDRESS",
    describe: "The address of EXECUTOR_PRIVATE_KEY, for the API. Unset: no gasless execution.",
    optional: true,
  }),
  depositAddressOperatorPrivateKey: privateKey({
    name: "DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY",
    describe:
      "Worker only. Moves money from deposit addresses into the depository: the `operator` of every `depositAddressFactory`, on every chain. A key of its own, with native token for gas and nothing else. Unset: no deposit addresses, and what is at those already given out is not moved.",
    optional: true,
  }),
  depositAddressOperatorAddress: account({
    name: "DEPOSIT_ADDRESS_OPERATOR_ADDRESS",
    describe:
      "The address of DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY, for the API. Unset: it gives out no deposit addresses.",
    optional: true,
  }),
  solverSolanaKey: privateKey({
    name: "SOLVER_SOLANA_KEY",
    describe:
      "Worker only. Pays on Solana: the 32-byte seed of an ed25519 key. Needed when a chain of the family solana-vm is enabled. On the perpetuals exchange the solver is the account of SOLVER_PRIVATE_KEY.",
    optional: true,
  }),
  solverSolanaAddress: text({
    name: "SOLVER_SOLANA_ADDRESS",
    describe:
      "The address of SOLVER_SOLANA_KEY, in base58, for the API. Needed when a chain of the family solana-vm is enabled.",
    optional: true,
  }),
  solverBitcoinKey: privateKey({
    name: "SOLVER_BITCOIN_KEY",
    describe: "Worker only. Pays on Bitcoin. Needed when a chain of the family bitcoin-vm is enabled.",
    optional: true,
  }),
  solverBitcoinAddress: text({
    name: "SOLVER_BITCOIN_ADDRESS",
    describe:
      "The P2WPKH address of SOLVER_BITCOIN_KEY, for the API. Needed when a chain of the family bitcoin-vm is enabled.",
    optional: true,
  }),
  solverChainName: text({
    name: "SOLVER_CHAIN_NAME",
    describe: "Chain that orders name as the solver's home. Default: the first enabled chain.",
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
      "`fixed` reads `prices.<ENVIRONMENT>.json`; the others ask an HTTP service with that interface.",
    default: "defillama",
  }),
  priceUrl: url(
    "http",
    "https",
  )({
    name: "PRICE_URL",
    describe: "Base URL of the HTTP source. Default: the public one of that source.",
    optional: true,
  }),
  priceApiKey: secret({
    name: "PRICE_API_KEY",
    describe: "Key for the HTTP source, where it wants one.",
    optional: true,
  }),
  priceRefreshMs: millis({
    name: "PRICE_REFRESH_MS",
    describe:
      "A price older than this is refreshed in the background when it is used; one three times as old is waited for.",
    default: 10_000,
  }),
  priceMaxAgeMs: millis({
    name: "PRICE_MAX_AGE_MS",
    describe: "A price older than this is not used: quotes answer 503 `PRICE_FETCH_FAILED`.",
    default: 5 * MINUTE_MS,
  }),
  priceVolatileMaxAgeMs: millis({
    name: "PRICE_VOLATILE_MAX_AGE_MS",
    describe:
      "An older price of a currency that is not a stablecoin is not used between different assets: quotes answer 503 `PRICE_FETCH_FAILED`. The age is the source's own timestamp, and younger prices pay a spread for theirs, so a fresher source quotes better.",
    default: 90_000,
  }),
  priceSecondSource: choice(
    "none",
    "coingecko",
    "defillama",
  )({
    name: "PRICE_SECOND_SOURCE",
    describe:
      "A second source that must confirm each price within 0.5 % (stablecoins) or 1.5 %. An unconfirmed price, also while the second source is down, is not used between different assets.",
    default: "none",
  }),
  priceSecondUrl: url(
    "http",
    "https",
  )({
    name: "PRICE_SECOND_URL",
    describe: "Base URL of the second source. Default: its public one.",
    optional: true,
  }),
  priceSecondApiKey: secret({
    name: "PRICE_SECOND_API_KEY",
    describe: "Key for the second source, where it needs one.",
    optional: true,
  }),
  priceTimeoutMs: millis({
    name: "PRICE_TIMEOUT_MS",
    describe: "Bound of one request to the source.",
    default: 3_000,
  }),
};

export const tokenSettings = {
  tokenLists: list({
    name: "TOKEN_LISTS",
    describe:
      "Token lists in the format of tokenlists.org, as file paths or `https` URLs; where two know a token the earlier one is believed. Their tokens can be searched and count as verified: name only lists whose keepers you trust. Tokens in no list are asked about on their chain.",
    default: [],
  }),
  tokenListRefreshMs: millis({
    name: "TOKEN_LIST_REFRESH_MS",
    describe: "Token lists are read again this often. One that cannot be read stays as it was.",
    default: 60 * MINUTE_MS,
  }),
  tokenListTimeoutMs: millis({
    name: "TOKEN_LIST_TIMEOUT_MS",
    describe: "Bound of one reading of a list; the start waits no longer for them.",
    default: 5_000,
  }),
};

const fees = defaultFeePolicy;

/** What a pair class is, in the words of the documentation. */
const pairs = {
  sameAsset: "the same asset on two chains",
  wrap: "two forms of one asset",
  stable: "two stable assets",
  major: "a pair whose dearer class is major",
  minor: "a pair whose dearer class is minor",
} as const satisfies Record<PairClass, string>;

const serviceFee = (name: string, pair: PairClass) =>
  bps({ name, describe: `Service fee for ${pairs[pair]}, of the input.`, default: fees.serviceBps[pair] });
const slippage = (name: string, pair: PairClass) =>
  bps({
    name,
    describe: `Slippage for ${pairs[pair]} when the request names none.`,
    default: fees.automaticSlippageBps[pair],
  });

export const swapSettings = {
  swapAggregatorUrl: url(
    "http",
    "https",
  )({
    name: "SWAP_AGGREGATOR_URL",
    describe:
      "Service that is asked for exchanges where the configured pools have no answer, or a quote wants it: the URL before `/price` and `/quote`, e.g. `https://api.example.org/swap/allowance-holder`. Its calldata runs in the router's name: name only one that you trust. Unset: pools only.",
    optional: true,
  }),
  swapAggregatorApiKey: secret({
    name: "SWAP_AGGREGATOR_API_KEY",
    describe: "Sent to it as `0x-api-key`.",
    optional: true,
  }),
  swapAggregatorName: sourceName({
    name: "SWAP_AGGREGATOR_NAME",
    describe: "Its name in `/swap-sources` and in quotes.",
    default: "aggregator",
  }),
  swapAggregatorTimeoutMs: millis({
    name: "SWAP_AGGREGATOR_TIMEOUT_MS",
    describe:
      "Bound of one request to it. A quote without another way waits so long; after a fault it is not asked for three seconds.",
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
    describe: "For so long after the quote the quoted output is kept although prices move.",
    default: fees.firmSeconds,
  }),
  maxSwapImpactBps: bps({
    name: "QUOTE_MAX_SWAP_IMPACT_BPS",
    describe:
      "A quote whose swaps cost more than this of the input's value answers `SWAP_IMPACT_TOO_HIGH` unless the request has `overridePriceImpact`.",
    default: fees.maxSwapImpactBps,
  }),
  honourBps: bps({
    name: "QUOTE_HONOUR_BPS",
    describe:
      "How far the repriced output may lie below the quoted one while the quoted one is still paid: bounds what a price jump can cost the solver. Between two assets it is never more than the service fee of their pair.",
    default: fees.honourBps,
  }),
  orderLifetimeSeconds: lifetime({
    name: "ORDER_LIFETIME_SECONDS",
    describe: "An order that is not filled by then is refunded, when the request names no `ttl`.",
    default: fees.orderLifetimeSeconds,
  }),
  maxTtlSeconds: lifetime({
    name: "QUOTE_MAX_TTL_SECONDS",
    describe: "Longest `ttl` a request may ask for.",
    default: fees.orderLifetimeSeconds,
  }),
  fillGraceSeconds: lifetime({
    name: "FILL_GRACE_SECONDS",
    describe:
      "How long after the last moment of a fill the order itself ends: what is sent then must still be mined in time to be attested.",
    default: fees.fillGraceSeconds,
  }),
  refundGraceSeconds: lifetime({
    name: "REFUND_GRACE_SECONDS",
    describe: "How long after an order's deadline its refund may still be paid.",
    default: fees.refundGraceSeconds,
  }),
  refundGasMarginBps: integer(
    0,
    100_000,
  )({
    name: "REFUND_GAS_MARGIN_BPS",
    describe: "Added to the live gas price when a refund is estimated: it may be sent days later.",
    default: fees.refundGasMarginBps,
  }),
};

export const engineSettings = {
  stuckAfterMs: millis({
    name: "TX_STUCK_AFTER_MS",
    describe:
      "A payment at the head of its lane that is not mined so long after it was last sent is replaced at the same nonce with higher fees.",
    default: 30_000,
  }),
  bumpBps: integer(
    1_250,
    100_000,
  )({
    name: "TX_BUMP_BPS",
    describe: "How much a replacement raises both fees. Nodes refuse less than 10 %, some less than 12.5 %.",
    default: 1_250,
  }),
  maxAttempts: integer(
    1,
    100,
  )({
    name: "TX_MAX_ATTEMPTS",
    describe: "Variants signed for one nonce; afterwards the last one is sent again and again.",
    default: 12,
  }),
  rebroadcastIntervalMs: millis({
    name: "TX_REBROADCAST_INTERVAL_MS",
    describe: "Everything unmined is sent again so often, in case the node forgot it.",
    default: 5_000,
  }),
  orphanedAfterMs: millis({
    name: "TX_ORPHANED_AFTER_MS",
    describe: "Signed bytes that nobody has sent for so long are picked up: their process has died.",
    default: 2_000,
  }),
  cancelAfterDeadlineMs: millis({
    name: "TX_CANCEL_AFTER_DEADLINE_MS",
    describe:
      "An unmined fill is given up, its nonce spent on a no-op, so long after the request's deadline.",
    default: MINUTE_MS,
  }),
  expiryGraceMs: millis({
    name: "EXPIRY_GRACE_MS",
    describe:
      "A request without a deposit is told failed so long after its deadline. Until then a late deposit goes back as a refund that no failure preceded.",
    default: 10 * MINUTE_MS,
  }),
  maxPriceExposureUsd: integer(
    1,
    1_000_000_000,
  )({
    name: "PRICE_EXPOSURE_USD_PER_MINUTE",
    describe:
      "Limit of fills between different assets per minute and asset, gas top-ups and call value included, whole USD; further fills wait for the next minute, and /execute answers 503 to calls that carry value. The first fill of a minute always passes. Limits the cost of a wrong price until it is noticed.",
    default: 250_000,
  }),
  inventoryWaitMs: millis({
    name: "FILL_INVENTORY_WAIT_MS",
    describe:
      "How long a fill waits for inventory, or fails to be planned for the same reason (a node or a price), before the deposit is refunded. The deposit is not refunded while the destination chain may show a payment that the database does not know.",
    default: 5 * MINUTE_MS,
  }),
  burntFillsDailyUsd: matching(
    "USD as a decimal number, e.g. 100",
    /^\d{1,9}(\.\d{1,18})?$/,
  )({
    name: "BURNT_FILLS_DAILY_USD",
    describe:
      "Most gas of fills that reverted in a block which the solver pays itself within 24 hours, because their deposits do not cover it. Above it, fills that swap, make calls, pay native to a contract or top up gas wait, and their deposits are refunded after `FILL_INVENTORY_WAIT_MS`.",
    default: "100",
  }),
  unattributedRefundAfterMs: integer(
    0,
    30 * 86_400_000,
  )({
    name: "UNATTRIBUTED_REFUND_AFTER_MS",
    describe:
      "A final deposit that names no order, or an order that this instance does not know, goes back to its depositor this long after it was seen, within half of `UNREPAID_REFUNDS_DAILY_USD`. 0: only `operator refund` returns it. Use 0 where other solvers take deposits into the same depository: their orders are unknown here.",
    default: 3_600_000,
  }),
  unrepaidRefundsDailyUsd: matching(
    "USD as a decimal number, e.g. 1000",
    /^\d{1,9}(\.\d{1,18})?$/,
  )({
    name: "UNREPAID_REFUNDS_DAILY_USD",
    describe:
      "Maximum cost of refunds within 24 hours that settlement may never repay: deposits in another currency than their order's, by another depositor, for no order, or refunds after the order's refund deadline or shortly before it. A single refund above it is left to the operator (`MANUAL_REFUND_REQUIRED`); one for which the day has no room left waits. `operator funds` lists both, and `operator refund` releases them.",
    default: "1000",
  }),
  fastFillGraceMs: millis({
    name: "FAST_FILL_GRACE_MS",
    describe:
      "An app pays for a fast fill whose deposit has not come so long after the order's deadline. A deposit that comes later still gives back what it is worth by then.",
    default: 60 * MINUTE_MS,
  }),
  maxBurntFastFillUsd: integer(
    1,
    1_000_000_000,
  )({
    name: "FAST_FILL_DAILY_BURNT_USD",
    describe:
      "Once fast fills of one app balance have burnt this much gas in 24 hours by reverting in their blocks, further ones are refused (`dailyBurntUsd`). The app has been charged for that gas.",
    default: 100,
  }),
  nudgeIntervalMs: millis({
    name: "LANE_INTERVAL_MS",
    describe: "How often lanes are looked after.",
    default: 1_000,
  }),
  reconcileIntervalMs: millis({
    name: "RECONCILE_INTERVAL_MS",
    describe: "How often stored state is gone through for what stands too long.",
    default: 3_000,
  }),
  overdueAfterMs: millis({
    name: "OVERDUE_AFTER_MS",
    describe:
      "A fill, refund, execution, claim or sweep that stood so long without a job that waits for it gets another job. One that still does not move gets the next after 5 to 30 seconds.",
    default: 5_000,
  }),
  maxScanBlocks: integer(
    1,
    100_000,
  )({
    name: "SCAN_MAX_BLOCKS",
    describe: "Blocks read in one step while catching up; providers limit the range of a log query.",
    default: 500,
  }),
};

export const settlementSettings = {
  oracleUrls: secret({
    name: "ORACLE_URLS",
    describe:
      "Oracles that attest what the solver paid: `<base URL>|<API key>` joined with `;` (the key may be left out), with https unless they are on localhost or a loopback or private IP address. They ask their peers; another one is asked when one does not help. Unset: nothing is settled, fills go on. Needs `chains.hub.<ENVIRONMENT>.json`.",
    optional: true,
  }),
  oracleSigners: evmAddresses(
    "addresses separated by `;`",
    /^0x[0-9a-fA-F]{40}(;0x[0-9a-fA-F]{40})*;?$/,
  )({
    name: "ORACLE_SIGNERS",
    describe:
      "Signers that count, of those that the hub's OracleMultisig accepts. Unset: all that it accepts.",
    optional: true,
  }),
  oracleTimeoutMs: millis({
    name: "ORACLE_TIMEOUT_MS",
    describe: "Bound of one question to an oracle, its peers included.",
    default: 15_000,
  }),
  settlementIntervalMs: millis({
    name: "SETTLEMENT_INTERVAL_MS",
    describe: "How often settlement looks for something to do.",
    default: 1_000,
  }),
  settlementMaxRetryMs: millis({
    name: "SETTLEMENT_MAX_RETRY_MS",
    describe: "Longest pause before an oracle that did not help is asked again.",
    default: 5 * MINUTE_MS,
  }),
  settlementRejectedRetryMs: millis({
    name: "SETTLEMENT_REJECTED_RETRY_MS",
    describe: "Pause before a payment that the oracles rejected is asked about again.",
    default: 6 * 60 * MINUTE_MS,
  }),
  settlementBatchSize: integer(
    1,
    100,
  )({
    name: "SETTLEMENT_BATCH_SIZE",
    describe: "Most executions that one transaction carries to the hub.",
    default: 20,
  }),
  settlementStuckAfterMs: millis({
    name: "SETTLEMENT_STUCK_AFTER_MS",
    describe: "A transaction to the hub that is not mined after so long is replaced with higher fees.",
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
      "Chain on which app balances are filled, by transfers to the solver, and paid out. Keep it once there are balances. Default: the first enabled chain.",
    optional: true,
  }),
  appBalanceCurrency: text({
    name: "APP_BALANCE_CURRENCY",
    describe:
      "Symbol, `id` or `priceId` of what charges take first and debts are kept in; the chain's other currencies follow by address. Default: `usdc` where the chain has it.",
    optional: true,
  }),
  appBalanceConfirmations: integer(
    1,
    100_000,
  )({
    name: "APP_BALANCE_CONFIRMATIONS",
    describe:
      "Blocks, its own included, before a top-up is credited. Default: those of the chain's strictest tier.",
    optional: true,
  }),
  appBalanceLeastTopUpUsd: matching(
    "USD as a decimal number, e.g. 0.10",
    /^\d{1,9}(\.\d{1,18})?$/,
  )({
    name: "APP_BALANCE_LEAST_TOP_UP_USD",
    describe:
      "What arrives and is worth less credits nobody, and is shown by `operator funds`: each credit takes its time where blocks are read.",
    default: "0.10",
  }),
  appBalanceClaimSeconds: integer(
    10,
    DAY_SECONDS,
  )({
    name: "APP_BALANCE_CLAIM_SECONDS",
    describe: "How long the offer of a claim can be signed.",
    default: 600,
  }),
};

/** What the service ventures on signatures of users: their gas is paid by outputs. */
export const permitSettings = {
  permitDailyUsd: matching(
    "USD as a decimal number, e.g. 100",
    /^\d{1,9}(\.\d{1,18})?$/,
  )({
    name: "PERMIT_DAILY_GAS_USD",
    describe:
      "Gas of the signatures of one day (UTC) that are under way (the most that it may cost) or were submitted in vain; beyond it `POST /execute/permits` answers `SERVICE_UNAVAILABLE`. What an output has paid for does not count.",
    default: "500",
  }),
  permitsPerUser: integer(
    1,
    100_000,
  )({
    name: "PERMIT_MAX_PER_USER",
    describe: "Signatures of one user within an hour that are under way or were submitted in vain.",
    default: 20,
  }),
};

/** What only the operator's `withdraw` needs; the service never reads it. */
export const withdrawSettings = {
  allocatorPrivateKey: privateKey({
    name: "ALLOCATOR_PRIVATE_KEY",
    describe:
      "Signs withdrawals from the depositories, and records them in the hub's Allocator. Only `operator withdraw` reads it: keep it off the machines of the service.",
    optional: true,
  }),
};

/** All of them, in the order of the documentation. */
export const apiSettingGroups: readonly SettingGroup[] = [
  { title: "Where configuration is", settings: locationSettings },
  { title: "Storage", settings: storageSettings },
  { title: "HTTP, logs and process", settings: httpSettings },
  { title: "Callers", settings: accessSettings },
  { title: "Push", settings: pushSettings },
  { title: "Solver", settings: solverSettings },
  { title: "Prices", settings: priceSettings },
  { title: "Tokens", settings: tokenSettings },
  { title: "Swaps", settings: swapSettings },
  { title: "Quotes and fees", settings: quoteSettings },
  { title: "Transactions", settings: engineSettings },
  { title: "App balance", settings: appBalanceSettings },
  { title: "Payments by signature", settings: permitSettings },
  { title: "Settlement", settings: settlementSettings },
  { title: "Withdrawals from the hub", settings: withdrawSettings },
];
