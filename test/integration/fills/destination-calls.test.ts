import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { fillLeg } from "../../../apps/api/src/payments/legs/fill-leg.ts";
import { depositoryAbi } from "@causeway/contracts";
import { ONE_USD } from "@causeway/domain";
import type { Address, Hex, RequestId, SponsorshipRules } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import { encodeFunctionData, pad, parseAbi } from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unreliable } from "../../fakes/adjustable-prices.ts";
import { deposit } from "../../support/deposits.ts";
import { aSponsor } from "../../support/sponsors.ts";
import type { Slot } from "../../../apps/api/src/db/records.port.ts";
import { creditTopUp } from "../../../apps/api/src/balances/credit-top-up.ts";
import { executeCalls, type ExecuteServices } from "../../../apps/api/src/executions/execute-calls.ts";
import { acceptExecution } from "../../../apps/api/src/executions/accept-execution.ts";
import { forgiveCosts } from "../../../apps/api/src/payments/executions/settle-execution.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import type { QuotedRequest } from "../../support/engine-world.ts";
import { judgeFill } from "../../support/judge-fill.ts";
import { someHash } from "../../support/terms.ts";
import {
  approveCall,
  contractOf,
  simpleAccount,
  smartEoa,
  startExecutionWorld,
  transferFromCall,
  type RequestedExecution,
  type ExecutionWorld,
} from "../../support/execution-world.ts";

type SmartChain = Parameters<typeof smartEoa>[0];
type CallsWithFill = NonNullable<RequestedExecution["callsWithFill"]>;

let world: ExecutionWorld;
let chain: SmartChain;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
  chain = await world.withSmartAccounts(world.origin);
  await approveToProxy(2n ** 255n);
});
afterEach(async () => {
  expect(await world.violatedInvariants()).toEqual([]);
  await world.stop();
});

/** Approves the proxy to spend the solver's tokens, as an operator does once for each token. */
async function approveToProxy(amount: bigint): Promise<void> {
  const { destination, solver, usdc } = world;
  await destination.send(solver, approveCall(usdc, destination.chain.contracts.approvalProxy, amount));
  await destination.mine();
  await world.watch(destination);
  await openLane(world.services, destination.connected);
}

const native: Address = "0x0000000000000000000000000000000000000000";

/** A call with the fill that mints tokens for an account on the destination. */
function mintWithFill(to: Address, amount: bigint): CallsWithFill["calls"][number] {
  const { data } = world.mintCall(to, amount);
  return { to: world.usdc, value: "0", data };
}

test.each([
  ["a token", () => world.usdc],
  ["native tokens", () => native],
])(
  "a fill in %s makes the calls after its payment, in order and in one transaction that oracles count as the payment",
  async (_what, currencyOf) => {
    const { destination, usdc } = world;
    const [first, second] = [world.anAddress(), world.anAddress()];
    const agreed = await executeQuote(
      { calls: [mintWithFill(first, 3n), mintWithFill(second, 4n)] },
      { destinationCurrency: currencyOf() },
    );
    const held = (await world.book()).pending;
    const end = await world.untilFinal(agreed.requestId);
    expect(end).toMatchObject({ status: "success", fundsAt: "recipient" });
    const { recipient, destination: promised } = agreed.terms;
    expect(await destination.balance(recipient, currencyOf())).toBe(promised.expectedAmount);
    expect([await destination.balance(first, usdc), await destination.balance(second, usdc)]).toEqual([
      3n,
      4n,
    ]);
    const [payment, ...more] = await world.paymentsOf(agreed, destination);
    expect(more).toEqual([]);
    if (payment === undefined) throw new Error("no payment found");
    expect(await judgeFill(world, agreed, payment.hash)).toEqual({ amounts: [promised.expectedAmount] });

    await world.round();
    const { originUsd = 0n, destinationUsd = 0n, costUsd, settled } = await world.execution(agreed.requestId);
    expect({ settled, costUsd }).toEqual({ settled: true, costUsd: originUsd + destinationUsd });
    expect(destinationUsd).toBeGreaterThan(0n);
    const { pending, fees } = await world.book();
    expect(pending).toBe(0n);
    expect(fees).toBeLessThanOrEqual(held);
    expect(fees * 10n ** 12n - costUsd).toBeLessThan(3n * 10n ** 12n);
  },
);

