import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { executionLeg } from "../../../apps/api/src/payments/legs/execution-leg.ts";
import { depositAddressFactoryAbi } from "@causeway/contracts";
import type { Address, Hex } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { localAccount } from "@causeway/localnet";
import { randomBytes } from "node:crypto";
import { encodeFunctionData, parseAbi } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { creditTopUp } from "../../../apps/api/src/balances/credit-top-up.ts";
import { executeCalls } from "../../../apps/api/src/executions/execute-calls.ts";
import { anApiKey } from "../../fakes/api-keys.ts";
import { startAddressWorld, type AddressWorld } from "../../support/address-world.ts";

// The targets that an API key with the scope `execute` can call through the executor.

const aggregateAbi = parseAbi([
  "function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable",
]);
const usd = (dollars: number): bigint => BigInt(dollars) * 1_000_000n;
const random = { bytes32: (): Hex => `0x${randomBytes(32).toString("hex")}` };

let world: AddressWorld;
let factory: Address;

beforeAll(async () => {
  world = await startAddressWorld({ chain: { finalityBlocks: 3 } });
  factory = world.origin.chain.contracts.depositAddressFactory as Address;
});
beforeEach(async () => await operateBy(localAccount("depositAddressOperator").address));
afterAll(async () => await world.stop());

async function operateBy(operator: Address): Promise<void> {
  const data = encodeFunctionData({
    abi: depositAddressFactoryAbi,
    functionName: "setOperator",
    args: [operator],
  });
  const owner = localAccount("owner");
  await world.origin.fund(owner.address, { tokens: 0n });
  await world.origin.send(owner, { to: factory, data });
  await world.origin.mine();
  await world.origin.announce();
}

/** A victim's payment to a deposit address, and an attacker's quote for the same amount. */
interface Victim {
  readonly at: Address;
  readonly recipient: Address;
  readonly sweep: Hex;
  readonly sweepMany: Hex;
}

async function aVictim(strict: boolean): Promise<Victim> {
  const { origin, usdc } = world;
  const amount = usd(2_500);
  const ask = { amount: amount.toString() };
  const { at, terms } = await world.quoteAddress({
    ...ask,
    ...(strict && { strict, refundTo: world.anAddress() }),
  });
  await world.sendTo(at, amount);
  await origin.mine();
  await world.watch(origin);
  const attacker = world.anAddress();
  const stolen = await world.quote({ user: terms.user, recipient: attacker, refundTo: attacker, ...ask });
  const key = { id: terms.orderId, depositor: terms.user, recovery: NATIVE_CURRENCY, strict };
  const { orderId } = stolen.terms;
  const abi = depositAddressFactoryAbi;
  return {
    at,
    recipient: terms.recipient,
    sweep: encodeFunctionData({ abi, functionName: "sweep", args: [key, usdc, amount, orderId] }),
    sweepMany: encodeFunctionData({
      abi,
      functionName: "sweepMany",
      args: [[{ key, currency: usdc, amount, orderId }]],
    }),
  };
}

async function execute(to: Address, data: Hex, by: WorkerServices = world.services) {
  const wallet = world.anAddress();
  await world.services.uow.run(
    async (tx) =>
      await creditTopUp(world.services, tx, {
        wallet,
        asset: { chainId: world.origin.chain.id, currency: world.usdc },
        amount: usd(5),
        movementKey: `given:${random.bytes32()}`,
      }),
  );
  const app = anApiKey({ id: randomBytes(8).toString("hex"), fundingAddress: wallet });
  return await executeCalls(
    { ...by, random },
    app,
    {
      executionKind: "rawCalls",
      data: { chainId: world.origin.chain.id, to, data, value: "0" },
      executionOptions: { referrer: "", subsidizeFees: true },
    },
    undefined,
  );
}

/**
 * The services with these contracts on the origin chain. There is no deposit address factory unless `change`
 * has one.
 */
function withContracts(change: object): WorkerServices {
  const { services, origin } = world;
  const { depositAddressFactory: _, ...contracts } = origin.chain.contracts;
  const connected = {
    ...origin.connected,
    chain: { ...origin.connected.chain, contracts: { ...contracts, ...change } },
  };
  const get: WorkerServices["chains"]["get"] = (id) =>
    id === origin.chain.id ? connected : services.chains.get(id);
  return { ...services, chains: { ...services.chains, get } };
}

