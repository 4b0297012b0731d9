import type { Hex } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lookUpAddress } from "../../../apps/api/src/deposits/addresses/look-up-address.ts";
import { startSolanaAddressWorld, type SolanaAddressWorld } from "../../support/solana-address-world.ts";

// Deposit addresses on a local Solana cluster with the committed programs. Each payment to an address is
// filled or refunded once, and the tests account for every base unit.

let world: SolanaAddressWorld;

beforeAll(async () => {
  world = await startSolanaAddressWorld();
}, 120_000);
afterAll(async () => await world.stop());

const SOL = 1_000_000_000n;
const received = async (recipient: Hex): Promise<bigint> =>
  await world.destination.balance(recipient, world.usdc);
const statesOf = async (at: Hex): Promise<(bigint | string)[][]> =>
  (await world.sweepsFrom(at)).map(({ amount, excess, state }) => [amount, excess, state]);
const vaultBalance = async (currency = world.currencies.sol): Promise<bigint> =>
  await world.balanceOf(world.solana.depository.vault, currency);

test("fills an open address once its sweep is final, and reports fundsAt until then", async () => {
  const { sol } = world.currencies;
  const { address, bytes, requestId, terms, answer } = await world.solanaAddress(sol, SOL);
  const [step] = answer.steps;
  // The step is a plain transfer, which the system program makes.
  expect(step).toMatchObject({ items: [{ data: { instructions: [{ programId: "1".repeat(32) }] } }] });
  const vaultBefore = await vaultBalance();
  await world.payTo(address, sol, SOL);
  for (let n = 0; (await world.status(requestId)).status === "waiting" && n < 5; n++)
    await world.solanaRound();
  expect(await world.status(requestId)).toMatchObject({ status: "depositing", fundsAt: "depositAddress" });
  expect(await received(terms.recipient)).toBe(0n);
  await world.untilStatus(requestId, "success");
  expect(await received(terms.recipient)).toBe(terms.destination.expectedAmount);
  expect([await world.balanceOf(address, sol), (await vaultBalance()) - vaultBefore]).toEqual([0n, SOL]);
  const found = await lookUpAddress(world.watching(), { address }, undefined);
  expect(found).toMatchObject({ depositAddress: address, funds: [], chainIds: [world.solanaChain.chain.id] });
  expect(found?.deposits[0]?.depositTxHash).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
  expect(await statesOf(bytes)).toMatchObject([[SOL, 0n, expect.stringMatching(/mined|final/)]]);
});

test("quotes each further payment of tokens to an open address once, and leaves dust there", async () => {
  const { usdc } = world.currencies;
  const { address, bytes, terms } = await world.solanaAddress(usdc, 100_000_000n);
  const vaultBefore = await vaultBalance(usdc);
  await world.payTo(address, usdc, 70_000_000n);
  // The second payment arrives while the first one is being swept.
  while ((await statesOf(bytes)).length === 0) await world.solanaRound();
  await world.payTo(address, usdc, 40_000_000n);
  await world.solanaRound(12);
  expect(await statesOf(bytes)).toEqual([
    [70_000_000n, 0n, "final"],
    [40_000_000n, 0n, "final"],
  ]);
  const successors = (await world.requestsOf(bytes)).slice(1);
  const outputs = await Promise.all(
    successors.map(async (id) => (await world.request(id)).terms.destination.expectedAmount),
  );
  expect(outputs).toHaveLength(2);
  expect(await received(terms.recipient)).toBe(outputs.reduce((sum, output) => sum + output, 0n));
  await world.payTo(address, usdc, 700n);
  await world.solanaRound(4);
  const found = await lookUpAddress(world.watching(), { address }, undefined);
  expect(found?.funds).toMatchObject([{ amount: "700", heldReason: "AMOUNT_TOO_LOW" }]);
  expect([await world.balanceOf(address, usdc), (await vaultBalance(usdc)) - vaultBefore]).toEqual([
    700n,
    110_000_000n,
  ]);
});

test("a strict address fills its quote and refunds the excess, underpaid and late payments to refundTo", async () => {
  for (const [currency, quoted, over, under] of [
    [world.currencies.sol, SOL, (13n * SOL) / 10n, SOL / 2n],
    [world.currencies.usdc, 100_000_000n, 130_000_000n, 50_000_000n],
  ] as const) {
    const refundTos = await Promise.all([world.aWallet(), world.aWallet(), world.aWallet()]);
    const quotes = [];
    for (const refundTo of refundTos)
      quotes.push(await world.solanaAddress(currency, quoted, { strict: true, refundTo, ttl: 3_600 }));
    const [more, less, late] = quotes;
    if (more === undefined || less === undefined || late === undefined)
      throw new Error("expected three quotes");
    const vaultBefore = await vaultBalance(currency);
    await world.payTo(more.address, currency, over);
    await world.payTo(less.address, currency, under);
    await world.untilStatus(more.requestId, "success");
    expect(await received(more.terms.recipient)).toBe(more.terms.destination.expectedAmount);
    world.clock.forward(3_600_000);
    await world.payTo(late.address, currency, quoted);
    await world.solanaRound(14);
    // One transaction deposits the quoted amount and the excess.
    expect(await statesOf(more.bytes)).toEqual([[quoted, over - quoted, "final"]]);
    for (const [at, paid] of [over - quoted, under, quoted].entries()) {
      const refund = await world.balanceOf(refundTos[at] ?? "", currency);
      expect(refund).toBeLessThan(paid);
      // The refund also pays the rent of the recipient's token account.
      expect(refund).toBeGreaterThan(paid - (currency === world.currencies.sol ? 200_000n : 400_000n));
    }
    for (const { terms, address } of [less, late])
      expect([await received(terms.recipient), await world.balanceOf(address, currency)]).toEqual([0n, 0n]);
    expect((await vaultBalance(currency)) - vaultBefore).toBe(over + under + quoted);
  }
}, 60_000);