test("refuses user operations that pay fees in calls with a fill, whichever account receives them", async () => {
  const to = world.anAddress();
  await world.destination.client.setCode({ address: to, bytecode: "0x00" });
  const operation = (maxFeePerGas: Hex) => ({
    sender: world.anAddress(),
    nonce: 0n,
    initCode: "0x" as const,
    callData: "0x" as const,
    accountGasLimits: pad("0x"),
    preVerificationGas: 0n,
    gasFees: pad(maxFeePerGas),
    paymasterAndData: world.anAddress(),
    signature: "0x" as const,
  });
  const handleOps = (maxFeePerGas: Hex): CallsWithFill => {
    const args = [[operation(maxFeePerGas)], world.anAddress()] as const;
    const data = encodeFunctionData({ abi: entryPoint07Abi, functionName: "handleOps", args });
    return { calls: [{ to, value: "0", data }] };
  };
  const { call } = await quotedExecution(handleOps("0x1"));
  await expect(world.execute(call)).rejects.toThrow(
    /^destinationChainExecutionData: maxFeePerGas of user operation 0 must be 0/,
  );
  await executeQuote(handleOps("0x0"));
});

test("the app is charged for native tokens that calls carry, the remainder returns to the solver, and rules limit the value", async () => {
  const { destination } = world;
  const beneficiary = world.anAddress();
  const agreed = await executeQuote({ calls: [{ to: beneficiary, value: "1000000000000000", data: "0x" }] });
  await world.untilFinal(agreed.requestId);
  await world.round();
  expect(await destination.balance(beneficiary, native)).toBe(10n ** 15n);
  expect((await world.execution(agreed.requestId)).destinationUsd).toBeGreaterThan(10n ** 15n * 2_500n);
  const { call, agreed: other } = await quotedExecution({
    calls: [{ to: beneficiary, value: "1000000000000000", data: "0x" }],
  });
  const frugal = { ...world.app, rules: { maxCallValueUsd: 0n } };
  await expect(world.execute(call, frugal)).rejects.toThrow(/maxCallValueUsd/);
  world.prices.trust("ethereum", unreliable.disputed);
  await expect(world.execute(call)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  world.prices.trust("ethereum", undefined);
  expect((await world.status(other.requestId)).status).toBe("waiting");
});

test("a fill waits while the native token that its calls carry costs more than was charged, or its price is disputed", async () => {
  const { clock, destination } = world;
  const beneficiary = world.anAddress();
  const carrying: CallsWithFill = { calls: [{ to: beneficiary, value: "1000000000000000", data: "0x" }] };
  // A spread of 20 bps plus the service fee of 6 bps.
  world.prices.trust("ethereum", { ageMs: 60_000, volatilityBps: 10 });
  const kept = await executeQuote(carrying);
  world.prices.trust("ethereum", undefined);
  const { destination: priced, costUsd } = await world.execution(kept.requestId);
  expect(priced?.salePriceUsd).toBe((25_065n * ONE_USD) / 10n);
  expect(costUsd).toBeGreaterThan((10n ** 15n * 25_065n) / 10n);
  const untilItWaits = async (why: RegExp): Promise<void> => {
    for (let round = 0; round < 8; round += 1) {
      clock.forward(3_000);
      await world.round();
      if (world.events.of("fill_waits").some(({ facts }) => why.test(String(facts["why"])))) return;
    }
    throw new Error(`the fill does not wait: ${(await world.request(kept.requestId)).state.name}`);
  };
  world.prices.set("ethereum", "2600");
  await untilItWaits(/costs more than was reserved/);
  world.prices.set("ethereum", "2500");
  world.prices.trust("ethereum", unreliable.disputed);
  await untilItWaits(/contradicted/);
  expect(await world.paymentsOf(kept, destination)).toEqual([]);
  world.prices.trust("ethereum", undefined);
  expect(await world.untilFinal(kept.requestId)).toMatchObject({ status: "success" });
  for (let round = 0; round < 3; round += 1) await world.round();
  const slot = await fillSlot(kept);
  const extraGas = (slot?.gasUsed ?? 0n) - (priced?.plainGas ?? 0n);
  expect((await world.execution(kept.requestId)).destinationUsd).toBe(
    (10n ** 15n * 25_065n) / 10n + extraGas * (slot?.effectiveGasPrice ?? 0n) * 2_500n,
  );

  const lost = await executeQuote(carrying);
  world.prices.set("ethereum", "2600");
  expect(await world.untilFinal(lost.requestId)).toMatchObject({ status: "refund", failReason: "SLIPPAGE" });
  expect((await world.execution(lost.requestId)).destinationUsd).toBe(0n);
  expect(await destination.balance(beneficiary, native)).toBe(10n ** 15n);
});

test("refuses calls with a fill if their native token was priced differently than the native balance that pays for it", async () => {
  const { services, anAddress } = world;
  const caller = await world.anApp({}, 0n);
  const wallet = caller.fundingAddress ?? anAddress();
  const asset = { chainId: world.origin.chain.id, currency: native };
  await services.uow.run((tx) =>
    creditTopUp(services, tx, { wallet, asset, amount: 10n ** 17n, movementKey: "given" }),
  );
  const { call } = await quotedExecution({
    calls: [{ to: anAddress(), value: "1000000000000000", data: "0x" }],
  });
  // The price changes after the fill was priced.
  const by: ExecuteServices = {
    ...services,
    random: { bytes32: someHash },
    accept: async (acceptable) => {
      world.prices.set("ethereum", "2600");
      return await acceptExecution(by, acceptable);
    },
  };
  const { rows: before } = await world.pool.query("select * from ledger_entries");
  await expect(executeCalls(by, caller, world.body(call), undefined)).rejects.toMatchObject({
    code: "SERVICE_UNAVAILABLE",
    message: "The price of ETH changed during the request; try again",
  });
  expect((await world.pool.query("select * from ledger_entries")).rows).toEqual(before);
  world.prices.set("ethereum", "2500");
  await world.execute(call, caller);
});

test("refuses calls that would revert in the simulation, with every detail", async () => {
  const { usdc } = world;
  const failing = {
    to: usdc,
    value: "0",
    data: encodeFunctionData({
      abi: parseAbi(["function transfer(address to, uint256 amount)"]),
      args: [world.anAddress(), 1n],
    }),
  };
  const { call } = await quotedExecution({ calls: [mintWithFill(world.anAddress(), 1n), failing] });
  expect(await world.tryExecute(call)).toMatchObject({
    kind: "reverts",
    failure: { label: "ERC20_INSUFFICIENT_BALANCE" },
  });
  expect((await world.book()).pending).toBe(0n);
});

test("calls that revert at the time of the fill cause a refund, and the app pays for the broadcast", async () => {
  const { destination, usdc, origin } = world;
  // Until the allowance is revoked, the router may take ten units from the stranger.
  const { router } = destination.chain.contracts;
  await destination.send(world.stranger, approveCall(usdc, router, 10n));
  await destination.mine();
  await world.watch(destination);
  const takingCall = {
    to: usdc,
    value: "0",
    data: encodeFunctionData({
      abi: parseAbi(["function transferFrom(address from, address to, uint256 amount)"]),
      args: [world.stranger.address, world.anAddress(), 10n],
    }),
  };
  const agreed = await executeQuote({ calls: [takingCall] }, { refundTo: world.anAddress() });
  await destination.send(world.stranger, approveCall(usdc, router, 0n));
  await destination.mine();
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "EXECUTION_REVERTED" });
  expect(await world.paymentsOf(agreed, destination)).toEqual([]);
  expect(await origin.balance(agreed.terms.refundTo, usdc)).toBeGreaterThan(0n);
  await world.round();
  const { settled, originUsd, costUsd } = await world.execution(agreed.requestId);
  expect({ settled, costUsd }).toEqual({ settled: true, costUsd: originUsd });
  expect((await world.book()).pending).toBe(0n);
});