const refusals = (): number => world.events.of("execution_target_refused").length;

test.each([
  ["open", false],
  ["strict", true],
])(
  "refuses to sweep an %s deposit address through /execute, even if the executor is its operator",
  async (_, strict) => {
    const { at, sweep, sweepMany, recipient } = await aVictim(strict);
    const executor = localAccount("executor");
    // The worst case: the executor got the role after the start, when roles are no longer checked.
    await operateBy(executor.address);
    for (const data of [sweep, sweepMany]) {
      const before = refusals();
      await expect(execute(factory, data)).rejects.toMatchObject({
        code: "INVALID_REQUEST",
        message: expect.stringContaining(`data.to: ${factory} is a contract of this service`) as string,
      });
      expect(refusals()).toBe(before + 1);
    }
    expect(world.events.of("execution_target_refused").at(-1)?.facts).toMatchObject({ target: factory });
    const former = withContracts({ formerContracts: [factory] });
    await expect(execute(factory, sweep, former)).rejects.toMatchObject({ code: "INVALID_REQUEST" });

    await operateBy(localAccount("depositAddressOperator").address);
    const before = refusals();
    const calls = [{ target: factory, allowFailure: false, callData: sweep }];
    const batch = encodeFunctionData({ abi: aggregateAbi, args: [calls] });
    const batched = await execute(world.origin.chain.contracts.multicall3, batch);
    // Multicall3 is then the caller of the factory, and lacks the role.
    expect(batched).toMatchObject({ kind: "reverts" });
    expect(refusals()).toBe(before);
    await world.untilSettled(at, 1);
    expect(await world.destination.balance(recipient, world.usdc)).toBeGreaterThan(usd(2_490));
  },
);

test("refuses the service's other contracts as targets and accepts a token", async () => {
  const { depository, router, approvalProxy, serviceReceiver } = world.origin.chain.contracts;
  for (const target of [depository, router, approvalProxy, serviceReceiver])
    await expect(execute(target, "0x")).rejects.toThrow(/is a contract of this service/);
  const mint = encodeFunctionData({
    abi: parseAbi(["function mint(address to, uint256 amount)"]),
    args: [world.anAddress(), 5n],
  });
  expect(await execute(world.usdc, mint)).toMatchObject({ kind: "accepted" });
});

test("an accepted call is not signed once its target is recognized as one of the service's own", async () => {
  const { origin, services } = world;
  const { at, sweep } = await aVictim(false);
  const executor = localAccount("executor");
  await operateBy(executor.address);
  const withoutFactory = withContracts({});
  const sent = async (): Promise<number> =>
    (await origin.sentBy(executor.address.toLowerCase() as Address)).filter(({ input }) => input !== "0x")
      .length;
  const before = await sent();
  const accepted = async (): Promise<Hex> => {
    const outcome = await execute(factory, sweep, withoutFactory);
    if (outcome.kind !== "accepted") throw new Error("the call was not accepted");
    return outcome.answer.requestId as Hex;
  };

  const first = await accepted();
  await pay(services, executionLeg, first);
  expect(await services.reads.slotOfLeg("execution", first)).toBeUndefined();
  expect((await world.status(first)).status).toBe("failure");

  // A process reserves a nonce for the call, and crashes before it signs.
  const second = await accepted();
  const dying: WorkerServices = {
    ...withoutFactory,
    executor: services.executor && {
      ...services.executor,
      signDigest: async () => await Promise.reject(new Error("the process died")),
    },
  };
  await expect(pay(dying, executionLeg, second)).rejects.toThrow("the process died");
  expect(await services.reads.slotOfLeg("execution", second)).toMatchObject({ attempts: [] });
  await pay(services, executionLeg, second);
  expect((await services.reads.slotOfLeg("execution", second))?.attempts).toMatchObject([{ kind: "noop" }]);
  await origin.mine();
  expect(await sent()).toBe(before);
  expect(await origin.balance(at, world.usdc)).toBe(usd(2_500));
});
