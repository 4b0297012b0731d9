import { encodeAbiParameters, keccak256, pad, toHex, type Address, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { highS } from "../test/executions.ts";
import { requestAttestationVerifierAbi as abi, requestAttestationVerifierBytecode } from "./index.ts";

const { solver, stranger } = accounts;
const attestation = {
  requestId: keccak256("0x01"),
  originChainId: 8453n,
  originUser: pad(freshAddress(1)),
  originCurrency: pad(freshAddress(2)),
  originAmount: 25_000_000n,
  destinationChainId: 42_161n,
  destinationUser: pad(freshAddress(3)),
};

let chain: TestChain;
let verifier: Address;
beforeAll(async () => {
  chain = await startTestChain();
  verifier = await chain.deploy(abi, requestAttestationVerifierBytecode);
});
afterAll(async () => await chain.stop());

/** A solver's signature: a personal message over the 32 bytes of the hash. */
async function signHash(signer = solver): Promise<Hex> {
  const types = ["bytes32", "uint256", "bytes32", "bytes32", "uint256", "uint256", "bytes32"];
  const hash = keccak256(
    encodeAbiParameters(
      types.map((type) => ({ type })),
      Object.values(attestation),
    ),
  );
  return await signer.signMessage({ message: { raw: hash } });
}
async function signerOf(content: typeof attestation, signature: Hex): Promise<Address> {
  return await chain.client.readContract({
    address: verifier,
    abi,
    functionName: "signerOf",
    args: [content, signature],
  });
}

test("a contract recomputes the hash of a request's attestation and recovers the solver that signed it", async () => {
  expect(await signerOf(attestation, await signHash())).toBe(solver.address);
});

test("recovers another signer as that signer", async () => {
  expect(await signerOf(attestation, await signHash(stranger))).toBe(stranger.address);
});

test.each(Object.keys(attestation) as (keyof typeof attestation)[])(
  "a signature is invalid for another %s",
  async (field) => {
    const value = typeof attestation[field] === "bigint" ? 7n : toHex(7, { size: 32 });
    expect(await signerOf({ ...attestation, [field]: value }, await signHash())).not.toBe(solver.address);
  },
);

test.each<[string, () => Promise<Hex>]>([
  ["that is empty", async () => await Promise.resolve("0x" as const)],
  ["of zeroes", async () => await Promise.resolve(`0x${"00".repeat(65)}` as const)],
  ["with s in the upper half", async () => highS(await signHash())],
])("reverts for a signature %s", async (_what, signature) => {
  await expect(signerOf(attestation, await signature())).rejects.toThrow("reverted");
});
