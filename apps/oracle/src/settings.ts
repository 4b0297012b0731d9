import type { SettingGroup } from "@causeway/config";
import { setting, traceSettings } from "@causeway/config";

const { choice, flag, integer, matching, privateKey, secret, text, trustedProxies } = setting;

const millis = (name: string, defaultMs: number, describe: string) =>
  integer({ name, min: 1, max: 600_000, default: defaultMs, describe });

// Each group is one heading of docs/CONFIG.md, which is generated from this file.

/** Which configuration files to read. */
export const locationSettings = {
  environment: matching({
    name: "ENVIRONMENT",
    form: "lowercase words joined by dots",
    pattern: /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*$/,
    describe:
      "Selects the files `chains.<ENVIRONMENT>.json` and `chains.hub.<ENVIRONMENT>.json`, for example `mainnets.prod`. Only `local` accepts publicly known keys.",
  }),
  configsDir: text({
    name: "CONFIGS_DIR",
    describe: "Directory of these files.",
    default: "configs",
  }),
  vaultDir: text({
    name: "VAULT_SECRETS_DIR",
    describe:
      "Directory of secret files. Their `KEY=VALUE` lines override the environment. They are parsed and never run by a shell.",
    default: "/vault/secrets",
  }),
};

/** The key that signs. */
export const signerSettings = {
  signingModule: choice({
    name: "SIGNING_MODULE",
    values: ["raw-private-key", "aws-kms"],
    default: "raw-private-key",
    describe: "Where the signing key is: in this process, or in AWS KMS.",
  }),
  privateKey: privateKey({
    name: "ECDSA_PRIVATE_KEY",
    describe: "Key for `raw-private-key`. Only this oracle may use it.",
    optional: true,
  }),
  kmsKeyId: text({
    name: "AWS_KMS_SIGNER_KEY_ID",
    describe: "Key for `aws-kms`: id, ARN or alias of an asymmetric secp256k1 signing key.",
    optional: true,
  }),
  kmsKeyRegion: text({
    name: "AWS_KMS_SIGNER_KEY_REGION",
    describe: "AWS region of that key. Credentials are resolved as in the AWS CLI.",
    optional: true,
  }),
};

export const peerSettings = {
  peers: secret({
    name: "PEERS",
    describe:
      "Other oracles, `<base URL>|<key>` joined with `;`. The URL must use https, except at private addresses: loopback and private IP addresses, names without a dot, and names that end in `.internal` or `.local`. The key is the one that the peer issued to you, or `pass-through` to forward the caller's key.",
    optional: true,
  }),
  peerTimeoutMs: millis(
    "PEER_REQUEST_TIMEOUT_MS",
    10_000,
    "Timeout of one call to a peer, including its response body.",
  ),
  signers: text({
    name: "ORACLE_SIGNERS",
    describe:
      "Addresses whose signatures count, joined with `;`. They must include this oracle's own address, and are never sent to peers.",
    optional: true,
  }),
  threshold: text({
    name: "ORACLE_SIGNERS_THRESHOLD",
    describe:
      "Number of accepted signatures (at least 1) after which the oracle responds without waiting for more. It also responds with success if it gets fewer, so callers must count them. Default: 1.",
    optional: true,
  }),
  shadow: flag({
    name: "SHADOW",
    describe:
      "Marks every response `shadow: true`, for trying a new oracle. `GET /shadow/v1/report` shows how often it agrees with its peers.",
    default: false,
  }),
};

export const httpSettings = {
  httpHost: text({
    name: "HTTP_HOST",
    describe: "Address to listen on; the container image sets `0.0.0.0`.",
    default: "127.0.0.1",
  }),
  httpPort: integer({
    name: "HTTP_PORT",
    min: 0,
    max: 65_535,
    describe: "Port to listen on. Unset: the value of `PORT`, otherwise the default. 0 picks a free port.",
    default: 3000,
  }),
  apiKeys: secret({
    name: "API_KEYS",
    describe:
      "Keys of callers, `<key>:<label>` joined with `;`. Each key has at least 32 characters (`openssl rand -hex 32`). Unset: callers need no key, which is safe only in a closed network.",
    optional: true,
  }),
  maxCallsPerKey: integer({
    name: "MAX_CALLS_PER_KEY",
    min: 1,
    max: 10_000,
    describe:
      "Concurrent attestations per key, or per IP address without `API_KEYS`. Further calls return 429 `rate_limited` with `Retry-After`.",
    default: 64,
  }),
  maxCalls: integer({
    name: "MAX_CALLS",
    min: 1,
    max: 100_000,
    describe:
      "Concurrent attestations of all callers. Further calls return 503 `overloaded` with `Retry-After`.",
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
    describe: "Allows `GET /metrics` without a key.",
    default: false,
  }),
  requestDeadlineMs: millis(
    "REQUEST_DEADLINE_MS",
    8_000,
    "Time limit for this oracle's own work on a request. Above it, the request fails with 503. Keep it below the `PEER_REQUEST_TIMEOUT_MS` of your peers.",
  ),
  responseCheck: flag({
    name: "RESPONSE_CHECK",
    describe:
      "Whether to validate every response against its schema, for debugging. A mismatch is logged and returned as 500.",
    default: false,
  }),
  logLevel: choice({
    name: "LOG_LEVEL",
    values: ["fatal", "error", "warn", "info", "debug", "trace", "silent"],
    default: "info",
    describe: "Minimum level of log lines.",
  }),
  logFormat: choice({
    name: "LOG_FORMAT",
    values: ["json", "pretty"],
    default: "json",
    describe: "`json`: one JSON object per line. `pretty`: readable lines for a terminal.",
  }),
  shutdownTimeoutMs: millis("SHUTDOWN_TIMEOUT_MS", 15_000, "How long a shutdown waits for running requests."),
};

/** All setting groups, in the order of docs/CONFIG.md. */
export const oracleSettingGroups: readonly SettingGroup[] = [
  { title: "Configuration files of an oracle", settings: locationSettings },
  { title: "Signing key", settings: signerSettings },
  { title: "Peers and quorum", settings: peerSettings },
  { title: "HTTP and logs of an oracle", settings: httpSettings },
  { title: "Traces of an oracle", settings: traceSettings },
];