test("deposits dust below the rent minimum together with the payment, and fills the quoted amount", async () => {
  const { sol } = world.currencies;
  const { address, requestId, terms } = await world.solanaAddress(sol, SOL, { strict: true });
  await world.payTo(address, sol, SOL);
  await world.payTo(address, sol, 1n);
  await world.untilStatus(requestId, "success");
  expect(await received(terms.recipient)).toBe(terms.destination.expectedAmount);
  expect(await world.balanceOf(address, sol)).toBe(0n);
  const amounts = (await world.depositsOf(requestId)).map(({ amount }) => amount);
  expect(amounts.toSorted((a, b) => Number(a - b))).toEqual([1n, SOL]);
});

test("after a crash before or after the broadcast of a sweep, another process moves the funds once", async () => {
  const { services, solanaChain } = world;
  const { sol } = world.currencies;
  const vaultBefore = await vaultBalance();
  for (const failingCall of ["prepare", "send"] as const) {
    const { address, bytes, requestId, terms } = await world.solanaAddress(sol, SOL);
    await world.payTo(address, sol, SOL);
    const crashing = {
      ...solanaChain,
      connection: {
        ...solanaChain.connection,
        [failingCall]: async () => await Promise.reject(new Error("died")),
      },
    };
    const workerServices = { ...services, chains: { ...services.chains, nonEvm: () => crashing } };
    await expect(world.solanaRound(4, workerServices)).rejects.toThrow(/^died|^maintenance failed/);
    expect(await statesOf(bytes)).toEqual([[SOL, 0n, "sent"]]);
    world.clock.forward(60_000);
    await world.untilStatus(requestId, "success");
    expect(await received(terms.recipient)).toBe(terms.destination.expectedAmount);
    await world.solanaRound(3);
    expect(await statesOf(bytes)).toEqual([[SOL, 0n, "final"]]);
  }
  expect((await vaultBalance()) - vaultBefore).toBe(2n * SOL);
});

test("sweeps again if the fork with the sweep was dropped, and moves the funds once", async () => {
  const { sol } = world.currencies;
  const { controls } = world.solana.node;
  const { address, bytes, requestId, terms } = await world.solanaAddress(sol, SOL);
  const vaultBefore = await vaultBalance();
  await world.payTo(address, sol, SOL);
  // The payment is final, and no later transaction is.
  controls.finalize();
  controls.pauseFinality();
  const from = controls.slot();
  for (let n = 0; (await world.balanceOf(address, sol)) > 0n && n < 8; n++) await world.solanaRound();
  expect([await world.balanceOf(address, sol), (await vaultBalance()) - vaultBefore]).toEqual([0n, SOL]);
  controls.dropFrom(from);
  controls.resumeFinality();
  expect(await world.balanceOf(address, sol)).toBe(SOL);
  expect(await received(terms.recipient)).toBe(0n);
  // The first attempt expires with its blockhash, unless the node includes it again.
  controls.passSlots(150 + 32 + 10);
  await world.untilStatus(requestId, "success");
  expect(await received(terms.recipient)).toBe(terms.destination.expectedAmount);
  await world.solanaRound(3);
  expect(await statesOf(bytes)).toEqual([[SOL, 0n, "final"]]);
  expect([await world.balanceOf(address, sol), (await vaultBalance()) - vaultBefore]).toEqual([0n, SOL]);
});

test("a strict address refunds a payment in another currency than quoted", async () => {
  const { sol, usdc } = world.currencies;
  const refundTo = await world.aWallet();
  const { address, bytes, requestId } = await world.solanaAddress(sol, SOL, { strict: true, refundTo });
  await world.payTo(address, usdc, 20_000_000n);
  await world.solanaRound(10);
  expect(await statesOf(bytes)).toEqual([[20_000_000n, 0n, "final"]]);
  const refund = await world.balanceOf(refundTo, usdc);
  expect(refund).toBeGreaterThan(19_600_000n);
  expect(refund).toBeLessThan(20_000_000n);
  expect((await world.status(requestId)).status).not.toBe("success");
});

test.each([
  ["an amount below Solana's minimum", "sol", 890_879n, {}, "AMOUNT_TOO_LOW", /at least 890880 lamports/],
  ["a token that charges for transfers", "fee", 50_000_000n, {}, "UNSUPPORTED_CURRENCY", /transfer fee/],
  ["no refundTo", "sol", SOL, { refundTo: undefined }, "INVALID_REQUEST", /refundTo is required/],
  ["refunds to the sender", "sol", SOL, { refundTo: `0x${"0".repeat(40)}` }, "INVALID_REQUEST", /refundTo/],
  [
    "a recovery address",
    "sol",
    SOL,
    { recoveryAddress: `0x${"11".repeat(20)}` },
    "INVALID_REQUEST",
    /recoveryAddress is only supported on EVM chains/,
  ],
] as const)("refuses a quote with %s", async (_, currency, amount, ask, code, message) => {
  const quoted = world.solanaAddress(world.currencies[currency], amount, { ...ask });
  await expect(quoted).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
});
