import { families } from "@causeway/families";
import { expect, test } from "vitest";
import { attestationChainEntry } from "../attestation-schema.ts";

const { tron } = families;

const NATIVE = "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb";
const CONTRACT = "TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN";
const URL = "https://nodes.example/jsonrpc";

function read(fields: object, urls: readonly string[] = [URL]) {
  const problems: string[] = [];
  const entry = attestationChainEntry.parse({ id: "tron", vmType: "tron-vm", httpRpcUrl: urls, ...fields });
  return { facts: tron.facts({ entry, rpcUrls: urls, place: "place", problems }), problems };
}

test("defaults to mainnet, and trusts no fill contract by default", () => {
  expect(read({})).toEqual({
    facts: { chainId: 728_126_428, blockTimeSeconds: 3, fillContracts: [], apiKey: undefined },
    problems: [],
  });
  expect(read({ chainId: 2_494_104_990 }).facts.chainId).toBe(2_494_104_990);
});

test("reads fill contracts in base58 as 20 bytes, and an API key", () => {
  const { facts, problems } = read({ additionalData: { fillContracts: [CONTRACT], rpcApiKey: "key" } });
  expect(problems).toEqual([]);
  expect(facts).toMatchObject({
    fillContracts: ["0xf0623e1012177482912fb057e44e1a9769b1f588"],
    apiKey: "key",
  });
});

test("reports an address of another chain, the zero address, and a URL that is not the JSON-RPC, with their paths", () => {
  const additionalData = { fillContracts: [CONTRACT, NATIVE, `0x${"a".repeat(40)}`] };
  expect(read({ additionalData }).problems).toEqual([
    "place: fill contract 1: must be a tron-vm address, not zero",
    "place: fill contract 2: must be a tron-vm address, not zero",
  ]);
  expect(read({}, ["https://nodes.example"]).problems).toEqual([
    "place.httpRpcUrl: must be the URL of the node's /jsonrpc endpoint",
  ]);
  expect(read({}, ["https://nodes.example/jsonrpc/"]).problems).toEqual([]);
});
