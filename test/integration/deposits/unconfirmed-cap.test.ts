import { afterAll, beforeAll, expect, test } from "vitest";
import { deposit } from "../../support/deposits.ts";
import { startEngineWorld, type EngineWorld } from "../../support/engine-world.ts";

let world: EngineWorld;

beforeAll(async () => {
  // The cap covers two deposits of 100 USD, but not three.
  world = await startEngineWorld({ chain: { maxUnconfirmedUsd: 250n * 10n ** 18n } });
});
afterAll(async () => await world.stop());

test("small deposits of recent blocks that together exceed the cap wait for the confirmations of the strictest tier", async () => {
  const stateOf = async (requestId: string) => (await world.request(requestId as `0x${string}`)).state.name;
  const requestIds = [];
  for (let n = 0; n < 3; n++) {
    const request = await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress() });
    await deposit(world.origin, world.user, request);
    await world.origin.mine();
    await world.watch(world.origin);
    requestIds.push(request.requestId);
  }
  expect(await Promise.all(requestIds.map(stateOf))).toEqual(["fillable", "fillable", "deposited"]);

  const [, , last] = requestIds;
  for (let blocks = 0; blocks < 10 && last !== undefined && (await stateOf(last)) === "deposited"; blocks++) {
    await world.origin.mine();
    await world.watch(world.origin);
  }
  expect(await Promise.all(requestIds.map(stateOf))).toEqual(["fillable", "fillable", "fillable"]);
});

test("a one-wei deposit for a large quote does not use up the cap for other deposits of its block", async () => {
  await world.origin.mine(10);
  await world.watch(world.origin);
  const large = await world.quote({ amount: "240000000", refundTo: world.anAddress() });
  await deposit(world.origin, world.user, large, { amount: 1n });
  const smallQuotes = [];
  for (let n = 0; n < 10; n++) {
    const quote = await world.quote({ amount: "20000000", refundTo: world.anAddress() });
    await deposit(world.origin, world.user, quote);
    smallQuotes.push(quote);
  }
  await world.origin.mine();
  await world.watch(world.origin);
  for (const { requestId } of smallQuotes)
    expect((await world.request(requestId)).state.name).toBe("fillable");
});
