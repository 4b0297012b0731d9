import { ONE_USD } from "@causeway/domain";
import type { Address, Hex } from "@causeway/domain";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startExecutionWorld, type ExecutionWorld } from "../../support/execution-world.ts";

// Calls that no block, node or account could handle are refused before anything is reserved.

let world: ExecutionWorld;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  expect(await world.violatedInvariants()).toEqual([]);
  await world.stop();
});

const INITIAL_BALANCE = 1_000_000_000n;

/** A contract that counts down from `times`, at 26 gas each. */
async function countdown(times: number): Promise<Address> {
  const address = world.anAddress();
  const bytecode: Hex = `0x62${times.toString(16).padStart(6, "0")}5b6001900380600457`;
  await world.origin.client.setCode({ address, bytecode });
  await world.origin.mine();
  await world.watch(world.origin);
  return address;
}

test("a gas limit fits into a block with its headroom, and a call that needs more is refused", async () => {
  const { origin } = world;
  await origin.client.setBlockGasLimit({ gasLimit: 3_000_000n });
  const greedy = await countdown(100_000);
  const outcome = await world.tryExecute({ to: greedy, data: "0x00" });
  expect(outcome).toMatchObject({ kind: "reverts", failure: { label: "OUT_OF_GAS" } });
  expect(await world.book()).toMatchObject({ balance: INITIAL_BALANCE, pending: 0n });
  const requestId = await world.execute({ to: await countdown(80_000), data: "0x00" });
  const { gasLimit } = await world.execution(requestId);
  expect(gasLimit).toBeGreaterThan(2_700_000n);
  expect(gasLimit).toBeLessThanOrEqual(3_000_000n);
  expect(await world.untilFinal(requestId)).toMatchObject({ status: "success" });
});

test("a transaction too large for nodes is refused, and the largest allowed one is broadcast", async () => {
  const to = world.anAddress();
  const data = (bytes: number): Hex => `0x${"00".repeat(bytes)}`;
  await expect(world.execute({ to, data: data(130_000) })).rejects.toThrow(
    /may need up to 131800 bytes, but at most 131072 are allowed/,
  );
  const { requestId } = await world.quote();
  const calls = [70_000, 60_000].map((bytes) => ({ to, value: "0", data: data(bytes) }));
  await expect(world.execute({ to, requestId, callsWithFill: { calls } })).rejects.toThrow(
    /destinationChainExecutionData: the transaction may need up to 132100 bytes, but at most 131072 are allowed/,
  );
  await world.origin.client.setCode({ address: to, bytecode: "0x00" });
  await world.origin.mine();
  await world.watch(world.origin);
  const largest = await world.execute({ to, data: data(129_000) });
  expect(await world.untilFinal(largest)).toMatchObject({ status: "success" });
});

test("reports insufficient funds to an app that cannot pay a call's value; alerts the operator of the executor's shortage only if the app could pay", async () => {
  const call = { to: world.anAddress(), value: 200n * 10n ** 18n };
  const rules = { maxCallValueUsd: 10n ** 6n * ONE_USD };
  const poor = await world.anApp({}, INITIAL_BALANCE, rules);
  await expect(world.execute(call, poor)).rejects.toMatchObject({
    code: "INSUFFICIENT_FUNDS",
    // $500,000 plus the service fee of 6 bps.
    message: expect.stringMatching(
      /has \$1000\.0+ available, but this execution may cost \$5003\d\d\./,
    ) as unknown,
  });
  expect(world.events.of("execution_waits")).toEqual([]);
  const rich = await world.anApp({}, 1_000_000n * 10n ** 6n, rules);
  await expect(world.execute(call, rich)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  expect(world.events.of("execution_waits")).toHaveLength(1);
  expect(await world.book(rich)).toMatchObject({ pending: 0n });
});