test("refuses calls that would take the payment back from its recipient, because oracles could not attest it", async () => {
  const { destination, usdc } = world;
  const owner = privateKeyToAccount(generatePrivateKey());
  const recipient = owner.address.toLowerCase() as Address;
  await destination.fund(recipient, { native: 10n ** 18n, tokens: 0n });
  await destination.client.impersonateAccount({ address: recipient });
  await destination.client.sendTransaction({
    account: recipient,
    ...approveCall(usdc, destination.chain.contracts.router, 2n ** 255n),
    gas: 100_000n,
  });
  await destination.mine();
  await world.watch(destination);
  const takingCall = {
    to: usdc,
    value: "0",
    data: encodeFunctionData({
      abi: parseAbi(["function transferFrom(address from, address to, uint256 amount)"]),
      args: [recipient, world.anAddress(), 10n],
    }),
  };
  const { call } = await quotedExecution({ calls: [takingCall] }, { recipient });
  await expect(world.execute(call)).rejects.toThrow(/oracles could not attest it/);
});

test("refuses calls that deposit for the order being paid: oracles could mistake the fill for the order's deposit", async () => {
  const depositing = (id: Hex): CallsWithFill => {
    const args = [world.anAddress(), id] as const;
    const data = encodeFunctionData({ abi: depositoryAbi, functionName: "depositNative", args });
    return { calls: [{ to: world.destination.chain.contracts.depository, value: "1", data }] };
  };
  const { agreed, call } = await quotedExecution({ calls: [] });
  const { orderId } = agreed.terms;
  await expect(world.execute({ ...call, callsWithFill: depositing(orderId) })).rejects.toThrow(
    /use another deposit id/,
  );
});

