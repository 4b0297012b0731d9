import { planChain, plannedAddress } from "@causeway/contracts/deploy";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAddress, type Address } from "viem";
import { afterAll, expect, test } from "vitest";
import { plannedFields, writeEntry } from "./chain-entries.ts";
import type { DeployTarget } from "./deploy-target.ts";
import { addressesOf, CHAIN_FIELDS } from "./entry-fields.ts";

const address = (byte: string): Address => getAddress(`0x${byte.repeat(20)}`);
const plan = planChain({
  owner: address("0a"),
  allocator: address("0b"),
  solver: address("0c"),
  multicall3: false,
});
const [depository, router, approvalProxy, serviceReceiver] = (
  ["Depository", "Router", "ApprovalProxy", "Receiver"] as const
).map((contract) => plannedAddress(plan, contract));
const planned = { router, approvalProxy, serviceReceiver };
const folder = mkdtempSync(join(tmpdir(), "causeway-entries-"));
const file = join(folder, "chains.test.json");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The written text of an entry; `file` contains `before`. */
function writeAndRead(entry: object, before: readonly object[] = []): unknown {
  writeFileSync(file, JSON.stringify(before));
  const target: DeployTarget = {
    kind: "chain",
    name: "mine",
    chainId: 4321,
    rpcUrls: [],
    nativeSymbol: "ETH",
    plan,
    addresses: addressesOf(plan, CHAIN_FIELDS),
    fileName: "chains.test.json",
    entry,
    resolved: entry,
  };
  writeEntry(folder, target);
  return JSON.parse(readFileSync(file, "utf8"));
}

test("adds the configured entry to a file that lacks it, and does not change other entries", () => {
  const otherEntry = { id: "other", depository: "$OTHER_DEPOSITORY_ADDRESS" };
  expect(writeAndRead({ id: "mine", httpRpcUrl: "$MINE_RPC_URL" }, [otherEntry])).toEqual([
    otherEntry,
    { id: "mine", httpRpcUrl: "$MINE_RPC_URL", depository, contracts: planned },
  ]);
});

test("keeps other fields of the file's own entry", () => {
  const entry = { id: "mine", contracts: { permit2: address("11") }, enabled: false };
  expect(writeAndRead({ id: "mine" }, [entry])).toEqual([
    { id: "mine", contracts: { permit2: address("11"), ...planned }, enabled: false, depository },
  ]);
});

test("lists replaced contracts as former ones, and old and new routers as fill contracts", () => {
  const [oldDepository, oldRouter, older] = [address("21"), address("22"), address("23")];
  const entry = {
    id: "mine",
    depository: oldDepository,
    additionalDepositories: [older],
    contracts: { router: oldRouter, approvalProxy },
  };
  expect(writeAndRead(entry, [entry])).toEqual([
    {
      id: "mine",
      depository,
      additionalDepositories: [older, oldDepository],
      contracts: { ...planned, formerContracts: [oldDepository, oldRouter] },
      additionalData: { fillContracts: [oldRouter, router, approvalProxy] },
    },
  ]);
});

test("a field with a placeholder names its variable", () => {
  const entry = { id: "mine", depository: "$MINE_DEPOSITORY_ADDRESS" };
  const addresses = addressesOf(plan, CHAIN_FIELDS);
  expect(plannedFields({ addresses, entry, resolved: {} })[0]).toMatchObject({
    variable: "MINE_DEPOSITORY_ADDRESS",
    planned: depository,
  });
});

test("keeps the former program of a chain without contracts in its list of depositories", () => {
  const [former, program] = ["So11111111111111111111111111111111111111112", "1".repeat(32)];
  const entry = { id: "mine", depository: former };
  writeFileSync(file, JSON.stringify([entry]));
  const addresses = [{ path: ["depository"], planned: program }];
  writeEntry(folder, {
    kind: "program",
    name: "mine",
    fileName: "chains.test.json",
    entry,
    resolved: entry,
    addresses,
  });
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual([
    { id: "mine", depository: program, additionalDepositories: [former] },
  ]);
});
