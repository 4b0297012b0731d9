import { formatUsd } from "@causeway/domain";
import type { Hex, TxHash } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { indexTransaction } from "../../apps/api/src/usecases/index-transaction.ts";
import { deposit } from "../support/deposits.ts";
import { startEngineWorld, type Agreed, type EngineWorld } from "../support/engine-world.ts";
import { brokenLaws } from "../support/ledger-world.ts";
import { aSponsor } from "../support/sponsors.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld();
});
afterAll(async () => {
  expect(await brokenLaws(world.pool)).toEqual([]);
  await world.stop();
});

const agree = async (ask: Parameters<EngineWorld["quote"]>[0] = {}): Promise<Agreed> =>
  await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask });

const received = async ({ terms }: Agreed): Promise<bigint> =>
  await world.destination.balance(terms.recipient, terms.destination.currency);

/** The fill is in a block of its chain, nothing else has moved. */
async function fill(): Promise<void> {
  await world.work();
  await world.destination.mine();
  await world.watch(world.destination);
}

async function mineOrigin(blocks = 1): Promise<void> {
  for (let block = 0; block < blocks; block++) {
    await world.origin.mine();
    await world.watch(world.origin);
  }
}

test("the recipient has the money while the deposit is unmined; the hold is there from the acceptance to the confirmed deposit", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await agree();
  await deposit(world.origin, world.user, agreed);
  const before = await sponsor.availableUsd();

  expect(await sponsor.fastFill(agreed)).toBe("queued");
  const hold = await sponsor.holdOf(agreed);
  expect(hold).toMatchObject({
    state: "active",
    wallet: sponsor.wallet,
    keyId: sponsor.key.id,
    chainId: world.destination.chain.id,
    currency: agreed.terms.destination.currency,
    amount: agreed.terms.destination.expectedAmount,
    // One dollar a USDC.
    usd: agreed.terms.destination.expectedAmount * 10n ** 12n,
  });
  expect(await sponsor.availableUsd()).toBe(before - (hold?.usd ?? 0n));

  await fill();
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", inTxHashes: [] });
  expect(await world.depositsOf(agreed.requestId)).toEqual([]);
  expect(await sponsor.holdState(agreed)).toBe("active");

  await mineOrigin();
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await sponsor.availableUsd()).toBe(before);
  const [found] = await world.depositsOf(agreed.requestId);
  expect(found).toMatchObject({ disposition: "accepted" });
  expect((await world.status(agreed.requestId)).inTxHashes).toEqual([found?.txHash]);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
});
