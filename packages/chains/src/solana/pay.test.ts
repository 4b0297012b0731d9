import { randomBytes } from "node:crypto";
import { toHex } from "@causeway/domain";
import { depositoryAccounts, TOKEN_PROGRAM, type AccountFact } from "@causeway/families/solana";
import { getAddressDecoder } from "@solana/kit";
import { expect, test } from "vitest";
import { createPayments } from "./pay.ts";

const randomKey = (): string => getAddressDecoder().decode(randomBytes(32));
const data = new Uint8Array(82);
data[45] = 1;
const mintAccount: AccountFact = { owner: TOKEN_PROGRAM, lamports: 1_461_600n, data };

test("caches at most 10,000 mints, because anyone can request one", async () => {
  const readAddresses: string[] = [];
  const reads = {
    accounts: async (addresses: readonly string[]) => {
      readAddresses.push(...addresses);
      return addresses.map(() => mintAccount);
    },
    computePrice: async () => 0n,
    minBalance: async () => 2_039_280n,
  };
  const { paymentCost } = createPayments({
    rpc: undefined as never,
    reads: reads as never,
    pdas: await depositoryAccounts(randomKey()),
    payer: randomKey(),
    now: () => 0,
  });
  const mints = Array.from({ length: 10_001 }, () => toHex(randomBytes(32)));
  for (const mint of mints) await paymentCost(mint, undefined);
  const [oldest, newest] = [mints[0] ?? "0x", mints.at(-1) ?? "0x"];
  await paymentCost(newest, undefined);
  expect(readAddresses).toHaveLength(10_001);
  await paymentCost(oldest, undefined);
  expect(readAddresses).toHaveLength(10_002);
});