test.each([
  ["the payment", 90_000_000n],
  ["a part of the payment", 1n],
])(
  "calls that take %s back only in the block revert with the payment, and the deposit is refunded",
  async (_what, amount) => {
    const { destination, origin, usdc } = world;
    const recipient = world.anAddress();
    const thief = world.anAddress();
    const taker = await aTaker(recipient, thief, amount);
    const agreed = await executeQuote(callTo(taker), { recipient, refundTo: world.anAddress() });
    await untilSubmitted(agreed);
    await flip(taker);
    const end = await world.untilFinal(agreed.requestId);
    expect(end).toMatchObject({ status: "refund", failReason: "TRANSACTION_REVERTED" });
    expect(await destination.balance(thief, usdc)).toBe(0n);
    expect(await destination.balance(recipient, usdc)).toBe(0n);
    expect(await world.paymentsOf(agreed, destination)).toEqual([]);
    expect(await origin.balance(agreed.terms.refundTo, usdc)).toBeGreaterThan(0n);
  },
);

test("accepts calls that could take the payment back but do not, and oracles count the payment", async () => {
  const { destination, usdc } = world;
  const recipient = world.anAddress();
  const taker = await aTaker(recipient, world.anAddress(), 90_000_000n);
  const agreed = await executeQuote(callTo(taker), { recipient });
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "success" });
  const { expectedAmount } = agreed.terms.destination;
  expect(await destination.balance(recipient, usdc)).toBe(expectedAmount);
  const [payment] = await world.paymentsOf(agreed, destination);
  expect(await judgeFill(world, agreed, payment?.hash ?? "0x")).toEqual({ amounts: [expectedAmount] });
});

test("the app alone pays, to the last wei, for calls that burn gas and revert in the block", async () => {
  const { destination, origin, solver, usdc } = world;
  const burner = await aBurner();
  const before = await destination.balance(solver.address, native);
  const agreed = await executeQuote(callTo(burner), { refundTo: world.anAddress() });
  const reserved = await world.book();
  const {
    gasLimit,
    maxFeePerGas,
    destination: pricedCalls,
    costUsd: maxUsd,
  } = await world.execution(agreed.requestId);
  if (pricedCalls === undefined) throw new Error("missing calls of the fill");
  const maxWei =
    gasLimit * maxFeePerGas + (pricedCalls.plainGas + pricedCalls.extraGas) * pricedCalls.maxFeePerGas;
  expect(maxUsd).toBeGreaterThanOrEqual(maxWei * 2_500n);
  await untilSubmitted(agreed);
  await flip(burner);
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "TRANSACTION_REVERTED" });
  for (let round = 0; round < 4; round += 1) await world.round();
  const lostWei = before - (await destination.balance(solver.address, native));
  expect(lostWei).toBeGreaterThan(10n ** 15n);
  const { originUsd = 0n, destinationUsd, costUsd, settled } = await world.execution(agreed.requestId);
  expect(destinationUsd).toBe(lostWei * 2_500n);
  expect({ settled, costUsd }).toEqual({ settled: true, costUsd: originUsd + lostWei * 2_500n });
  const { balance, pending, fees } = await world.book();
  expect({ pending, sum: balance + fees }).toEqual({
    pending: 0n,
    sum: reserved.balance + reserved.pending + reserved.fees,
  });
  expect(fees * 10n ** 12n).toBeGreaterThanOrEqual(costUsd);
  expect(world.events.of("execution_overrun")).toEqual([]);
  // The gas reduces neither the user's refund nor the solver's daily limit.
  expect(await origin.balance(agreed.terms.refundTo, usdc)).toBeGreaterThan(99_500_000n);
  expect(await world.services.reads.unpaidBurnsSince(0)).toEqual([]);
});

