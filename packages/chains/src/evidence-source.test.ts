import {
  final,
  type ConfiguredChain,
  type Evidence,
  type FactsOf,
  type Family,
  type PaymentQuestion,
} from "@causeway/families";
import { expect, test } from "vitest";
import { chainEvidence, endpointEvidence, type Endpoint } from "./evidence-source.ts";

const chain: ConfiguredChain = {
  name: "lighter",
  vmType: "lighter-vm",
  rpcUrls: ["http://127.0.0.1:1", "http://127.0.0.1:2"],
  rpcQuorum: 2,
  depository: "7",
  additionalDepositories: [],
  hubChainId: "4004",
  evm: undefined,
  lighter: { explorerApiUrl: undefined, exchangeChainId: 304n },
};
const id = "ab".repeat(40);
const question: PaymentQuestion = {
  orderId: `0x${"cd".repeat(32)}`,
  solver: `0x${"50".repeat(20)}`,
  deadline: 1,
  extraData: "0x",
  receipts: [],
  calls: [],
};

/** A family whose transactions are amounts. */
function createFamily() {
  const counts = { rules: 0 };
  const family: Family<"lighter", FactsOf<"lighter">, { readonly depository: string }, bigint> = {
    id: "lighter",
    retryAfterSeconds: () => 3,
    rules: ({ depository = "" }) => {
      counts.rules += 1;
      return { depository };
    },
    deposits: ({ depository }, amount) => final({ depository, deposits: [], timestamp: amount }),
    payments: (_, amount, { deadline }) => final({ amounts: [amount], timestamp: BigInt(deadline) }),
  };
  return { family, counts };
}

function createEndpoint(answer: Evidence<bigint>) {
  const requests: unknown[] = [];
  const endpoint: Endpoint<{ readonly depository: string }, bigint> = {
    transaction: async (...call) => {
      requests.push(call);
      return await Promise.resolve(answer);
    },
    withdrawal: async (_, __, hint) => await Promise.resolve({ kind: "refuted", reason: hint ?? "no hint" }),
    close: async () => await Promise.resolve(),
  };
  return { endpoint, requests };
}

test("judges a final transaction by the family's rules, which are read once", async () => {
  const { family, counts } = createFamily();
  const { endpoint, requests } = createEndpoint(final(9n));
  const source = endpointEvidence(chain, family, endpoint);
  expect(counts.rules).toBe(0);
  expect(await source.deposits(id)).toEqual(final({ depository: "7", deposits: [], timestamp: 9n }));
  expect(await source.payments(id, question)).toEqual(final({ amounts: [9n], timestamp: 1n }));
  expect(requests).toEqual([
    [id, { depository: "7" }, undefined],
    [id, { depository: "7" }, question],
  ]);
  expect(counts.rules).toBe(1);
});

test.each<Evidence<bigint>>([
  { kind: "absent" },
  { kind: "notFinal", reason: "not settled", retryAfterSeconds: 5 },
  { kind: "refuted", reason: "transaction failed" },
])("the endpoint's answer is returned unless the transaction is final: $kind", async (answer) => {
  const source = endpointEvidence(chain, createFamily().family, createEndpoint(answer).endpoint);
  expect(await source.deposits(id)).toEqual(answer);
  expect(await source.payments(id, question)).toEqual(answer);
});

test("neither looks up an id in another format nor uses it as a hint", async () => {
  const { endpoint, requests } = createEndpoint(final(9n));
  const source = endpointEvidence(chain, createFamily().family, endpoint);
  const refutation = { kind: "refuted", reason: "transaction id must be 80 lowercase hex digits" };
  expect(await source.deposits(id.toUpperCase())).toEqual(refutation);
  expect(await source.payments(`0x${id}`, question)).toEqual(refutation);
  expect(requests).toEqual([]);
  expect(await source.withdrawal("0x", id)).toMatchObject({ reason: id });
  expect(await source.withdrawal("0x", id.toUpperCase())).toMatchObject({ reason: "no hint" });
});

test("attests only payments without a depository", async () => {
  const { endpoint } = createEndpoint(final(9n));
  const source = endpointEvidence({ ...chain, depository: undefined }, createFamily().family, endpoint);
  const refutation = { kind: "refuted", reason: "chain lighter has no depository" };
  expect(await source.deposits(id)).toEqual(refutation);
  expect(await source.withdrawal("0x", undefined)).toEqual(refutation);
  expect(await source.payments(id, question)).toMatchObject({ kind: "final" });
});

test("retries endpoints that lag behind each other after the family's delay", async () => {
  const answers: Evidence<bigint>[] = [final(9n), { kind: "absent" }];
  const source = chainEvidence(
    chain,
    createFamily().family,
    {},
    ({ index }) => createEndpoint(answers[index] ?? { kind: "absent" }).endpoint,
  );
  expect(await source.deposits(id)).toMatchObject({ kind: "notFinal", retryAfterSeconds: 3 });
});

test("refuses a chain without facts of the family at startup", () => {
  const { lighter: _, ...withoutFacts } = chain;
  const connect = () => createEndpoint(final(9n)).endpoint;
  expect(() => chainEvidence(withoutFacts, createFamily().family, {}, connect)).toThrow(
    "invariant violated: chain lighter has no facts of lighter",
  );
});
