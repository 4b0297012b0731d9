import { families } from "@causeway/families";
import { expect, test } from "vitest";
import { attestationChainEntry } from "../attestation-schema.ts";

const { bitcoin } = families;

function facts(
  additionalData: object | undefined,
  more: object = {},
): { facts: unknown; problems: string[] } {
  const entry = attestationChainEntry.parse({
    id: "bitcoin",
    vmType: "bitcoin-vm",
    httpRpcUrl: "http://node.example",
    additionalData,
    ...more,
  });
  const problems: string[] = [];
  return { facts: bitcoin.facts({ entry, rpcUrls: [], place: "chain bitcoin", problems }), problems };
}

test("Bitcoin defaults to mainnet with six confirmations", () => {
  expect(facts(undefined)).toEqual({
    facts: { network: "mainnet", confirmations: 6, blockTimeSeconds: 600, esploraUrl: undefined },
    problems: [],
  });
});

test("reads the explorer, the network, the confirmations and the block time", () => {
  const additionalData = {
    esploraCompatibleApiUrl: "https://explorer.example/api",
    bitcoinNetwork: "regtest",
    finalizationBlocks: 2,
  };
  expect(facts(additionalData, { blockTimeSeconds: 2 })).toEqual({
    facts: {
      network: "regtest",
      confirmations: 2,
      blockTimeSeconds: 2,
      esploraUrl: additionalData.esploraCompatibleApiUrl,
    },
    problems: [],
  });
});

test("refuses zero confirmations and an unknown network", () => {
  expect(facts({ finalizationBlocks: 0 }).problems).toEqual([
    "chain bitcoin.additionalData.finalizationBlocks: must be at least 1",
  ]);
  expect(() => facts({ bitcoinNetwork: "moonnet" })).toThrow();
});
