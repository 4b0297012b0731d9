import { connectNonEvm, type NonEvmConnection, type PayingConnection } from "@causeway/chains";
import { Secret } from "@causeway/config";
import { expect, expectTypeOf, test } from "vitest";
import { readApiConfig, readWorkerConfig } from "../../../apps/api/src/config/config.ts";
import type { Services } from "../../../apps/api/src/db/services.port.ts";
import type { LaneKeys } from "../../../apps/api/src/chains/lane-signers.ts";
import { bitcoinAddress } from "@causeway/simulators/bitcoin";
import { familyKey } from "../../../packages/localnet/src/families/family-plan.ts";
import { solanaKey } from "@causeway/simulators/solana";
import {
  appEnvironment,
  workerKeys,
  type Dependencies,
} from "../../../packages/localnet/src/system-processes.ts";
import { planSystem } from "../../../packages/localnet/src/system-plan.ts";

const seed = Buffer.from(familyKey("solver").slice(2), "hex");
const plan = planSystem({ env: {}, families: true, oracles: 0 });
const dependencies: Dependencies = {
  databaseUrl: "postgres://user:database@127.0.0.1/causeway",
  redisUrl: "redis://:redis@127.0.0.1",
  families: {
    urls: {
      solana: "http://127.0.0.1:1",
      solanaSwaps: "http://127.0.0.1:1",
      bitcoin: "http://127.0.0.1:2",
      esplora: "http://127.0.0.1:3",
      hyperliquid: "http://127.0.0.1:4",
    },
    solver: { solana: (await solanaKey(seed)).address, bitcoin: bitcoinAddress(seed) },
  },
};
const apiEnv = appEnvironment(plan, dependencies);
const keys = workerKeys(plan, dependencies);

function secretsIn(value: unknown): string[] {
  if (value instanceof Secret) return [value.reveal()];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}

test("in the local system, the API has only the solver's key, and knows every account from which the worker pays", () => {
  const api = readApiConfig(apiEnv);
  const worker = readWorkerConfig({ ...apiEnv, ...keys });
  expect(api.accounts).toEqual(worker.accounts);
  const { formerSolvers: _, ...accounts } = api.accounts;
  expect(Object.values(accounts)).not.toContain(undefined);

  expect(secretsIn(api)).toEqual([
    dependencies.databaseUrl,
    dependencies.redisUrl,
    apiEnv["OPERATOR_TOKEN"],
    plan.solver.privateKey,
  ]);
  expect(Object.keys(apiEnv).filter((name) => name in keys)).toEqual([]);
  expect([...api.warnings, ...worker.warnings].join()).not.toMatch(
    /is ignored|(KEYS?|ADDRESS(ES)?) is not set/,
  );
});

test.each(Object.entries(keys))("warns that the API ignores %s", (name, key) => {
  const { warnings } = readApiConfig({ ...apiEnv, [name]: key });
  expect(warnings.filter((warning) => warning.includes("is ignored"))).toEqual([
    expect.stringContaining(`${name} is ignored`),
  ]);
});

test.each(readApiConfig(apiEnv).nonEvmChains)(
  "the adapter of $chain.name opens with the solver's address, and pays only with the solver's key",
  async ({ chain, attestation }) => {
    const { solver, solana = "0x", bitcoin = "0x" } = readApiConfig(apiEnv).accounts;
    const connection = await connectNonEvm({
      chain,
      attestation,
      solver: { svm: solana, bvm: bitcoin, hypevm: solver }[chain.vmType],
      now: () => 0,
      onFault: () => undefined,
    });
    try {
      expect(connection).not.toHaveProperty("prepare");
      expect(connection).not.toHaveProperty("signNonceMapping");
      await expect((async () => await connection.withKey(familyKey("user")))()).rejects.toThrow(
        `chain ${chain.name}: key does not match the solver address`,
      );
      const paying = await connection.withKey(familyKey("solver"));
      expect(paying.prepare).toBeTypeOf("function");
      expect(paying.solver).toBe(connection.solver);
    } finally {
      await connection.close();
    }
  },
);

test("the API's use cases cannot sign for lanes or non-EVM chains", () => {
  expectTypeOf<Services>().not.toExtend<LaneKeys>();
  expectTypeOf<NonEvmConnection>().not.toExtend<PayingConnection>();
  expectTypeOf<Services["chains"]["nonEvmChains"][number]["connection"]>().not.toExtend<PayingConnection>();
});
