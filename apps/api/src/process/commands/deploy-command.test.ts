import { resolve } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runDeploy } from "./deploy-command.ts";

const [owner, allocator, solver] = ["0a", "0b", "0c"].map((byte) => `0x${byte.repeat(20)}`);
const env = {
  ENVIRONMENT: "mainnets.prod",
  CONFIGS_DIR: resolve(import.meta.dirname, "../../../../../configs"),
  VAULT_SECRETS_DIR: "/nonexistent",
};
const required = ["--owner", owner ?? "", "--allocator", allocator ?? ""];
const onBase = [...required, "--chain", "base", "--solver", solver ?? ""];

let printed = "";
let shown = "";
beforeEach(() => {
  [printed, shown] = ["", ""];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    shown += String(text);
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

test.each([
  [[], "expected plan, apply or verify, got nothing"],
  [["burn"], "expected plan, apply or verify, got burn"],
  [["plan", ...required], "--chain or --hub is required"],
  [["plan", "--chain", "base"], "--owner and --allocator are required"],
  [["plan", ...required, "--chain", "base"], "--solver is required with --chain"],
  [["plan", ...required, "--hub"], "--oracle and --threshold are required with --hub"],
  [["plan", ...onBase, "--chain", "nowhere"], "--chain: chains.mainnets.prod.json has no chain nowhere"],
  [["plan", ...onBase, "--chain", "solana"], "only chains of the family ethereum-vm are supported"],
  [["plan", ...onBase, "--oracle", "0x12"], "--oracle must be a 20-byte address, not zero, got 0x12"],
  [["plan", ...onBase, "--solver", `0x${"0".repeat(40)}`], "--solver must be a 20-byte address, not zero"],
  [["plan", ...onBase, "--owner", `0x${"aB".repeat(20)}`], "--owner: the checksum of"],
  [["plan", ...onBase, "--oracle", owner, "--oracle", owner], "--oracle: an address is given twice"],
  [["plan", ...onBase, "--oracle", owner, "--threshold", "2"], "--threshold must be at most 1"],
  [
    ["plan", ...onBase, "--deposit-address-operator", solver],
    "--deposit-address-operator and --solver must be",
  ],
  [["plan", ...onBase, "--solver", allocator], "--allocator and --solver must be different accounts"],
  [
    ["plan", ...onBase, "--confirmations", "0"],
    "--confirmations must be a whole number from 1 to 100, got 0",
  ],
  [["plan", ...onBase, "--max-fee-gwei", "0"], "--max-fee-gwei must be a positive decimal number"],
  [["plan", ...onBase, "--salt", "1"], "Unknown option '--salt'"],
  [["standard-json", "Nothing"], "standard-json expects the name of one contract"],
] as const)("%j is refused with its reason", async (words, reason) => {
  const settings = { ...env, BASE_RPC_URL: "http://127.0.0.1:1", SOLANA_RPC_URL: "http://127.0.0.1:1" };
  expect(await runDeploy(words.map(String), settings)).toBe(2);
  expect(printed).toContain(reason);
  expect(printed).toContain("operator deploy plan|apply|verify");
});

test("names the missing environment variables", async () => {
  expect(await runDeploy(["plan", ...onBase], env)).toBe(1);
  expect(printed).toContain("BASE_RPC_URL is required to deploy to base");
  printed = "";
  expect(await runDeploy(["apply", ...onBase], { ...env, BASE_RPC_URL: "http://127.0.0.1:1" })).toBe(1);
  expect(printed).toContain("DEPLOYER_PRIVATE_KEY is required to deploy");
});

test("prints only the standard JSON input of one contract", async () => {
  expect(await runDeploy(["standard-json", "Router"], {})).toBe(0);
  expect(Object.keys((JSON.parse(shown) as { sources: object }).sources)).toContain("contracts/Router.sol");
  expect(printed).toBe("");
});