test.each<readonly [string, (requestId: RequestId) => Promise<void>]>([
  ["the execution's nonce is canceled", abandonExecution],
  ["the remaining fees are waived", waiveFees],
])(
  "charges the gas of a fast fill's calls even if the execution itself is never mined: %s",
  async (_how, end) => {
    const { agreed, lostWei } = await gasUsedInAdvance();
    expect((await world.request(agreed.requestId)).state.name).toBe("quoted");
    await end(agreed.requestId);
    const { destinationUsd, costUsd, settled } = await world.execution(agreed.requestId);
    const lostUsd = lostWei * 2_500n;
    expect({ destinationUsd, costUsd, settled }).toEqual({
      destinationUsd: lostUsd,
      costUsd: lostUsd,
      settled: true,
    });
    const { pending, fees } = await world.book();
    expect(pending).toBe(0n);
    expect(fees * 10n ** 12n).toBeGreaterThanOrEqual(lostUsd);
  },
);

test("does not retry calls that reverted in a block when the deposit arrives, and refunds the deposit", async () => {
  const { destination, solver } = world;
  const { agreed, burner, lostWei } = await gasUsedInAdvance();
  await setSlot(burner, 0n);
  const before = await destination.balance(solver.address, native);
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "EXECUTION_REVERTED" });
  for (let round = 0; round < 4; round += 1) await world.round();
  expect(await destination.balance(solver.address, native)).toBe(before);
  const { originUsd = 0n, destinationUsd, costUsd } = await world.execution(agreed.requestId);
  expect(destinationUsd).toBe(lostWei * 2_500n);
  expect(costUsd).toBe(originUsd + lostWei * 2_500n);
});

test("calls wait while gas costs more than was reserved for them, and are then made within the reservation", async () => {
  const { destination, clock } = world;
  const agreed = await executeQuote({ calls: [mintWithFill(world.anAddress(), 3n)] });
  const { destination: priced } = await world.execution(agreed.requestId);
  for (let round = 0; round < 6; round += 1) {
    // The base fee of the next block falls by an eighth, which is still above the reservation.
    await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 2n * (priced?.maxFeePerGas ?? 0n) });
    clock.forward(3_000);
    await world.round();
  }
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  expect(await world.paymentsOf(agreed, destination)).toEqual([]);
  await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_000_000_000n });
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "success" });
  const slot = await fillSlot(agreed);
  expect(slot?.maxFeePerGas).toBeLessThanOrEqual(priced?.maxFeePerGas ?? 0n);
  expect(slot?.gasLimit).toBeLessThanOrEqual((priced?.plainGas ?? 0n) + (priced?.extraGas ?? 0n));
});

test("calls wait while the node cannot trace, and a later refund does not name the solver's balance as the reason", async () => {
  const { destination, clock, services } = world;
  const agreed = await executeQuote(
    { calls: [mintWithFill(world.anAddress(), 3n)] },
    { refundTo: world.anAddress() },
  );
  const { destination: priced } = await world.execution(agreed.requestId);
  while ((await world.request(agreed.requestId)).state.name !== "fillable") {
    // High gas prices delay the fill.
    await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 2n * (priced?.maxFeePerGas ?? 0n) });
    clock.forward(3_000);
    await world.round();
  }
  await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_000_000_000n });
  await destination.mine();
  await destination.announce();
  const { connection } = destination.connected;
  const trace: typeof connection.reader.trace = async (...question) => {
    const outcome = await connection.reader.trace(...question);
    return outcome.kind === "ok" ? { ...outcome, effects: { kind: "unseen" } } : outcome;
  };
  const blind = {
    ...destination.connected,
    connection: { ...connection, reader: { ...connection.reader, trace } },
  };
  const get = (id: number) => (id === destination.chain.id ? blind : services.chains.get(id));
  const tryFill = async () =>
    await pay({ ...services, chains: { ...services.chains, get } }, fillLeg, agreed.requestId);
  expect(await tryFill()).toEqual({ waitMs: 1_000, why: "the node cannot trace the calls" });
  clock.forward(services.enginePolicy.inventoryWaitMs + 1_000);
  expect(await tryFill()).toEqual({ waitMs: 0 });
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "SOLVER_CAPACITY_EXCEEDED",
  });
});

test.each([
  ["a little more gas by the time of the fill, they get no more than was reserved", 1_800n, "success"],
  ["more gas than was reserved, they are not made", 9_000n, "refund"],
])("when calls need %s", async (_what, loops, status) => {
  const { destination } = world;
  const looper = await aLooper(1_000n);
  const agreed = await executeQuote(callTo(looper), { refundTo: world.anAddress() });
  const { destination: priced } = await world.execution(agreed.requestId);
  await setSlot(looper, loops);
  await destination.mine();
  expect((await world.untilFinal(agreed.requestId)).status).toBe(status);
  const slot = await fillSlot(agreed);
  if (status === "success") expect(slot?.gasLimit).toBe((priced?.plainGas ?? 0n) + (priced?.extraGas ?? 0n));
  else expect(slot).toBeUndefined();
});

