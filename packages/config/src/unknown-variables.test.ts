import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { integer, privateKey, text } from "./kinds.ts";
import { unknownVariables } from "./unknown-variables.ts";

const dir = mkdtempSync(join(tmpdir(), "causeway-names-"));
writeFileSync(join(dir, "chains.test.json"), JSON.stringify([{ router: "$BASE_ROUTER_ADDRESS" }]));
afterAll(() => rmSync(dir, { recursive: true }));

const bps = integer(0, 10_000);
const named = (name: string) => ({ name, describe: "" });
const groups = [
  {
    title: "All",
    settings: {
      key: privateKey(named("SOLVER_PRIVATE_KEY")),
      peers: text(named("PEERS")),
      database: text(named("DATABASE_URL")),
      feeMajor: bps(named("FEE_MAJOR_BPS")),
      feeMinor: bps(named("FEE_MINOR_BPS")),
      feeWrap: bps(named("FEE_WRAP_BPS")),
      feeStable: bps(named("FEE_STABLE_BPS")),
      balanceChain: text(named("APP_BALANCE_CHAIN_ID")),
      balanceCurrency: text(named("APP_BALANCE_CURRENCY")),
      balanceDepth: text(named("APP_BALANCE_CONFIRMATIONS")),
      balanceClaim: text(named("APP_BALANCE_CLAIM_SECONDS")),
    },
  },
];
const find = (...names: readonly string[]) =>
  unknownVariables(Object.fromEntries(names.map((name) => [name, "x"])), groups, dir);

test.each([
  ["FEE_MAYOR_BPS", "FEE_MAJOR_BPS"],
  ["SOLVER_PRIVATEKEY", "SOLVER_PRIVATE_KEY"],
  ["SOLVER_PRVIATE_KEYS", "SOLVER_PRIVATE_KEY"],
  ["solver_private_key", "SOLVER_PRIVATE_KEY"],
  ["DATABASE_ULR", "DATABASE_URL"],
  ["SOLVER_PRIVATE_KEY_FILES", "SOLVER_PRIVATE_KEY_FILE"],
  ["BASE_ROUTER_ADRESS", "BASE_ROUTER_ADDRESS"],
])("%s is taken for a misspelled %s", (name, meant) => {
  expect(find(name)).toEqual({
    problems: [`${name} is set but is not a known setting; rename it to ${meant}, or unset it`],
    warnings: [],
  });
});

test("two settings that may both be meant are both named", () => {
  expect(find("FEE_MANOR_BPS").problems.join()).toContain("rename it to FEE_MAJOR_BPS or FEE_MINOR_BPS");
});

test("a name beside the variable that it is like, and one of a family of settings, are warnings", () => {
  expect(find("DATABASE_URI", "DATABASE_URL")).toEqual({
    problems: [],
    warnings: ["DATABASE_URI is set but is not a known setting; it has no effect"],
  });
  expect(find("SOLVER_PRIVATEKEY", "SOLVER_PRIVATE_KEY_FILE").problems).toEqual([]);
  expect(find("FEE_STABLECOIN_BPS", "APP_BALANCE_DAYS").warnings).toHaveLength(2);
});

test("what Kubernetes sets for a service whose name begins like a family of settings is passed over", () => {
  const names = [
    "FEE_SERVICE_HOST",
    "FEE_SERVICE_PORT_HTTP",
    "FEE_PORT",
    "FEE_PORT_6379_TCP",
    "FEE_PORT_6379_TCP_ADDR",
  ];
  expect(find(...names)).toEqual({ problems: [], warnings: [] });
});

test("variables of other programs are passed over, and so are empty ones", () => {
  const others = ["PATH", "USERS", "APP_NAME", "HUB_TOKEN", "BASE_URL", "DATABASE_HOST", "FEES"];
  expect(find(...others, "PEERS", "SOLVER_PRIVATE_KEY_FILE", "BASE_ROUTER_ADDRESS")).toEqual({
    problems: [],
    warnings: [],
  });
  expect(
    unknownVariables({ FEE_MAYOR_BPS: " ", SOLVER_PRIVATEKEY: undefined }, groups, dir).problems,
  ).toEqual([]);
});

test("a folder of configuration that is not there is not its business", () => {
  expect(unknownVariables({ PATH: "/bin" }, groups, join(dir, "none")).problems).toEqual([]);
});
