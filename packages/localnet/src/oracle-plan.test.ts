import { isLocalKey } from "@causeway/config";
import { expect, test } from "vitest";
import { planOracles, settlementEnvironment } from "./oracle-plan.ts";

const ports = [12, 13, 14];
const { oracles, quorum } = planOracles(ports);

function entries(list: string | undefined, separator: string): string[][] {
  return (list ?? "").split(";").map((entry) => entry.split(separator));
}

test("three oracles are peers of each other, each with a separate API key for every other oracle", () => {
  for (const oracle of oracles) {
    const peers = entries(oracle.env["PEERS"], "|");
    expect(peers.map(([url]) => url)).toEqual(
      oracles.filter((other) => other !== oracle).map(({ url }) => url),
    );
    for (const [url, credential] of peers) {
      const accepting = oracles.filter(({ env }) =>
        entries(env["API_KEYS"], ":").some(([key, label]) => key === credential && label === oracle.name),
      );
      expect(accepting.map((peer) => peer.url)).toEqual([url]);
    }
  }
});

test("each oracle has its own signing key, which production refuses, and all have the same quorum of two", () => {
  expect(new Set(oracles.map(({ account }) => account.privateKey)).size).toBe(3);
  for (const { account, env } of oracles) {
    expect(isLocalKey(account.privateKey)).toBe(true);
    expect(env["ECDSA_PRIVATE_KEY"]).toBe(account.privateKey);
    expect(env["ORACLE_SIGNERS"]).toBe(quorum.signers.join(";"));
    expect(env["ORACLE_SIGNERS_THRESHOLD"]).toBe("2");
  }
  expect(quorum.signers).toEqual(oracles.map(({ account }) => account.address));
});

test("a single oracle is a quorum by itself and has no peers", () => {
  const alone = planOracles([12]);
  expect(alone.quorum.threshold).toBe(1);
  expect(alone.oracles[0]?.env).not.toHaveProperty("PEERS");
});

test("the worker has a valid key for every oracle; without oracles it gets no hub settings", () => {
  const env = settlementEnvironment({ oracles, quorum }, 22);
  expect(env["HUB_RPC_URL"]).toBe("http://127.0.0.1:22");
  const entriesOfOracles = entries(env["ORACLE_URLS"], "|");
  expect(entriesOfOracles.map(([url]) => url)).toEqual(oracles.map(({ url }) => url));
  entriesOfOracles.forEach(([, key], index) => {
    expect(entries(oracles[index]?.env["API_KEYS"], ":")).toContainEqual([key, "tools"]);
  });
  expect(settlementEnvironment(planOracles([]), 22)).toEqual({});
});
