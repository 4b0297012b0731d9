import type { Address } from "@causeway/domain";
import { expect, test } from "vitest";
import type { FakeAppBalance } from "../fakes/app-balance.ts";

const WALLET: Address = `0x${"5e".repeat(20)}`;

/** What every app balance service must report for a wallet that never had a balance. */
export function emptyAppBalanceContract(
  name: string,
  make: () => Promise<
    Pick<FakeAppBalance, "readBalances" | "readBalanceEvents" | "readHolds" | "readClaims">
  >,
): void {
  test(`${name}: a wallet without a balance has zero of the main currency and nothing else`, async () => {
    const routes = await make();
    const { main, ...rest } = await routes.readBalances(WALLET);
    expect(main).toMatchObject({ amount: 0n, pending: 0n, owed: 0n, usd: 0n });
    expect(main.currency.symbol).not.toBe("");
    expect(rest).toEqual({ all: [], totalUsd: 0n, heldUsd: 0n, availableUsd: 0n });
  });

  test(`${name}: a wallet without a balance has no movements, holds or claims`, async () => {
    const routes = await make();
    const page = { limit: 10, after: undefined };
    expect(await routes.readBalanceEvents(WALLET, page)).toEqual([]);
    expect(await routes.readHolds(WALLET, page)).toEqual({ holds: [], exposureUsd: 0n });
    expect(await routes.readClaims(WALLET, page)).toEqual([]);
  });
}