test("calls that need more gas than a third of a usual block, or than a block can hold with headroom, are refused before they are accepted", async () => {
  const { client } = world.destination;
  const tooExpensive = await quotedExecution(callTo(await aLooper(300_000n)));
  const outOfGas = { kind: "reverts", failure: { label: "OUT_OF_GAS" } };
  expect(await world.tryExecute(tooExpensive.call)).toMatchObject(outOfGas);
  const affordable = await quotedExecution(callTo(await aLooper(60_000n)));
  await client.setBlockGasLimit({ gasLimit: 3_000_000n });
  await world.destination.mine();
  expect(await world.tryExecute(affordable.call)).toMatchObject(outOfGas);
  await client.setBlockGasLimit({ gasLimit: 4_000_000n });
  await world.destination.mine();
  expect(await world.tryExecute(affordable.call)).toMatchObject({ kind: "accepted" });
  expect(await world.untilFinal(affordable.agreed.requestId)).toMatchObject({ status: "success" });
});

test("a fill that no longer fits into a block is not broadcast, and delays no other fill", async () => {
  const { destination, solver } = world;
  const agreed = await executeQuote(callTo(await aLooper(60_000n)), { refundTo: world.anAddress() });
  await destination.client.setBlockGasLimit({ gasLimit: 3_000_000n });
  const nonce = await destination.client.getTransactionCount(solver);
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "EXECUTION_REVERTED" });
  expect(await fillSlot(agreed)).toBeUndefined();
  expect(await destination.client.getTransactionCount(solver)).toBe(nonce);
});

test("sends authorizations with the fill, in a type 4 transaction", async () => {
  const { destination } = world;
  const there = await world.withSmartAccounts(destination);
  const owner = privateKeyToAccount(generatePrivateKey());
  const { r, s, yParity, address, nonce } = await owner.signAuthorization({
    chainId: destination.chain.id,
    address: contractOf(there, "simple7702Account"),
    nonce: 0,
  });
  const authorization = {
    chainId: destination.chain.id,
    address,
    nonce,
    yParity: yParity === 1 ? 1 : 0,
    r,
    s,
  } as const;
  const agreed = await executeQuote({
    calls: [mintWithFill(world.anAddress(), 3n)],
    authorizationList: [authorization],
  });
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "success" });
  const [payment] = await world.paymentsOf(agreed, destination);
  const sent = await destination.client.getTransaction({ hash: payment?.hash ?? "0x" });
  expect(sent.type).toBe("eip7702");
  expect(await destination.client.getCode({ address: owner.address })).toMatch(/^0xef0100/);
});

test("an app's deny rules apply to calls with the fill at every depth", async () => {
  const { multicall3 } = world.destination.chain.contracts;
  const denied = world.anAddress();
  const mint = mintWithFill(world.anAddress(), 3n);
  const through = (to: Address, callData: Hex): CallsWithFill["calls"][number] => ({
    to: multicall3,
    value: "0",
    data: encodeFunctionData({
      abi: parseAbi([
        "function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable",
      ]),
      args: [[{ target: to, allowFailure: true, callData }]],
    }),
  });
  const refusing = (rules: Partial<SponsorshipRules>) => ({
    ...world.app,
    rules: { ...world.app.rules, ...rules },
  });
  const noMints = refusing({ denySelectors: [{ selector: mint.data.slice(0, 10) as Hex }] });
  const notThere = refusing({ denyTargets: [denied] });
  const direct = await quotedExecution({ calls: [mint] });
  await expect(world.execute(direct.call, noMints)).rejects.toThrow(/denySelectors/);
  const deep = await quotedExecution({ calls: [through(world.usdc, mint.data as Hex)] });
  await expect(world.execute(deep.call, noMints)).rejects.toThrow(/denySelectors/);
  const elsewhere = await quotedExecution({ calls: [mint, through(denied, "0x")] });
  await expect(world.execute(elsewhere.call, notThere)).rejects.toThrow(/denyTargets/);
  // The app's deny rules do not apply to the payment, because the solver itself makes it.
  const noTransfers = refusing({ denySelectors: [{ selector: "0xa9059cbb" }] });
  await world.execute(deep.call, noTransfers).catch((error: unknown) => {
    throw new Error("the mint failed", { cause: error });
  });
});

