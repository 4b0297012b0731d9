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
/** Accounts on Solana: two with keys, and one of a program. */
const [holder, deployer, vault] = [
  "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
  "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
  "7uTT8Xi5RWXzy7h9XL244GRgEycDYDhLjr3ZyNdXi8pZ",
];
const onSolana = ["--owner", vault, "--allocator", holder, "--chain", "solana"];

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

test.each([
  [[], "expected plan, apply or verify, got nothing"],
  [["burn"], "expected plan, apply or verify, got burn"],
  [["plan", ...required], "--chain or --hub is required"],
  [["plan", "--chain", "base"], "--owner and --allocator are required"],
  [["plan", ...required, "--chain", "base"], "--solver is required with --chain"],
  [["plan", ...required, "--hub"], "--oracle and --threshold are required with --hub"],
  [["plan", ...onBase, "--chain", "nowhere"], "--chain: chains.mainnets.prod.json has no chain nowhere"],
  [
    ["plan", ...onBase, "--chain", "bitcoin"],
    "bitcoin is a bitcoin-vm chain; only ethereum-vm and solana-vm",
  ],
  [["plan", ...onBase, "--chain", "solana"], "chains of ethereum-vm and solana-vm need a command each"],
  [["plan", ...onBase, "--deployer", holder], "--deployer applies only to Solana programs"],
  [["plan", ...onBase, "--deposit-addresses"], "--deposit-addresses applies only to Solana programs"],
  [["plan", ...onSolana, "--deposit-addresses"], "--owner does not apply to --deposit-addresses"],
  [["plan", "--deposit-addresses"], "--chain or --hub is required"],
  [["plan", ...onBase, "--owner-may-be-new"], "--owner-may-be-new applies only to Solana programs"],
  [
    ["plan", ...required, "--chain", "solana"],
    "--owner must be a base58 address of 32 bytes, not zero or none",
  ],
  [["plan", ...onSolana, "--hub"], "--hub: deploy the hub and EVM chains with a command of their own"],
  [["plan", ...onSolana, "--solver", solver], "--solver applies only to EVM chains and the hub"],
  [["plan", ...onSolana, "--allocator", "1".repeat(32)], "--allocator must be a base58 address of 32 bytes"],
  [["plan", ...onSolana, "--allocator", vault], "has no private key, so it could never sign a payout"],
  [["plan", ...onSolana, "--owner", deployer], "expected the vault of a multisignature wallet"],
  [["plan", ...onSolana, "--deployer", holder], "--allocator and the deployer must be different accounts"],
  [["plan", ...onSolana, "--max-compute-price", "0"], "--max-compute-price must be a whole number of micro-"],
  [["plan", ...onBase, "--oracle", "0x12"], "--oracle must be a 20-byte address, not zero, got 0x12"],
  [["plan", ...onBase, "--solver", `0x${"0".repeat(40)}`], "--solver must be a 20-byte address, not zero"],
  [["plan", ...onBase, "--owner", `0x${"aB".repeat(20)}`], "--owner: the checksum of"],
  [
    ["plan", ...onBase, "--oracle", owner, "--oracle", owner],
    "--oracle must name each address once, got 0x0A0A",
  ],
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
] as const)("%j is refused with its reason", async (args, reason) => {
  const settings = { ...env, BASE_RPC_URL: "http://127.0.0.1:1", SOLANA_RPC_URL: "http://127.0.0.1:1" };
  expect(await runDeploy(args.map(String), settings)).toBe(2);
  expect(stderr).toContain(reason);
  expect(stderr).toContain("operator deploy plan|apply|verify");
});

test("names the missing environment variables", async () => {
  expect(await runDeploy(["plan", ...onBase], env)).toBe(1);
  expect(stderr).toContain("BASE_RPC_URL is required to deploy to base");
  stderr = "";
  expect(await runDeploy(["apply", ...onBase], { ...env, BASE_RPC_URL: "http://127.0.0.1:1" })).toBe(1);
  expect(stderr).toContain("DEPLOYER_PRIVATE_KEY is required to deploy");
  stderr = "";
  expect(await runDeploy(["plan", ...onSolana], env)).toBe(1);
  expect(stderr).toContain("DEPLOYER_SOLANA_KEY or --deployer is required");
  stderr = "";
  expect(await runDeploy(["plan", ...onSolana, "--deployer", deployer], env)).toBe(1);
  expect(stderr).toContain("SOLANA_RPC_URL is required to deploy to solana");
  stderr = "";
  const withNode = { ...env, SOLANA_RPC_URL: "http://127.0.0.1:1" };
  expect(await runDeploy(["plan", ...onSolana, "--deployer", deployer], withNode)).toBe(1);
  expect(stderr).toContain("add --program or set depository of solana");
});

test("prints only the standard JSON input of one contract", async () => {
  expect(await runDeploy(["standard-json", "Router"], {})).toBe(0);
  expect(Object.keys((JSON.parse(stdout) as { sources: object }).sources)).toContain("contracts/Router.sol");
  expect(stderr).toBe("");
});
