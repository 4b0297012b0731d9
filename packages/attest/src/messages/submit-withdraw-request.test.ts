import { encodeAbiParameters, hashTypedData, keccak256, parseAbiParameters } from "viem";
import { expect, test } from "vitest";
import { submitWithdrawRequestDigest, withdrawPayloadId } from "./submit-withdraw-request.ts";
import type { SubmitWithdrawRequest } from "./submit-withdraw-request.ts";

const request: SubmitWithdrawRequest = {
  chainId: 8453n,
  depository: "0x4cd00e387622c35bddb9b4c962c136462338bc31",
  currency: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  amount: 5n,
  spender: "0x251edf52aba8e3aea24d7021dc1c76cc7a857ab7",
  receiver: "0x9876543210987654321098765432109876543210",
  data: "0x",
  nonce: `0x${"66".repeat(32)}`,
};

test("a request's digest is the typed data hash for the allocator's spender", () => {
  const domain = {
    chainId: 1313161554,
    verifyingContract: "0x1111111111111111111111111111111111111111",
  } as const;
  const type =
    "uint256 chainId,string depository,string currency,uint256 amount,address spender,string receiver,bytes data,bytes32 nonce";
  const fields = type.split(",").map((field) => {
    const [type, name] = field.split(" ");
    return { type: type!, name: name! };
  });
  const expected = hashTypedData({
    domain: { name: "AllocatorSpender", version: "1", ...domain },
    types: { SubmitWithdrawRequest: fields },
    primaryType: "SubmitWithdrawRequest",
    message: { ...request },
  });
  expect(submitWithdrawRequestDigest(domain, request)).toBe(expected);
  expect(submitWithdrawRequestDigest({ ...domain, chainId: 1 }, request)).not.toBe(expected);
});

test("a payload's id is the hash of the eight fields as one tuple, and every field counts", () => {
  const id = withdrawPayloadId(request);
  const tuple = parseAbiParameters("(uint256,string,string,uint256,address,string,bytes,bytes32)");
  const { chainId, depository, currency, amount, spender, receiver, data, nonce } = request;
  expect(id).toBe(
    keccak256(
      encodeAbiParameters(tuple, [[chainId, depository, currency, amount, spender, receiver, data, nonce]]),
    ),
  );
  expect(withdrawPayloadId({ ...request, spender: `0x${request.spender.slice(2).toUpperCase()}` })).toBe(id);
  const changes: Partial<SubmitWithdrawRequest>[] = [
    { chainId: 1n },
    { depository: "" },
    { currency: "" },
    { amount: 6n },
    { spender: "0x1111111111111111111111111111111111111111" },
    { receiver: "" },
    { data: "0x00" },
    { nonce: `0x${"67".repeat(32)}` },
  ];
  const ids = changes.map((change) => withdrawPayloadId({ ...request, ...change }));
  expect(new Set([id, ...ids]).size).toBe(9);
});