test("without a trace, calls in a fill are refused with a fault of the service, because their effects are unknown", async () => {
  const { destination } = world;
  const { call } = await quotedExecution({ calls: [mintWithFill(world.anAddress(), 3n)] });
  const strict = { ...world.app, rules: { ...world.app.rules, denyTargets: [world.anAddress()] } };
  const { reader } = destination.connected.connection;
  const trace = reader.trace.bind(reader);
  const untraced: typeof trace = async (...asking) => {
    const outcome = await trace(...asking);
    return outcome.kind === "ok" ? { ...outcome, calls: undefined } : outcome;
  };
  const services = {
    ...world.services,
    chains: {
      ...world.services.chains,
      get: (id: number) =>
        id === destination.chain.id
          ? {
              ...destination.connected,
              connection: { ...destination.connected.connection, reader: { ...reader, trace: untraced } },
            }
          : world.services.chains.get(id),
    },
  };
  await expect(world.execute(call, strict, services)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  await world.execute(call, world.app, services);
});

test("refuses calls with a payment in a token that the solver has not approved to the proxy", async () => {
  await approveToProxy(0n);
  const { call } = await quotedExecution({ calls: [mintWithFill(world.anAddress(), 3n)] });
  await expect(world.execute(call)).rejects.toThrow(
    /has not approved the approval proxy to spend enough of it/,
  );
});

test("charges only the calls of a fast fill whose execution is never mined", async () => {
  const { origin, destination, clock, usdc } = world;
  const minted = world.anAddress();
  const agreed = await executeQuote({ calls: [mintWithFill(minted, 3n)] });
  await world.work();
  const sponsor = await aSponsor(world, 1_000);
  expect(await sponsor.fastFill(agreed)).toBe("queued");
  await world.work();
  await destination.mine();
  await world.watch(destination);
  expect(await destination.balance(minted, usdc)).toBe(3n);
  clock.forward(601_000);
  await world.maintainLaneOf(origin);
  for (let round = 0; round < 5; round++) await world.round();
  expect(await world.execution(agreed.requestId)).toMatchObject({ originUsd: 0n, settled: true });
  const { destinationUsd = 0n, costUsd } = await world.execution(agreed.requestId);
  expect(destinationUsd).toBeGreaterThan(0n);
  expect(costUsd).toBe(destinationUsd);
  expect((await world.book()).pending).toBe(0n);
  expect(await sponsor.holdState(agreed)).toBe("active");
});

test("after an abandoned execution, the deposit is refunded without a charge, and the solver does not make the calls at its own expense", async () => {
  const { origin } = world;
  const minted = world.anAddress();
  const agreed = await executeQuote({ calls: [mintWithFill(minted, 3n)] }, { refundTo: world.anAddress() });
  await world.work();
  await abandonExecution();
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "failure",
    failReason: "TRANSACTION_NOT_INCLUDED",
  });
  expect(await world.execution(agreed.requestId)).toMatchObject({ settled: true, costUsd: 0n });
  await deposit(origin, world.user, agreed);
  await origin.mine();
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "EXECUTION_REVERTED",
  });
  expect(await world.destination.balance(minted, world.usdc)).toBe(0n);
});

test("refuses destination calls without a quote, or without a sponsor", async () => {
  const extraCalls = { calls: [mintWithFill(world.anAddress(), 3n)] };
  await expect(
    world.execute({ ...world.mintCall(world.anAddress()), callsWithFill: extraCalls }),
  ).rejects.toThrow(/requires requestId/);
  const { call } = await quotedExecution(extraCalls, { originGasOverhead: 600_000 });
  await expect(world.execute({ ...call, subsidizeFees: false })).rejects.toThrow(
    /requires subsidizeFees to be true/,
  );
});

/**
 * A contract that sends this much of the victim's USDC to the thief after {@link flip} was called. The victim
 * approved the contract.
 */
async function aTaker(victim: Address, thief: Address, amount: bigint): Promise<Address> {
  const { destination, usdc } = world;
  const taker = world.anAddress();
  const { data } = transferFromCall(usdc, victim, thief, amount);
  // if (slot 0 != 0) usdc.call(data)
  const code = `0x60005415603057606460326000396000600060646000600073${usdc.slice(2)}5af1505b00${data.slice(2)}`;
  await destination.client.setCode({ address: taker, bytecode: code as Hex });
  await destination.fund(victim, { native: 10n ** 18n, tokens: 0n });
  await destination.client.impersonateAccount({ address: victim });
  const approval = approveCall(usdc, taker, 2n ** 255n);
  await destination.client.sendTransaction({ account: victim, ...approval, gas: 100_000n });
  await destination.mine();
  await world.watch(destination);
  return taker;
}

