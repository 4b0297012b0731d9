import { localPrivateKey } from "@causeway/config";
import type { Address } from "@causeway/domain";
import { resolve } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readApiConfig } from "../../config/config.ts";
import { openWithdrawals } from "../withdrawals.ts";
import { runWithdraw, type OpenWithdrawals } from "./withdraw-command.ts";
import { recipientOf } from "../../settlement/withdrawal-recipient.ts";

const env = {
  ENVIRONMENT: "local",
  CONFIGS_DIR: resolve(import.meta.dirname, "../../../../../configs"),
  VAULT_SECRETS_DIR: "/nonexistent",
  DATABASE_URL: "postgres://user:hunter2@127.0.0.1/causeway",
  REDIS_URL: "redis://127.0.0.1",
  SOLVER_PRIVATE_KEY: localPrivateKey("solver", 0),
  ALLOCATOR_PRIVATE_KEY: localPrivateKey("allocator", 0),
  PRICE_SOURCE: "fixed",
  LOCAL_A_RPC_URL: "http://127.0.0.1:1",
  LOCAL_B_RPC_URL: "http://127.0.0.1:2",
  ORACLE_URLS: "http://127.0.0.1:3100|hunter2",
  HUB_RPC_URL: "http://127.0.0.1:3",
  HUB_ALLOCATOR_ADDRESS: `0x${"24".repeat(20)}`,
  HUB_CHAIN_ID: "72100339",
  HUB_ADDRESS: `0x${"21".repeat(20)}`,
  HUB_ORACLE_ADDRESS: `0x${"22".repeat(20)}`,
  HUB_ORACLE_MULTISIG_ADDRESS: `0x${"23".repeat(20)}`,
};
const recipient = `0x${"d1".repeat(20)}`;
const args = ["--chain", "local-a", "--currency", "usdc", "--amount", "2.5", "--recipient", recipient];

/** Fails where connections would be opened, so that only the arguments are checked. */
const throwOnOpen: OpenWithdrawals = () => {
  throw new Error("opened");
};

