import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadAttestationChains } from "../attestation-file.ts";

const dir = mkdtempSync(join(tmpdir(), "causeway-lighter-"));
afterAll(() => rmSync(dir, { recursive: true }));

const CONTRACT = `0x${"3B".repeat(20)}`;

function load(fields: object, env: Record<string, string> = {}) {
  const entry = { id: "lighter", vmType: "lighter-vm", httpRpcUrl: "http://127.0.0.1:1", ...fields };
  writeFileSync(join(dir, "chains.edited.json"), JSON.stringify([entry]));
  return loadAttestationChains({ environment: "edited", configsDir: dir, env });
}

test("reads accounts as depositories, an explorer, a chain id and a contract", () => {
  const { chains } = load(
    {
      depository: "460491",
      additionalDepositories: ["460492"],
      additionalData: {
        explorerApiUrl: "$EXPLORER_URL",
        exchangeChainId: 300,
        exchangeContract: "$CONTRACT",
      },
    },
    { EXPLORER_URL: "http://127.0.0.1:2/api", CONTRACT },
  );
  expect(chains).toMatchObject([
    {
      depository: "460491",
      additionalDepositories: ["460492"],
      lighter: {
        explorerApiUrl: "http://127.0.0.1:2/api",
        exchangeChainId: 300n,
        exchangeContract: CONTRACT.toLowerCase(),
      },
    },
  ]);
});

test("defaults to mainnet, without an explorer", () => {
  expect(load({}).chains[0]?.lighter).toEqual({
    explorerApiUrl: undefined,
    exchangeChainId: 304n,
    exchangeContract: undefined,
  });
});

test("warns if the explorer's variable is unset, and disables the chain if the contract's variable is unset", () => {
  const without = load({ additionalData: { explorerApiUrl: "$EXPLORER_URL" } });
  expect(without.chains[0]?.lighter?.explorerApiUrl).toBeUndefined();
  expect(without.warnings).toEqual([
    "chain lighter: withdrawals with an unknown transaction are not attested; missing variable: EXPLORER_URL",
  ]);
  const unchecked = load({ additionalData: { exchangeContract: "$CONTRACT" } });
  expect(unchecked.chains).toEqual([]);
  expect(unchecked.warnings).toEqual(["chain lighter is disabled; missing variables: CONTRACT"]);
});

test("refuses an invalid account, URL, number or contract", () => {
  const wrong = [
    { depository: "0460491" },
    { depository: `0x${"12".repeat(20)}` },
    { additionalDepositories: ["-1"] },
    { additionalData: { explorerApiUrl: "ftp://127.0.0.1" } },
    { additionalData: { exchangeChainId: "304" } },
    { additionalData: { exchangeContract: `0x${"00".repeat(20)}` } },
  ];
  for (const fields of wrong)
    expect(() => load(fields), JSON.stringify(fields)).toThrow(/lighter|chains\.edited/);
});
