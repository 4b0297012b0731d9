import type { SettingGroup } from "@causeway/config";
import { setting } from "@causeway/config";

const { choice, flag, integer, list, matching, privateKey, secret, secretUrl, text, url } = setting;

const MINUTE_MS = 60_000;
const DAY_SECONDS = 86_400;
const bps = integer(0, 10_000);
const millis = integer(1, 86_400_000);

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
  bodyLimitBytes: integer(
    1024,
    16_777_216,
  )({ name: "BODY_LIMIT_BYTES", describe: "Larger request bodies are refused.", default: 262_144 }),
  corsOrigins: list({
    name: "CORS_ORIGINS",
    describe: "Origins that browsers may call from; `*` is any.",
    default: ["*"],
  }),
  trustProxy: matching(
    "`true`, `false` or addresses and ranges separated by commas",
    /^(true|false|[0-9a-fA-F.:/,]+)$/,
  )({
    name: "TRUST_PROXY",
    describe:
      "Proxies whose `X-Forwarded-For` is believed: all, none, or those of these addresses and ranges.",
    default: "false",
  }),
  responseCheck: flag({
    name: "RESPONSE_CHECK",
    describe:
      "Checks every answer against its schema; a mismatch is answered 500 and logged. Costs about half of the request rate on quotes.",
    default: false,
  }),
  metrics: flag({ name: "METRICS", describe: "Serves `GET /metrics` for Prometheus.", default: true }),
  logLevel: choice(
    "fatal",
    "error",
    "warn",
    "info",
    "debug",
    "trace",
    "silent",
  )({ name: "LOG_LEVEL", describe: "Lines below this level are not written.", default: "info" }),
  shutdownTimeoutMs: millis({
    name: "SHUTDOWN_TIMEOUT_MS",
    describe:
      "How long a stop waits for requests and jobs under way. Keep it below the grace period of the platform.",
    default: 25_000,
  }),
};

export const solverSettings = {
  solverPrivateKey: privateKey({
    name: "SOLVER_PRIVATE_KEY",
    describe:
      "Signs fills, refunds and orders, on every chain. Keys of the local system are refused outside `local`.",
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
    describe: "A price older than this is refreshed in the background when it is used.",
    default: 10_000,
  }),
  priceMaxAgeMs: millis({
    name: "PRICE_MAX_AGE_MS",
    describe: "A price older than this is not used: quotes answer 503 `PRICE_FETCH_FAILED`.",
    default: 5 * MINUTE_MS,
  }),
  priceTimeoutMs: millis({
    name: "PRICE_TIMEOUT_MS",
    describe: "Bound of one request to the source.",
    default: 3_000,
  }),
};

export const quoteSettings = {
  bridgeFeeBps: bps({
    name: "FEE_BRIDGE_BPS",
    describe: "Service fee for the same asset on two chains.",
    default: 0,
  }),
  stableFeeBps: bps({
    name: "FEE_STABLE_BPS",
    describe: "Service fee between two stable assets.",
    default: 1,
  }),
  majorFeeBps: bps({
    name: "FEE_MAJOR_BPS",
    describe: "Service fee when the dearer class of the pair is major.",
    default: 6,
  }),
  minorFeeBps: bps({
    name: "FEE_MINOR_BPS",
    describe: "Service fee when the dearer class of the pair is minor.",
    default: 15,
  }),
  bridgeSlippageBps: bps({
    name: "SLIPPAGE_BRIDGE_BPS",
    describe: "Automatic slippage for the same asset: room for gas to rise before the fill.",
    default: 30,
  }),
  stableSlippageBps: bps({
    name: "SLIPPAGE_STABLE_BPS",
    describe: "Automatic slippage between two stable assets.",
    default: 30,
  }),
  majorSlippageBps: bps({
    name: "SLIPPAGE_MAJOR_BPS",
    describe: "Automatic slippage when the dearer class of the pair is major.",
    default: 100,
  }),
  minorSlippageBps: bps({
    name: "SLIPPAGE_MINOR_BPS",
    describe: "Automatic slippage when the dearer class of the pair is minor.",
    default: 200,
  }),
  firmSeconds: integer(
    0,
    3600,
  )({
    name: "QUOTE_FIRM_SECONDS",
    describe: "For so long after the quote the quoted output is kept although prices move.",
    default: 30,
  }),
  honourBps: bps({
    name: "QUOTE_HONOUR_BPS",
    describe:
      "Largest loss, of the input's value, that the solver accepts to keep a promise. A fill that would lose more is refunded.",
    default: 100,
  }),
  defaultDeadlineSeconds: integer(
    60,
    30 * DAY_SECONDS,
  )({
    name: "QUOTE_DEADLINE_SECONDS",
    describe: "Deadline of an order when the request names no `ttl`.",
    default: 7 * DAY_SECONDS,
  }),
  maxTtlSeconds: integer(
    60,
    30 * DAY_SECONDS,
  )({
    name: "QUOTE_MAX_TTL_SECONDS",
    describe: "Longest `ttl` a request may ask for.",
    default: 7 * DAY_SECONDS,
  }),
};

export const engineSettings = {
  stuckAfterMs: millis({
    name: "TX_STUCK_AFTER_MS",
    describe: "A transaction that is not mined by then is replaced at the same nonce with a higher fee.",
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
  rebroadcastIntervalMs: millis({
    name: "TX_REBROADCAST_INTERVAL_MS",
    describe: "The same signed bytes are sent again at this interval until they are mined.",
    default: 5_000,
  }),
  maxAttempts: integer(
    1,
    100,
  )({
    name: "TX_MAX_ATTEMPTS",
    describe:
      "Variants signed for one nonce; afterwards only the last one is sent again, and the operator is warned.",
    default: 12,
  }),
  reconcileIntervalMs: millis({
    name: "RECONCILE_INTERVAL_MS",
    describe:
      "How often stored state is compared with the chains, and requests that stand too long are moved on.",
    default: 15_000,
  }),
};

/** All of them, in the order of the documentation. */
export const apiSettingGroups: readonly SettingGroup[] = [
  { title: "Where configuration is", settings: locationSettings },
  { title: "Storage", settings: storageSettings },
  { title: "HTTP, logs and process", settings: httpSettings },
  { title: "Solver", settings: solverSettings },
  { title: "Prices", settings: priceSettings },
  { title: "Quotes and fees", settings: quoteSettings },
  { title: "Transactions", settings: engineSettings },
];
