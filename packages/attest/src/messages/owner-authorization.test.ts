import type { Hex } from "@causeway/domain";
import { encodeAddress } from "@causeway/families";
import { recoverAddress } from "viem";
import { expect, test } from "vitest";
import vector from "../../../../test/fixtures/oracle/owner-01.json" with { type: "json" };
import {
  ownerAuthorizationDigest,
  ownerAuthorizationHash,
  ownerAuthorizationJson,
} from "./owner-authorization.ts";
import type { OwnerAuthorization } from "./owner-authorization.ts";

const { evm, solana, tron } = vector.input as Record<"evm" | "solana" | "tron", OwnerAuthorization>;

test("computes JSON and hashes of the authorizations in the contract's vectors", () => {
  expect(ownerAuthorizationJson(evm)).toBe(vector.output.canonicalJson);
  expect(ownerAuthorizationHash(evm)).toBe(vector.output.evm.digest);
  expect(ownerAuthorizationHash(solana)).toBe(`0x${vector.output.solana.digest}`);
  expect(ownerAuthorizationHash(tron)).toBe(`0x${vector.output.tron.digest}`);
});

test("the EVM owner's signature of the vectors recovers to the owner", async () => {
  const signature = vector.output.evm.signature as Hex;
  const signer = await recoverAddress({ hash: ownerAuthorizationDigest(evm), signature });
  expect(signer.toLowerCase()).toBe(encodeAddress("ethereum-vm", evm.owner));
});

test("ignores the order of the caller's fields", () => {
  const reversed = Object.fromEntries(Object.entries(evm).toReversed()) as unknown as OwnerAuthorization;
  expect(ownerAuthorizationHash(reversed)).toBe(vector.output.evm.digest);
});

test("signs every field, including those that bind environment and depository", () => {
  const bound: OwnerAuthorization = {
    ...evm,
    settlementChainId: "hub",
    settlementNetwork: "72100339",
    depository: "0x4cd00e387622c35bddb9b4c962c136462338bc31",
    oracleContract: "0x1111111111111111111111111111111111111111",
  };
  const keys = Object.keys(JSON.parse(ownerAuthorizationJson(bound)) as object);
  expect(keys).toEqual(keys.toSorted());
  expect(keys).toHaveLength(12);
  const other = { operation: "transfer", amount: "1", nonce: `0x${"00".repeat(32)}` } as const;
  const hashes = keys.map((key) =>
    ownerAuthorizationHash({ ...bound, [key]: other[key as keyof typeof other] ?? "other" }),
  );
  const without = ["settlementChainId", "settlementNetwork", "depository", "oracleContract"].map((key) => {
    const { [key as "depository"]: _dropped, ...rest } = bound;
    return ownerAuthorizationHash(rest);
  });
  const all = [ownerAuthorizationHash(bound), ownerAuthorizationHash(evm), ...hashes, ...without];
  expect(new Set(all).size).toBe(all.length);
});

test("refuses an amount or a nonce that is not in canonical format", () => {
  for (const amount of ["", "01", "-1", "+1", "1.0", "1e6", "0x1", " 1", "1 "])
    expect(() => ownerAuthorizationHash({ ...evm, amount }), amount).toThrow("amount must be");
  for (const nonce of ["", "1", "0x01", evm.nonce.slice(2), `0x${"AB".repeat(32)}`, `${evm.nonce}00`])
    expect(() => ownerAuthorizationHash({ ...evm, nonce }), nonce).toThrow("nonce must be");
});
