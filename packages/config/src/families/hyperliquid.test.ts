import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadAttestationChains } from "../attestation-file.ts";

const dir = mkdtempSync(join(tmpdir(), "causeway-hyperliquid-"));
afterAll(() => rmSync(dir, { recursive: true }));

const DEPOSITORY = `0x${"D1".repeat(20)}`;

function load(fields: object, env: Record<string, string> = {}) {
  const entry = { id: "hyperliquid", vmType: "hyperliquid-vm", httpRpcUrl: "http://127.0.0.1:1", ...fields };
  writeFileSync(join(dir, "chains.edited.json"), JSON.stringify([entry]));
  return loadAttestationChains({ environment: "edited", configsDir: dir, env });
}
const factsOf = (fields: object, env?: Record<string, string>) => load(fields, env).chains[0]?.hyperliquid;

test("defaults to mainnet, the default signing profile, and the explorer at the same host", () => {
  expect(factsOf({})).toEqual({
    explorerUrls: ["http://127.0.0.1:1"],
    profile: "default",
    network: "Mainnet",
    usdcTokenId: "0x6d1e7cde53ba9467b783cb7c530ce054",
  });
});

test("derives the explorer's host from that of the API, for each endpoint", () => {
  const httpRpcUrl = ["https://api.one.example/", "https://api.two.example/v1", "https://three.example"];
  expect(factsOf({ httpRpcUrl })?.explorerUrls).toEqual([
    "https://rpc.one.example/",
    "https://rpc.two.example/v1",
    "https://three.example",
  ]);
});

test("Hyperliquid's own endpoints have the documented rate limit, others the configured one or none", () => {
  const limitOf = (httpRpcUrl: string, additionalData = {}) =>
    factsOf({ httpRpcUrl, additionalData })?.weightPerMinute;
  expect(limitOf("https://api.hyperliquid.xyz")).toBe(1_200);
  expect(limitOf("https://api.hyperliquid-testnet.xyz")).toBe(1_200);
  expect(limitOf("https://api.hyperliquid.xyz", { weightPerMinute: 6_000 })).toBe(6_000);
  expect(limitOf("https://own.example", { weightPerMinute: 6_000 })).toBe(6_000);
  expect(limitOf("https://own.example")).toBeUndefined();
});

test("reads depositories, explorer, signing profile, network and USDC token", () => {
  const { chains } = load(
    {
      depository: DEPOSITORY,
      additionalDepositories: [`0x${"d2".repeat(20)}`],
      additionalData: {
        explorerApiUrl: "$EXPLORER_URL",
        signingProfile: "hyperliquid",
        exchangeNetwork: "Testnet",
        usdcTokenId: "0xeb62eee3685fc4c43992febcd9e75443",
      },
    },
    { EXPLORER_URL: "http://127.0.0.1:2" },
  );
  expect(chains).toMatchObject([
    {
      depository: DEPOSITORY.toLowerCase(),
      additionalDepositories: [`0x${"d2".repeat(20)}`],
      hyperliquid: {
        explorerUrls: ["http://127.0.0.1:2"],
        profile: "hyperliquid",
        network: "Testnet",
        usdcTokenId: "0xeb62eee3685fc4c43992febcd9e75443",
      },
    },
  ]);
});

test("refuses a shared explorer and an invalid account, name, network or token", () => {
  const wrong = [
    { depository: `0x${"d1".repeat(16)}` },
    { additionalDepositories: [`0x${"d1".repeat(21)}`] },
    {
      httpRpcUrl: ["http://127.0.0.1:1", "http://127.0.0.1:2"],
      additionalData: { explorerApiUrl: "http://127.0.0.1:3" },
    },
    { additionalData: { signingProfile: "exchange" } },
    { additionalData: { exchangeNetwork: "mainnet" } },
    { additionalData: { weightPerMinute: 1_199 } },
    { additionalData: { usdcTokenId: `0x${"00".repeat(16)}` } },
    { additionalData: { usdcTokenId: `0x${"AB".repeat(16)}` } },
  ];
  for (const fields of wrong)
    expect(() => load(fields), JSON.stringify(fields)).toThrow(/hyperliquid|chains\.edited/);
});
