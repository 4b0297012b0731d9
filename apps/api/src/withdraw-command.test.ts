import { localPrivateKey } from "@causeway/config";
import { resolve } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runWithdraw, type OpenWithdrawals } from "./withdraw-command.ts";

const env = {
  ENVIRONMENT: "local",
  CONFIGS_DIR: resolve(import.meta.dirname, "../../../configs"),
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
  HUB_CHAIN_ID: "72100339",
  HUB_ADDRESS: `0x${"21".repeat(20)}`,
  HUB_ORACLE_ADDRESS: `0x${"22".repeat(20)}`,
  HUB_ORACLE_MULTISIG_ADDRESS: `0x${"23".repeat(20)}`,
};
const recipient = `0x${"d1".repeat(20)}`;
const wish = ["--chain", "local-a", "--currency", "usdc", "--amount", "2.5", "--recipient", recipient];

/** Stops where connections would be opened, so that only what was asked is looked at. */
const noFurther: OpenWithdrawals = () => {
  throw new Error("opened");
};

let told = "";
beforeEach(() => {
  told = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    told += String(text);
    return true;
  });
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
});
afterEach(() => void vi.restoreAllMocks());

test("a whole wish opens the connections", async () => {
  expect(await runWithdraw(wish, env, noFurther)).toBe(1);
  expect(told).toBe("opened\n");
});

test.for([
  ["no wish", [], "--chain, --currency, --amount and --recipient are required"],
  ["an unknown option", [...wish, "--force"], "--force"],
  ["an unknown chain", [...wish, "--chain", "nowhere"], "no enabled chain is called nowhere"],
  ["an unknown currency", [...wish, "--currency", "doge"], "local-a has no currency doge"],
  ["too many decimals", [...wish, "--amount", "1.1234567"], "at most 6 decimals"],
  ["nothing", [...wish, "--amount", "0"], "--amount must be"],
  ["a negative amount", [...wish, "--amount=-1"], "--amount must be"],
  ["an exponent", [...wish, "--amount", "1e3"], "--amount must be"],
  ["no address", [...wish, "--recipient", "0x12"], "--recipient must be an address"],
  ["the zero address", [...wish, "--recipient", `0x${"00".repeat(20)}`], "--recipient must be an address"],
  ["a short nonce", [...wish, "--nonce", "0x12"], "--nonce must be"],
  ["no time", [...wish, "--wait", "0"], "--wait must be"],
] as const)("%s is told, with the usage and exit code 2", async ([, words, problem]) => {
  expect(await runWithdraw(words, env, noFurther)).toBe(2);
  expect(told).toContain(problem);
  expect(told).toContain("usage:");
});

test.for([
  ["without oracles", { ORACLE_URLS: undefined }, "ORACLE_URLS is required"],
  ["without the allocator's key", { ALLOCATOR_PRIVATE_KEY: undefined }, "ALLOCATOR_PRIVATE_KEY is required"],
] as const)("%s nothing is begun, and no secret is shown", async ([, change, problem]) => {
  expect(await runWithdraw(wish, { ...env, ...change }, noFurther)).toBe(1);
  expect(told).toContain(problem);
  expect(told).not.toContain("hunter2");
  expect(told).not.toContain(env.SOLVER_PRIVATE_KEY);
});