let stderr = "";
let stdout = "";
beforeEach(() => {
  [stderr, stdout] = ["", ""];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdout += String(text);
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

test("a complete request opens the connections", async () => {
  expect(await runWithdraw(args, env, throwOnOpen)).toBe(1);
  expect(stderr).toBe("opened\n");
});

test("an allocator key that is also the solver's is refused", async () => {
  const shared = { ...env, ALLOCATOR_PRIVATE_KEY: env.SOLVER_PRIVATE_KEY };
  expect(await runWithdraw(args, shared, throwOnOpen)).toBe(1);
  expect(stderr).toContain("ALLOCATOR_PRIVATE_KEY must not be the key of the solver");
});

test.for([
  ["missing options", [], "--chain, --currency, --amount and --recipient are required"],
  ["an unknown option", [...args, "--force"], "--force"],
  [
    "an unknown chain",
    [...args, "--chain", "nowhere"],
    "--chain: chain nowhere is not configured or not enabled",
  ],
  ["an unknown currency", [...args, "--currency", "doge"], "--currency doge is not configured on local-a"],
  ["too many decimals", [...args, "--amount", "1.1234567"], "at most 6 decimals"],
  ["a zero amount", [...args, "--amount", "0"], "--amount must be"],
  ["a negative amount", [...args, "--amount=-1"], "--amount must be"],
  ["an exponent", [...args, "--amount", "1e3"], "--amount must be"],
  ["a malformed recipient", [...args, "--recipient", "0x12"], "--recipient must be an address"],
  [
    "the zero address",
    [...args, "--recipient", `0x${"00".repeat(20)}`],
    "--recipient must not be the zero address",
  ],
  [
    "a wrong checksum",
    [...args, "--recipient", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed".replace("5aA", "5AA")],
    "--recipient has an invalid EIP-55 checksum",
  ],
  ["a short nonce", [...args, "--nonce", "0x12"], "--nonce must be"],
  ["a zero wait", [...args, "--wait", "0"], "--wait must be"],
] as const)("refuses %s with the usage and exit code 2", async ([, badArgs, problem]) => {
  expect(await runWithdraw(badArgs, env, throwOnOpen)).toBe(2);
  expect(stderr).toContain(problem);
  expect(stderr).toContain("usage:");
});

test("accepts a recipient with a correct checksum or without a checksum", async () => {
  const mixed = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
  for (const format of [mixed, mixed.toLowerCase(), `0x${mixed.slice(2).toUpperCase()}`]) {
    stderr = "";
    await runWithdraw([...args, "--recipient", format], env, throwOnOpen);
    expect(stderr, format).toBe("opened\n");
  }
});

test("refuses recipients that could not move the funds again: depository, contracts of the service, tokens", async () => {
  const chain = readApiConfig(env).chains.find(({ name }) => name === "local-a");
  if (chain === undefined) throw new Error("no local-a");
  const { contracts, tokens } = chain;
  for (const address of [...Object.values(contracts), ...tokens.map((token) => token.address)]) {
    stderr = "";
    expect(await runWithdraw([...args, "--recipient", address], env, throwOnOpen), address).toBe(2);
    expect(stderr).toContain("--recipient must not be");
  }
  await runWithdraw([...args, "--recipient", contracts.depository], env, throwOnOpen);
  expect(stderr).toContain("must not be the depository of local-a");
  const former = `0x${"fd".repeat(20)}` as const;
  const replaced = { ...chain, contracts: { ...contracts, formerDepositories: [former] } };
  expect(recipientOf(former, replaced)).toMatchObject({ kind: "refused" });
  expect(recipientOf(former, chain)).toMatchObject({ kind: "recipient" });
});

test("asks to retry while the hub is unreachable: one line of JSON, exit code 3, no library output", async () => {
  expect(await runWithdraw(args, env, openWithdrawals)).toBe(3);
  const last = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as object;
  expect(last).toEqual({
    step: "waits",
    reason: "the node of hub returned no usable response: eth_chainId: request failed (ECONNREFUSED)",
    nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string,
  });
  expect(stderr).toBe("");
});

test("a withdrawal that expired unpaid has its own exit code and reports where the funds are", async () => {
  const expired: OpenWithdrawals = async (options) => {
    const opened = await openWithdrawals(options);
    const { services } = opened;
    return {
      ...opened,
      services: {
        ...services,
        hub: {
          ...services.hub,
          signers: async () => ({ signers: new Set(), threshold: 1 }),
          executed: async (keys) => new Set(keys),
        },
        settlement: { ...services.settlement, execution: async () => undefined },
        withdrawals: {
          ...services.withdrawals,
          find: async () => undefined,
          open: async (address, order) => ({ ...order, address, payload: "0x", outcome: "expired" }),
        },
      },
    };
  };
  expect(await runWithdraw(args, env, expired)).toBe(4);
  expect(stdout).toContain('"step":"expired"');
  expect(stdout).toContain("nothing was paid");
});

test("names the database when it cannot be reached", async () => {
  const withoutDatabase: OpenWithdrawals = async (options) => {
    const opened = await openWithdrawals(options);
    const hub = {
      ...opened.services.hub,
      signers: async () => ({ signers: new Set<Address>(), threshold: 1 }),
    };
    return { ...opened, services: { ...opened.services, hub } };
  };
  const DATABASE_URL = "postgres://user:hunter2@127.0.0.1:1/causeway";
  expect(await runWithdraw(args, { ...env, DATABASE_URL }, withoutDatabase)).toBe(1);
  expect(stderr).toBe("the database could not be reached: ECONNREFUSED\n");
});

test.for([
  ["without oracles", { ORACLE_URLS: undefined }, "ORACLE_URLS is required"],
  ["without the allocator's key", { ALLOCATOR_PRIVATE_KEY: undefined }, "ALLOCATOR_PRIVATE_KEY is required"],
] as const)("%s starts no withdrawal and prints no secret", async ([, change, problem]) => {
  expect(await runWithdraw(args, { ...env, ...change }, throwOnOpen)).toBe(1);
  expect(stderr).toContain(problem);
  expect(stderr).not.toContain("hunter2");
  expect(stderr).not.toContain(env.SOLVER_PRIVATE_KEY);
});
