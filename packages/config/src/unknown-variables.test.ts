import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { integer, privateKey, text } from "./kinds.ts";
import { unknownVariables } from "./unknown-variables.ts";

const dir = mkdtempSync(join(tmpdir(), "causeway-names-"));
writeFileSync(join(dir, "chains.test.json"), JSON.stringify([{ router: "$BASE_ROUTER_ADDRESS" }]));
afterAll(() => rmSync(dir, { recursive: true }));

const named = (name: string) => ({ name, describe: "" });
const bps = (name: string) => integer({ name, describe: "", min: 0, max: 10_000 });
const groups = [
  {
    title: "All",
    settings: {
      key: privateKey(named("SOLVER_PRIVATE_KEY")),
      peers: text(named("PEERS")),
      database: text(named("DATABASE_URL")),
      feeMajor: bps("FEE_MAJOR_BPS"),
      feeMinor: bps("FEE_MINOR_BPS"),
      feeWrap: bps("FEE_WRAP_BPS"),
      feeStable: bps("FEE_STABLE_BPS"),
      balanceChain: text(named("APP_BALANCE_CHAIN_ID")),
      balanceCurrency: text(named("APP_BALANCE_CURRENCY")),
      balanceDepth: text(named("APP_BALANCE_CONFIRMATIONS")),
      balanceClaim: text(named("APP_BALANCE_CLAIM_SECONDS")),
    },
  },
];
// The first is similar to a setting, but must not be reported as a typo of it.
const removed = { FEE_MANOR_BPS_: 5, TX_STUCK_AFTER_MS: 30_000 };
const find = (...names: readonly string[]) =>
  unknownVariables(Object.fromEntries(names.map((name) => [name, "x"])), groups, dir, removed);

test.each([
  ["FEE_MAYOR_BPS", "FEE_MAJOR_BPS"],
  ["SOLVER_PRIVATEKEY", "SOLVER_PRIVATE_KEY"],
  ["SOLVER_PRVIATE_KEYS", "SOLVER_PRIVATE_KEY"],
  ["solver_private_key", "SOLVER_PRIVATE_KEY"],
  ["DATABASE_ULR", "DATABASE_URL"],
  ["SOLVER_PRIVATE_KEY_FILES", "SOLVER_PRIVATE_KEY_FILE"],
  ["BASE_ROUTER_ADRESS", "BASE_ROUTER_ADDRESS"],
])("reports %s as a typo of %s", (name, meant) => {
  expect(find(name)).toEqual({
    problems: [`${name} is set but is not a known setting; rename it to ${meant}, or unset it`],
    warnings: [],
  });
});

test("suggests both settings that a typo could mean", () => {
  expect(find("FEE_MANOR_BPS").problems.join()).toContain("rename it to FEE_MAJOR_BPS or FEE_MINOR_BPS");
});

test("only warns if the similar setting is set, or if the name only shares the prefix of several settings", () => {
  expect(find("DATABASE_URI", "DATABASE_URL")).toEqual({
    problems: [],
    warnings: ["DATABASE_URI is set but is not a known setting; it has no effect"],
  });
  expect(find("SOLVER_PRIVATEKEY", "SOLVER_PRIVATE_KEY_FILE").problems).toEqual([]);
  expect(find("FEE_STABLECOIN_BPS", "APP_BALANCE_DAYS").warnings).toHaveLength(2);
});

test("ignores the variables of a Kubernetes service whose name starts like several settings", () => {
  const names = [
    "FEE_SERVICE_HOST",
    "FEE_SERVICE_PORT_HTTP",
    "FEE_PORT",
    "FEE_PORT_6379_TCP",
    "FEE_PORT_6379_TCP_ADDR",
  ];
  expect(find(...names)).toEqual({ problems: [], warnings: [] });
});

test("ignores variables of other programs and empty ones", () => {
  const others = ["PATH", "USERS", "APP_NAME", "HUB_TOKEN", "BASE_URL", "DATABASE_HOST", "FEES"];
  expect(find(...others, "PEERS", "SOLVER_PRIVATE_KEY_FILE", "BASE_ROUTER_ADDRESS")).toEqual({
    problems: [],
    warnings: [],
  });
  expect(
    unknownVariables({ FEE_MAYOR_BPS: " ", SOLVER_PRIVATEKEY: undefined }, groups, dir).problems,
  ).toEqual([]);
});

test("ignores a missing configuration directory", () => {
  expect(unknownVariables({ PATH: "/bin" }, groups, join(dir, "none")).problems).toEqual([]);
});

test("warns about a removed setting and its fixed value, even if the name is similar to a setting", () => {
  const why = "is set but is no longer a setting; it has no effect, the value is always";
  expect(find("TX_STUCK_AFTER_MS", "FEE_MANOR_BPS_")).toEqual({
    problems: [],
    warnings: [`TX_STUCK_AFTER_MS ${why} 30000`, `FEE_MANOR_BPS_ ${why} 5`],
  });
});
