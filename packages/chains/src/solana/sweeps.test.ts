import { randomBytes } from "node:crypto";
import { toHex, type Hex } from "@causeway/domain";
import { encodeAddress, nativeCurrency } from "@causeway/families";
import { depositoryAccounts, type AccountFact } from "@causeway/families/solana";
import { getAddressDecoder } from "@solana/kit";
import { expect, test } from "vitest";
import type { UnsettledSweep } from "../non-evm-connection.ts";
import { createSweeps } from "./sweeps.ts";

const NATIVE = encodeAddress("solana-vm", nativeCurrency("solana-vm"));
const randomKey = (): string => getAddressDecoder().decode(randomBytes(32));
const randomAddress = (): Hex => toHex(randomBytes(32));
const UNSETTLED: readonly UnsettledSweep[] = [{ raws: ["0x01"], minedTxId: undefined }];
const lamports = (amount: bigint): AccountFact => ({
  owner: "1".repeat(32),
  lamports: amount,
  data: new Uint8Array(),
});

/** A node that answers each part of a request at another slot. */
async function sweepsAt(slots: readonly bigint[]) {
  let calls = 0;
  const batchSizes: number[] = [];
  const rpc = {
    finalSlot: async () => slots[0] ?? 0n,
    accounts: async (addresses: readonly string[]) => {
      batchSizes.push(addresses.length);
      return { slot: slots[calls++] ?? 0n, accounts: addresses.map(() => lamports(7n)) };
    },
  };
  const { addresses } = createSweeps({
    rpc,
    reads: { accounts: async () => [], minBalance: async () => 890_880n },
    pdas: await depositoryAccounts(randomKey()),
    program: randomKey(),
    operator: randomKey(),
    mintOf: async () => undefined,
    currentMint: async () => undefined,
    tokenRent: async () => 0n,
  });
  return { addresses, batchSizes };
}

test("reads 100 accounts per call, and reports the oldest slot", async () => {
  const { addresses, batchSizes } = await sweepsAt([12n, 11n, 13n]);
  const addressesToRead = Array.from({ length: 230 }, () => ({ address: randomAddress(), sweeps: [] }));
  const { atBlock, balances: held } = await addresses.balances(addressesToRead, [NATIVE]);
  expect([batchSizes, atBlock, held.length]).toEqual([[100, 100, 30], 11n, 230]);
  expect(held.every(({ amount }) => amount === 7n)).toBe(true);
});

test("does not report an address with a sweep that was read at a later slot than the others", async () => {
  const { addresses } = await sweepsAt([12n, 11n]);
  const addressesToRead = Array.from({ length: 150 }, (_, index) => ({
    address: randomAddress(),
    sweeps: index === 0 || index === 120 ? UNSETTLED : [],
  }));
  const { balances: held } = await addresses.balances(addressesToRead, [NATIVE]);
  expect(held.flatMap(({ amount }, index) => (amount === undefined ? [index] : []))).toEqual([0]);
});

test("cannot read a currency that is not a token, and sends no request without addresses", async () => {
  const { addresses, batchSizes } = await sweepsAt([5n]);
  expect(await addresses.balances([], [NATIVE])).toEqual({ atBlock: 5n, balances: [] });
  const { balances: held } = await addresses.balances(
    [{ address: randomAddress(), sweeps: [] }],
    [randomAddress()],
  );
  expect([held[0]?.amount, batchSizes]).toEqual([undefined, []]);
});
