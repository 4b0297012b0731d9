import { rawKeySigner, type Signer } from "@causeway/attest";
import type { RequestId } from "@causeway/domain";
import { encodePacked, keccak256, pad, recoverMessageAddress } from "viem";
import { expect, test } from "vitest";
import { someHash, someTerms } from "../../../../test/support/terms.ts";
import type { Reads } from "../db/reads.port.ts";
import { keyOrderSigner } from "./signing/key-order-signer.ts";
import { createRequestSignature } from "./request-signature.ts";
import { noChains } from "../../../../test/fakes/no-chains.ts";

const signer = rawKeySigner(`0x${"42".repeat(32)}`);
const terms = someTerms({
  requestId: `0x${"ab".repeat(32)}` as const,
  user: `0x${"01".repeat(20)}`,
  recipient: `0x${"02".repeat(20)}`,
  origin: { chainId: 8453, currency: `0x${"03".repeat(20)}`, amount: 1_000_000n },
  destination: { chainId: 10, currency: `0x${"04".repeat(20)}`, expectedAmount: 9n, minimumAmount: 8n },
});

/** The use case over stored requests, and how often it signed. */
function aSignatureService(stored: Map<RequestId, typeof terms>) {
  const counted = { signed: 0 };
  const counting: Signer = {
    address: signer.address,
    signDigest: async (digest) => {
      counted.signed++;
      return await signer.signDigest(digest);
    },
  };
  const request = async (requestId: RequestId) => {
    const storedTerms = stored.get(requestId);
    return storedTerms && { terms: storedTerms };
  };
  const reads = { request } as unknown as Reads;
  return {
    requestSignature: createRequestSignature({
      reads,
      orderSigner: keyOrderSigner(counting),
      chains: noChains,
    }),
    counted,
  };
}

test("the solver's address is recovered from the hash that a contract computes", async () => {
  const { requestSignature } = aSignatureService(new Map([[terms.requestId, terms]]));
  const signed = await requestSignature(terms.requestId, "v1");
  // keccak256(abi.encode(…)) of these facts, computed by another implementation.
  const raw = "0x0aa82cb26bfd672aef626935c2ff216934c405a8b14f8ebc1646992f314afa8a";
  expect(signed?.signature).toBe(
    "0x6f33b37689b1a133d74010d6051d69c60e117534e7d71bb339400e7093a2ea1065dda901d8b7c0f817bb73b9304d69f4a4b09dae366e0a11d67402d7484dc73c1c",
  );
  const recovered = await recoverMessageAddress({ message: { raw }, signature: signed?.signature ?? "0x" });
  expect(recovered.toLowerCase()).toBe(signer.address);
});

test("the second layout has the recipient's currency in place of the amount", async () => {
  const { requestSignature } = aSignatureService(new Map([[terms.requestId, terms]]));
  const signed = await requestSignature(terms.requestId, "v2");
  const { facts, signature = "0x" } = signed ?? {};
  // In the format that a deployed contract reads.
  const raw = keccak256(
    encodePacked(
      ["bytes32", "uint256", "bytes32", "bytes32", "uint256", "bytes32", "bytes32"],
      [
        terms.requestId,
        8453n,
        pad(terms.user),
        pad(terms.origin.currency),
        10n,
        pad(terms.recipient),
        pad(terms.destination.currency),
      ],
    ),
  );
  const recovered = await recoverMessageAddress({ message: { raw }, signature });
  expect(recovered.toLowerCase()).toBe(signer.address);
  expect(facts?.destinationCurrency).toBe(terms.destination.currency);
  const first = await requestSignature(terms.requestId, "v1");
  expect(first?.signature).not.toBe(signature);
});

test("repeated and concurrent calls return the same bytes and sign once", async () => {
  const { requestSignature, counted } = aSignatureService(new Map([[terms.requestId, terms]]));
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => requestSignature(terms.requestId, "v1")),
  );
  answers.push(await requestSignature(terms.requestId, "v1"));
  expect(new Set(answers.map((answer) => answer?.signature)).size).toBe(1);
  expect(counted.signed).toBe(1);
});

test("an unknown id has no signature until it is quoted", async () => {
  const stored = new Map<RequestId, typeof terms>();
  const { requestSignature } = aSignatureService(stored);
  expect(await requestSignature(terms.requestId, "v1")).toBeUndefined();
  stored.set(terms.requestId, terms);
  expect(await requestSignature(terms.requestId, "v1")).toBeDefined();
});

test("does not cache a failure", async () => {
  let broken = true;
  const request = async () => {
    if (broken) throw new Error("the database is unreachable");
    return { terms };
  };
  const requestSignature = createRequestSignature({
    reads: { request } as unknown as Reads,
    orderSigner: keyOrderSigner(signer),
    chains: noChains,
  });
  await expect(requestSignature(someHash(), "v1")).rejects.toThrow("unreachable");
  await expect(requestSignature(terms.requestId, "v1")).rejects.toThrow("unreachable");
  broken = false;
  expect(await requestSignature(terms.requestId, "v1")).toBeDefined();
});
