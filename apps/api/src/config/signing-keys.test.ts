import { ConfigError } from "@causeway/config";
import { resolve } from "node:path";
import { inspect } from "node:util";
import { privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { readApiConfig, readOperatorConfig, readWorkerConfig } from "./config.ts";
import { readFormerSigners, readKeySource } from "./key-source.ts";
import { readSignerConfig } from "./signer-config.ts";

const KEY = `0x${"5c".repeat(32)}` as const;
const SOLVER_ADDRESS = privateKeyToAddress(KEY);
const ORDER_SIGNER_URL = "unix:///run/causeway/signer.sock";
const TOKEN = "t".repeat(32);

/** All required settings except the solver's. */
const withoutSolver = {
  ENVIRONMENT: "mainnets.prod",
  CONFIGS_DIR: resolve(import.meta.dirname, "../../../../configs"),
  VAULT_SECRETS_DIR: "/nonexistent",
  DATABASE_URL: "postgres://127.0.0.1/causeway",
  REDIS_URL: "redis://127.0.0.1",
  PRICE_SOURCE: "coingecko",
  BASE_RPC_URL: "https://node.test",
  BASE_DEPOSITORY_ADDRESS: `0x${"11".repeat(20)}`,
  BASE_ROUTER_ADDRESS: `0x${"12".repeat(20)}`,
  BASE_APPROVAL_PROXY_ADDRESS: `0x${"13".repeat(20)}`,
  BASE_RECEIVER_ADDRESS: `0x${"14".repeat(20)}`,
};
type Env = Record<string, string>;

function problemsOf(read: (env: Env) => unknown, env: Env): readonly string[] {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("an API without any key has orders signed by the signer process", () => {
  const config = readApiConfig({ ...withoutSolver, SOLVER_ADDRESS, ORDER_SIGNER_URL });
  expect(config.accounts.solver).toBe(SOLVER_ADDRESS.toLowerCase());
  expect(config.orderSigning).toEqual({
    kind: "process",
    endpoint: { kind: "socket", path: "/run/causeway/signer.sock" },
    token: undefined,
  });
});

test.each([
  "SOLVER_PRIVATE_KEY",
  "SOLVER_FORMER_KEYS",
  "EXECUTOR_PRIVATE_KEY",
  "DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY",
  "SOLVER_SOLANA_KEY",
  "SOLVER_BITCOIN_KEY",
  "DEPOSIT_ADDRESS_BITCOIN_XPRV",
])("outside local, an API with %s does not start unless that is allowed", (name) => {
  const key = name === "SOLVER_PRIVATE_KEY" ? KEY : `0x${"5d".repeat(32)}`;
  const env = { ...withoutSolver, SOLVER_ADDRESS, ORDER_SIGNER_URL, [name]: key };
  const [problem, ...otherProblems] = problemsOf(readApiConfig, env);
  expect(problem).toMatch(`${name} must not be set in the API`);
  expect(problem).toContain("ALLOW_SPENDING_KEY_IN_API=true");
  expect(problem).not.toContain(key);
  expect(otherProblems).toEqual([]);
  expect(problemsOf(readApiConfig, { ...env, ALLOW_SPENDING_KEY_IN_API: "true" })).toEqual([]);
});

const REMOTE_SOURCE = "web3signer:https://user:hunter2@vault.test";

test.each([
  ["EXECUTOR_SIGNER", REMOTE_SOURCE, { EXECUTOR_ADDRESS: `0x${"21".repeat(20)}` }],
  [
    "DEPOSIT_ADDRESS_OPERATOR_SIGNER",
    REMOTE_SOURCE,
    { DEPOSIT_ADDRESS_OPERATOR_ADDRESS: `0x${"22".repeat(20)}` },
  ],
  ["SOLVER_FORMER_SIGNERS", `0x${"23".repeat(20)}=${REMOTE_SOURCE}`, {}],
])(
  "outside local, an API with the key source %s does not start unless that is allowed",
  (name, text, addressSettings) => {
    const env = { ...withoutSolver, SOLVER_ADDRESS, ORDER_SIGNER_URL, ...addressSettings, [name]: text };
    const [problem, ...otherProblems] = problemsOf(readApiConfig, env);
    expect(problem).toMatch(`${name} must not be set in the API`);
    expect(problem).not.toContain("hunter2");
    expect(otherProblems).toEqual([]);
    expect(problemsOf(readApiConfig, { ...env, ALLOW_SPENDING_KEY_IN_API: "true" })).toEqual([]);
  },
);

test("in the local environment the API may sign orders with its own key", () => {
  const local = { ENVIRONMENT: "local", PRICE_SOURCE: "fixed", LOCAL_A_RPC_URL: "http://127.0.0.1:1" };
  const config = readApiConfig({ ...withoutSolver, ...local, SOLVER_PRIVATE_KEY: KEY });
  expect(config.orderSigning).toMatchObject({ kind: "key", key: { source: { kind: "raw" } } });
});

test.each([
  ["http://127.0.0.1:3002", undefined, "ORDER_SIGNER_TOKEN is required"],
  ["http://127.0.0.1:3002", "short", "ORDER_SIGNER_TOKEN must be at least 32"],
  ["http://signer:3002", TOKEN, "the signer serves its own host only"],
  ["http://127.0.0.1", TOKEN, "must have a port"],
  ["https://127.0.0.1:3002", TOKEN, "must be a URL (unix://, http://)"],
  ["http://127.0.0.1:3002", TOKEN, undefined],
  ["http://[::1]:3002", TOKEN, undefined],
])("checks ORDER_SIGNER_URL %s with ORDER_SIGNER_TOKEN %s: %s", (url, token, problem) => {
  const env = {
    ...withoutSolver,
    SOLVER_ADDRESS,
    ORDER_SIGNER_URL: url,
    ...(token && { ORDER_SIGNER_TOKEN: token }),
  };
  expect(problemsOf(readApiConfig, env).join()).toContain(problem ?? "");
  if (problem === undefined) expect(problemsOf(readApiConfig, env)).toEqual([]);
});

test("names the missing key of an API or a worker", () => {
  expect(problemsOf(readApiConfig, { ...withoutSolver, ORDER_SIGNER_URL })).toEqual([
    "SOLVER_ADDRESS is required with ORDER_SIGNER_URL",
  ]);
  expect(problemsOf(readApiConfig, { ...withoutSolver, SOLVER_ADDRESS }).join()).toContain(
    "ORDER_SIGNER_URL",
  );
  expect(
    problemsOf(readWorkerConfig, { ...withoutSolver, SOLVER_ADDRESS, ORDER_SIGNER_URL }).join(),
  ).toContain("SOLVER_PRIVATE_KEY is required");
  expect(problemsOf(readSignerConfig, { ...withoutSolver, SOLVER_PRIVATE_KEY: KEY }).join()).toContain(
    "ORDER_SIGNER_URL is required",
  );
  // A command that signs nothing runs with the API's environment.
  expect(
    readOperatorConfig({ ...withoutSolver, SOLVER_ADDRESS, ORDER_SIGNER_URL }).solverKey,
  ).toBeUndefined();
});

const keyVersion = "projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/3";

test("all keys of a worker may be outside the process", () => {
  const [executor, operator, former] = ["21", "22", "23"].map((byte) => `0x${byte.repeat(20)}`);
  const config = readWorkerConfig({
    ...withoutSolver,
    SOLVER_ADDRESS,
    SOLVER_SIGNER: "aws-kms:eu-west-1/alias/solver",
    EXECUTOR_ADDRESS: executor ?? "",
    EXECUTOR_SIGNER: `gcp-kms:${keyVersion}`,
    DEPOSIT_ADDRESS_OPERATOR_ADDRESS: operator ?? "",
    DEPOSIT_ADDRESS_OPERATOR_SIGNER: "web3signer:https://user:hunter2@vault.test/path",
    SOLVER_FORMER_KEYS: KEY.replaceAll("5c", "5d"),
    SOLVER_FORMER_SIGNERS: `${former}=eth-rpc:https://vault.test`,
  });
  expect(config.keys).toMatchObject({
    solver: { source: { kind: "aws-kms", region: "eu-west-1", keyId: "alias/solver" } },
    executor: { address: executor, source: { kind: "gcp-kms", name: keyVersion } },
    depositAddressOperator: { address: operator, source: { kind: "web3signer" } },
    formerSolvers: [{ source: { kind: "raw" } }, { address: former, source: { kind: "eth-rpc" } }],
  });
  expect(config.accounts.formerSolvers).toContain(former);
  expect(inspect(config, { depth: 9 })).not.toContain("hunter2");
});

test("requires exactly one source for a key, and an address for a source", () => {
  const SOLVER_SIGNER = "aws-kms:eu-west-1/alias/solver";
  expect(problemsOf(readWorkerConfig, { ...withoutSolver, SOLVER_SIGNER })).toEqual([
    "SOLVER_ADDRESS is required with SOLVER_SIGNER: the address of its key",
  ]);
  const withKeyAndSigner = { ...withoutSolver, SOLVER_SIGNER, SOLVER_ADDRESS, SOLVER_PRIVATE_KEY: KEY };
  expect(problemsOf(readWorkerConfig, withKeyAndSigner)).toEqual([
    "SOLVER_PRIVATE_KEY and SOLVER_SIGNER are both set; keep one",
  ]);
  const withSigner = { ...withoutSolver, SOLVER_SIGNER, SOLVER_ADDRESS };
  expect(
    problemsOf(readWorkerConfig, {
      ...withSigner,
      EXECUTOR_SIGNER: SOLVER_SIGNER,
      EXECUTOR_ADDRESS: SOLVER_ADDRESS,
    }),
  ).toEqual(["EXECUTOR_ADDRESS must be a different account than SOLVER_ADDRESS"]);
  const withWrongAddress = {
    ...withoutSolver,
    SOLVER_PRIVATE_KEY: KEY,
    SOLVER_ADDRESS: `0x${"99".repeat(20)}`,
  };
  expect(problemsOf(readWorkerConfig, withWrongAddress).join()).toContain(
    "the address of SOLVER_PRIVATE_KEY",
  );
});

test.each([
  ["aws-kms:eu-west-1/alias/solver", "aws-kms"],
  ["aws-kms:us-gov-west-1/arn:aws:kms:us-gov-west-1:1:key/2", "aws-kms"],
  [`gcp-kms:${keyVersion}`, "gcp-kms"],
  ["web3signer:http://127.0.0.1:9000", "web3signer"],
  ["eth-rpc:https://user:pass@vault.test/rpc", "eth-rpc"],
])("%s names a key", (text, kind) => {
  expect(readKeySource("SOLVER_SIGNER", text)).toMatchObject({ kind });
});

test.each([
  "",
  "alias/solver",
  "aws-kms:alias/solver",
  "aws-kms:eu-west-1",
  `gcp-kms:${keyVersion.replace("/cryptoKeyVersions/3", "")}`,
  "web3signer:vault.test",
  "web3signer:ftp://vault.test",
  "eth-rpc:https://vault.test?key=secret",
  "eth-rpc:http://user:secret@vault.test",
  KEY,
])("%s is refused without being quoted", (text) => {
  const problems = problemsOf(() => readKeySource("SOLVER_SIGNER", text), {}).join();
  expect(problems).toContain("SOLVER_SIGNER must");
  expect(problems).not.toContain("secret@");
  expect(problems).not.toContain("=secret");
  expect(problems).not.toContain(KEY);
});

test("former signers are pairs of an address and a source", () => {
  expect(readFormerSigners("")).toEqual([]);
  expect(problemsOf(() => readFormerSigners("aws-kms:eu-west-1/a"), {}).join()).toContain(
    "SOLVER_FORMER_SIGNERS entry 1 must be <address>=<source>",
  );
});

const rules = JSON.stringify({
  key: "executor",
  transactionUsd: "10",
  dayUsd: "100",
  chains: [
    {
      chainId: 8453,
      maxFeePerGasGwei: "5",
      currencies: [{ address: `0x${"00".repeat(20)}`, decimals: 18, maxPriceUsd: "6000" }],
    },
  ],
});

test("a signer process with SIGNING_RULES has the key that they name, and a record of what it signed", () => {
  const env = {
    ...withoutSolver,
    ORDER_SIGNER_URL,
    SIGNING_RULES: rules,
    SIGNING_RECORD: "/var/lib/causeway/signed",
  };
  const config = readSignerConfig({ ...env, EXECUTOR_PRIVATE_KEY: KEY });
  expect(config.key.address).toBe(SOLVER_ADDRESS.toLowerCase());
  expect(config.signing).toMatchObject({
    recordPath: "/var/lib/causeway/signed",
    rules: { key: "executor" },
  });
  expect(problemsOf(readSignerConfig, { ...env, SOLVER_PRIVATE_KEY: KEY }).join()).toContain(
    "is required when `key` in SIGNING_RULES is executor",
  );
  const { SIGNING_RECORD: _, ...withoutRecord } = { ...env, EXECUTOR_PRIVATE_KEY: KEY };
  expect(problemsOf(readSignerConfig, withoutRecord).join()).toContain(
    "SIGNING_RECORD is required with SIGNING_RULES",
  );
  expect(
    readSignerConfig({ ...withoutSolver, ORDER_SIGNER_URL, SOLVER_PRIVATE_KEY: KEY }).signing,
  ).toBeUndefined();
});

test.each([
  ["signer:unix:///run/causeway/payments.sock", true],
  [`signer:http://:${TOKEN}@127.0.0.1:3003`, true],
  ["signer:http://127.0.0.1:3003", false],
  [`signer:http://:${TOKEN}@signer:3003`, false],
  [`signer:http://:${TOKEN}@127.0.0.1`, false],
  ["signer:unix://run/payments.sock", false],
  [`signer:https://:${TOKEN}@127.0.0.1:3003`, false],
])("accepts %s as the URL of a signer process: %s", (text, isValid) => {
  const problems = problemsOf(() => readKeySource("SOLVER_SIGNER", text), {});
  expect(problems).toEqual(isValid ? [] : [expect.stringContaining("SOLVER_SIGNER must be")]);
  expect(problems.join()).not.toContain(TOKEN);
  if (isValid) expect(readKeySource("SOLVER_SIGNER", text).kind).toBe("signer");
});
