import fc from "fast-check";
import type { Hex, VmType } from "@causeway/domain";
import { encodePacked, keccak256 } from "viem";
import { expect, test } from "vitest";
import orderVector from "../../../../test/fixtures/oracle/hub-02-order-address.json" with { type: "json" };
import tokenVector from "../../../../test/fixtures/oracle/hub-01-token-ids.json" with { type: "json" };
import { hubAlias, hubTokenId, orderAddress, withdrawalAddress } from "./hub-addressing.ts";

test("computes the tokens and accounts of the contract's vectors", () => {
  const ids = (tokenVector.input.items as [string, VmType, string][]).map(([name, vmType, address]) => ({
    tokenId: hubTokenId({ name, vmType }, address).toString(),
    alias: hubAlias({ name, vmType }, address),
  }));
  expect(ids).toEqual(
    tokenVector.output.ids.map(({ tokenId, alias }) => ({ tokenId, alias: alias.toLowerCase() })),
  );
});

const { chainId, vmType, depositor, timestamp, depositId } = orderVector.input;
const chain = { name: chainId, vmType: vmType as VmType };
const deposit = { depositor, timestamp: BigInt(timestamp), depositId: depositId as Hex };

test("computes the order address of the contract's vectors", () => {
  expect(orderAddress(chain, deposit)).toBe(orderVector.output.packed);
});

const hex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes): Hex => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
const lastTwenty = (hash: Hex): Hex => `0x${hash.slice(26)}`;

test("order and withdrawal addresses are the last 20 bytes of a hash of the packed values", () => {
  fc.assert(
    fc.property(
      hex(20),
      hex(20),
      hex(20),
      hex(20),
      hex(32),
      fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
      (depository, currency, recipient, ownerAlias, nonce, timestamp) => {
        const target = { depository, currency, recipient, ownerAlias, nonce };
        expect(withdrawalAddress(chain, target)).toBe(
          lastTwenty(
            keccak256(
              encodePacked(
                ["string", "bytes", "bytes", "bytes", "address", "bytes32"],
                [chain.name, depository, currency, recipient, ownerAlias, nonce],
              ),
            ),
          ),
        );
        expect(orderAddress(chain, { depositor: recipient, timestamp, depositId: nonce })).toBe(
          lastTwenty(
            keccak256(
              encodePacked(
                ["string", "bytes", "uint256", "bytes32"],
                [chain.name, recipient, timestamp, nonce],
              ),
            ),
          ),
        );
      },
    ),
  );
});

test("ignores letter case, and refuses malformed values", () => {
  const upper = (text: string): Hex => `0x${text.slice(2).toUpperCase()}`;
  expect(orderAddress(chain, { ...deposit, depositor: upper(depositor), depositId: upper(depositId) })).toBe(
    orderVector.output.packed,
  );
  expect(() => hubAlias(chain, "0x12")).toThrow("address is not an address of ethereum-vm");
  expect(() => hubTokenId(chain, "0x12")).toThrow("currency is not an address of ethereum-vm");
  expect(() => orderAddress(chain, { ...deposit, depositId: "0x12" })).toThrow(RangeError);
  expect(() => orderAddress(chain, { ...deposit, timestamp: -1n })).toThrow(RangeError);
  const target = {
    depository: depositor,
    currency: depositor,
    recipient: depositor,
    ownerAlias: depositor as Hex,
  };
  expect(() => withdrawalAddress(chain, { ...target, nonce: "0x01" })).toThrow(RangeError);
  const nonce = deposit.depositId;
  expect(() => withdrawalAddress(chain, { ...target, ownerAlias: "0x12", nonce })).toThrow(RangeError);
});

test("derives different token ids and aliases from one address on each chain, and the same ones on every call", () => {
  const text = `0x${"c3".repeat(20)}`;
  const names = ["base", "base2", "optimism"];
  const ids = [...names, ...names].map((name) => {
    const namedChain = { name, vmType: chain.vmType };
    return `${hubTokenId(namedChain, text)} ${hubAlias(namedChain, text)}`;
  });
  expect(new Set(ids).size).toBe(names.length);
  expect(ids.slice(names.length)).toEqual(ids.slice(0, names.length));
});

test("returns the same answer after many other requests", () => {
  const text = `0x${"c4".repeat(20)}`;
  const before = [hubTokenId(chain, text), hubAlias(chain, text)];
  for (let index = 0; index < 10_000; index++) hubAlias(chain, `0x${index.toString(16).padStart(40, "0")}`);
  expect([hubTokenId(chain, text), hubAlias(chain, text)]).toEqual(before);
});
