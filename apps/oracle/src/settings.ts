import type { SettingGroup } from "@causeway/config";
import { setting } from "@causeway/config";

const { choice, flag, integer, matching, privateKey, secret, text, trustedProxies } = setting;

const millis = integer(1, 600_000);

// Each group is one heading of docs/CONFIG.md, which is generated from this file.

/** Which configuration files to read. */
export const locationSettings = {
  environment: matching(
    "lowercase words joined by dots",
    /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*$/,
  )({
    name: "ENVIRONMENT",
    describe:
      "Selects `chains.<ENVIRONMENT>.json` and `chains.hub.<ENVIRONMENT>.json`, for example `mainnets.prod`. Only `local` accepts publicly known keys.",
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

/** The key that signs. */
export const signerSettings = {
  signingModule: choice(
    "raw-private-key",
    "aws-kms",
  )({
    name: "SIGNING_MODULE",
    describe: "Location of the signing key: in this process, or in AWS KMS.",
    default: "raw-private-key",
  }),
  privateKey: privateKey({
    name: "ECDSA_PRIVATE_KEY",
    describe: "Key for `raw-private-key`. Must be used by this oracle only.",
    optional: true,
  }),
  kmsKeyId: text({
    name: "AWS_KMS_SIGNER_KEY_ID",
    describe: "Key for `aws-kms`: id, ARN or alias of an asymmetric secp256k1 signing key.",
    optional: true,
  }),
  kmsKeyRegion: text({
    name: "AWS_KMS_SIGNER_KEY_REGION",
    describe: "AWS region of that key. Credentials are resolved like in AWS's own tools.",
    optional: true,
  }),
};

export const peerSettings = {
  peers: secret({
    name: "PEERS",
    describe:
      "Other oracles, `<base URL>|<key>` joined with `;`. `https` only, except at private addresses: loopback and private IP addresses, names without a dot, and names that end in `.internal` or `.local`. The key is the one the peer issued to you, or `pass-through` to forward the caller's key.",
    optional: true,
  }),
  peerTimeoutMs: millis({
    name: "PEER_REQUEST_TIMEOUT_MS",
    describe: "Timeout of one call to a peer, including the body.",
    default: 10_000,
  }),
  signers: text({
    name: "ORACLE_SIGNERS",
    describe:
      "Addresses whose signatures count, joined with `;`; must include this oracle's own. Never sent to peers.",
    optional: true,
  }),
  threshold: text({
    name: "ORACLE_SIGNERS_THRESHOLD",
    describe:
      "Number of counted signatures, at least 1, at which the oracle answers without waiting for more. Fewer signatures are a success too: callers must count them. Default: 1.",
    optional: true,
  }),
  shadow: flag({
    name: "SHADOW",
    describe:
      "Marks every response `shadow: true` while you try a new oracle. `GET /shadow/v1/report` shows its agreement with peers.",
    default: false,
  }),
};

export const httpSettings = {
  httpHost: text({
    name: "HTTP_HOST",
    describe: "Address to listen on; the container image sets `0.0.0.0`.",
    default: "127.0.0.1",
  }),
  httpPort: integer(
    0,
    65_535,
  )({
    name: "HTTP_PORT",
    describe: "Port to listen on. Unset: `PORT`, then the default. 0 picks a free port.",
    default: 3000,
  }),
  apiKeys: secret({
    name: "API_KEYS",
    describe:
      "Keys for callers, `<key>:<label>` joined with `;`, each key at least 32 characters (`openssl rand -hex 32`). Unset: no key is required; only for closed networks.",
    optional: true,
  }),
  maxCallsPerKey: integer(
    1,
    10_000,
  )({
    name: "MAX_CALLS_PER_KEY",
    describe:
      "Concurrent attestations per key (per IP address without `API_KEYS`). Above it, calls return 429 `rate_limited` with `Retry-After`.",
    default: 64,
  }),
  maxCalls: integer(
    1,
    100_000,
  )({
    name: "MAX_CALLS",
    describe:
      "Concurrent attestations of all callers. Above it, calls return 503 `overloaded` with `Retry-After`.",
    default: 512,
  }),
  trustProxy: trustedProxies({
    name: "TRUST_PROXY",
    describe:
      "Proxies whose `X-Forwarded-For` entry is trusted: the number of proxies in front of the oracle, or their addresses and ranges. Wrong keys are limited to 30 per minute and IP address.",
    default: false,
  }),
  metricsOpen: flag({
    name: "METRICS_OPEN",
    describe: "Serves `GET /metrics` without a key.",
    default: false,
  }),
  requestDeadlineMs: millis({
    name: "REQUEST_DEADLINE_MS",
    describe:
      "Time limit for this oracle's own work on a request; above it, the request fails with 503. Keep it below the peers' `PEER_REQUEST_TIMEOUT_MS`.",
    default: 8_000,
  }),
  responseCheck: flag({
    name: "RESPONSE_CHECK",
    describe: "Checks every response against its schema; for tests.",
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
    describe: "How long a shutdown waits for running requests.",
    default: 15_000,
  }),
};

/** All of them, in the order of the documentation. */
export const oracleSettingGroups: readonly SettingGroup[] = [
  { title: "Configuration files of an oracle", settings: locationSettings },
  { title: "Signing key", settings: signerSettings },
  { title: "Peers and quorum", settings: peerSettings },
  { title: "HTTP and logs of an oracle", settings: httpSettings },
];