/** A contract that burns about 2.5 million gas, and also reverts after {@link flip} was called. */
async function aBurner(): Promise<Address> {
  const { destination } = world;
  const burner = world.anAddress();
  // for (n = 100,000; n > 0; n--); if (slot 0 != 0) revert()
  const bytecode = "0x620186a05b600190038060045750600054601557005b60006000fd";
  await destination.client.setCode({ address: burner, bytecode });
  await destination.mine();
  await world.watch(destination);
  return burner;
}

/** A contract that burns forty gas `loops` times, or as often as {@link setSlot} sets later. */
async function aLooper(loops: bigint): Promise<Address> {
  const { destination } = world;
  const looper = world.anAddress();
  // for (n = slot 0; n > 0; n--)
  await destination.client.setCode({ address: looper, bytecode: "0x5f545b8015600f57600190036002565b00" });
  await setSlot(looper, loops);
  await destination.mine();
  await world.watch(destination);
  return looper;
}

/** A fast fill whose calls used gas in a final block before the execution was mined. */
async function gasUsedInAdvance(): Promise<{ agreed: QuotedRequest; burner: Address; lostWei: bigint }> {
  const { destination, solver } = world;
  const burner = await aBurner();
  const before = await destination.balance(solver.address, native);
  const agreed = await executeQuote(callTo(burner), { refundTo: world.anAddress() });
  await world.work();
  const sponsor = await aSponsor(world, 1_000);
  expect(await sponsor.fastFill(agreed)).toBe("queued");
  await world.work();
  await flip(burner);
  for (let block = 0; block < 3; block += 1) {
    await destination.mine();
    await world.watch(destination);
  }
  const lostWei = before - (await destination.balance(solver.address, native));
  expect(lostWei).toBeGreaterThan(0n);
  return { agreed, burner, lostWei };
}

/** Abandons the execution before it is mined. */
async function abandonExecution(): Promise<void> {
  world.clock.forward(601_000);
  await world.maintainLaneOf(world.origin);
  for (let round = 0; round < 5; round += 1) await world.round();
}

async function waiveFees(requestId: RequestId): Promise<void> {
  await world.services.uow.run(async (tx) => await forgiveCosts(world.services, tx, requestId));
}

function callTo(to: Address): CallsWithFill {
  return { calls: [{ to, value: "0", data: "0x00" }] };
}

async function fillSlot({ requestId }: QuotedRequest): Promise<Slot | undefined> {
  return await world.services.reads.slotOfLeg("fill", requestId);
}

/** Makes a contract on the destination behave differently than in the earlier simulation. */
async function flip(address: Address): Promise<void> {
  await setSlot(address, 1n);
}

async function setSlot(address: Address, value: bigint): Promise<void> {
  const word: Hex = `0x${value.toString(16).padStart(64, "0")}`;
  await world.destination.client.setStorageAt({ address, index: 0, value: word });
}

/** Runs rounds until the fill is broadcast, and does not mine it. */
async function untilSubmitted({ requestId }: QuotedRequest): Promise<void> {
  for (let round = 0; round < 15; round += 1) {
    if ((await world.request(requestId)).state.name === "submitted") return;
    world.clock.forward(5_000);
    await world.round();
  }
  throw new Error("the fill was not broadcast");
}

/** A quote for a smart account, and the quote's execution with calls after the fill. */
async function quotedExecution(
  extraCalls: CallsWithFill,
  ask: object = {},
): Promise<{ agreed: QuotedRequest; call: RequestedExecution }> {
  const account = await simpleAccount(chain, privateKeyToAccount(generatePrivateKey()), "0.8");
  await world.origin.fund(account.address, { native: 0n, tokens: 100n });
  await world.origin.mine();
  await world.origin.announce();
  const agreed = await world.quote({ user: account.address, recipient: world.anAddress(), ...ask });
  const steps = transactionsOf(agreed.answer.steps);
  const { to, data } = await account.sign(
    steps.map((step) => ({
      to: step.to as Address,
      value: BigInt(step.value),
      data: step.data as Address,
    })),
  );
  return { agreed, call: { to, data, requestId: agreed.requestId, callsWithFill: extraCalls } };
}

async function executeQuote(extraCalls: CallsWithFill, ask: object = {}): Promise<QuotedRequest> {
  const { agreed, call } = await quotedExecution(extraCalls, ask);
  await world.execute(call);
  return agreed;
}
