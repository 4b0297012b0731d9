import type { SettingGroup } from "@causeway/config";
import { setting } from "@causeway/config";

const { choice, flag, integer, matching, privateKey, secret, text, trustedProxies } = setting;

const millis = integer(1, 600_000);

// Each group is one heading of docs/CONFIG.md, which is generated from this file.

/** Which configuration files to read. */
export const locationSettings = {
  environment: matching(
    "lower-case words joined by dots",
    /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*$/,
  )({
    name: "ENVIRONMENT",
    describe:
      "Chooses `chains.<ENVIRONMENT>.json` and `chains.hub.<ENVIRONMENT>.json`, e.g. `mainnets.prod`. Only `local` accepts publicly known keys.",
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

/** The key that signs. */
export const signerSettings = {
  signingModule: choice(
    "raw-private-key",
    "aws-kms",
  )({
    name: "SIGNING_MODULE",
    describe: "Where the signing key is: in this process, or in AWS KMS.",
    default: "raw-private-key",
  }),
  privateKey: privateKey({
    name: "ECDSA_PRIVATE_KEY",
    describe: "Key of `raw-private-key`. Must belong to this oracle alone.",
    optional: true,
  }),
  kmsKeyId: text({
    name: "AWS_KMS_SIGNER_KEY_ID",
    describe: "Key of `aws-kms`: id, ARN or alias of an asymmetric secp256k1 key for signing.",
    optional: true,
  }),
  kmsKeyRegion: text({
    name: "AWS_KMS_SIGNER_KEY_REGION",
    describe: "Region of that key. Credentials are found as AWS's own tools find them.",
    optional: true,
  }),
};

export const peerSettings = {
  peers: secret({
    name: "PEERS",
    describe:
      "Other oracles, `<base URL>|<key>` joined with `;`. `https` only, except at private addresses: loopback and private IP addresses, names without a dot, and names that end in `.internal` or `.local`. The key is the one that this peer gave you, or `pass-through`: the caller's own.",
    optional: true,
  }),
  peerTimeoutMs: millis({
    name: "PEER_REQUEST_TIMEOUT_MS",
    describe: "Bound of one call to a peer, its body included.",
    default: 10_000,
  }),
  signers: text({
    name: "ORACLE_SIGNERS",
    describe:
      "Addresses whose signatures count, joined with `;`; must hold this oracle's own. Never sent to peers.",
    optional: true,
  }),
  threshold: text({
    name: "ORACLE_SIGNERS_THRESHOLD",
    describe:
      "Integer of at least 1: with so many counted signatures an answer is given at once. Callers must count themselves: fewer are a success too. Default: 1.",
    optional: true,
  }),
  shadow: flag({
    name: "SHADOW",
    describe:
      "Marks every answer `shadow: true` while a new oracle is tried; agreement with peers is at `GET /shadow/v1/report`.",
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
    describe: "Port to listen on; absent: `PORT`, then the default. 0 lets the system choose.",
    default: 3000,
  }),
  apiKeys: secret({
    name: "API_KEYS",
    describe:
      "Keys that callers need, `<key>:<label>` joined with `;`, each key at least 32 characters (`openssl rand -hex 32`). None: everybody may ask, which is for closed networks only.",
    optional: true,
  }),
  maxCallsPerKey: integer(
    1,
    10_000,
  )({
    name: "MAX_CALLS_PER_KEY",
    describe:
      "Attestations of one key (of one address, without `API_KEYS`) that may run at once; more are answered 429 `rate_limited` with `Retry-After`.",
    default: 64,
  }),
  maxCalls: integer(
    1,
    100_000,
  )({
    name: "MAX_CALLS",
    describe:
      "Attestations of all callers that may run at once; more are answered 503 `overloaded` with `Retry-After`.",
    default: 512,
  }),
  trustProxy: trustedProxies({
    name: "TRUST_PROXY",
    describe:
      "Proxies whose `X-Forwarded-For` entry is trusted: how many stand in front of the oracle, or their addresses and ranges. Wrong keys are limited per address: 30 a minute.",
    default: false,
  }),
  metricsOpen: flag({
    name: "METRICS_OPEN",
    describe: "`GET /metrics` needs no key.",
    default: false,
  }),
  requestDeadlineMs: millis({
    name: "REQUEST_DEADLINE_MS",
    describe:
      "What this oracle itself does for one request must end by then, else it is answered 503. Keep it below the peers' `PEER_REQUEST_TIMEOUT_MS`.",
    default: 8_000,
  }),
  responseCheck: flag({
    name: "RESPONSE_CHECK",
    describe: "Checks every answer against its schema; for tests.",
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
    describe: "How long a stop waits for requests under way.",
    default: 15_000,
  }),
};

/** All of them, in the order of the documentation. */
export const oracleSettingGroups: readonly SettingGroup[] = [
  { title: "Where an oracle's configuration is", settings: locationSettings },
  { title: "Signing key", settings: signerSettings },
  { title: "Peers and quorum", settings: peerSettings },
  { title: "HTTP and logs of an oracle", settings: httpSettings },
];
