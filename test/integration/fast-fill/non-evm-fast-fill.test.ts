import { defaultSponsorshipRules, type Hex } from "@causeway/domain";
import { formatTransactionId, nativeCurrency } from "@causeway/families";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expireFastFills } from "../../../apps/api/src/executions/expire-fast-fills.ts";
import type { QuotedRequest } from "../../support/engine-world.ts";
import { violatedInvariants } from "../../support/ledger-world.ts";
import { addBitcoin, type AddedBitcoin } from "../../support/non-evm-world.ts";
import { aSponsor } from "../../support/sponsors.ts";
import { startSwapWorld, type SwapWorld } from "../../support/swap-world.ts";

// An app guarantees an unconfirmed deposit of bitcoin. The recipient is paid once, and the app pays only if
// the deposit is never confirmed.

const DEPOSIT = 200_000n;
const USER = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0";

let world: SwapWorld;
let bitcoin: AddedBitcoin;

beforeAll(async () => {
  world = await startSwapWorld({ chain: { finalityBlocks: 2 } });
  world.prices.set("bitcoin", "50000");
  bitcoin = await addBitcoin(world.services, world.clock);
}, 60_000);
afterAll(async () => {
  expect(await violatedInvariants(world.pool)).toEqual([]);
  await world.stop();
});

/** A quote from bitcoin to USDC on the second chain. */
async function quote(ttl?: number): Promise<QuotedRequest> {
  const input = {
    ...(ttl !== undefined && { ttl }),
    user: USER,
    recipient: world.anAddress(),
    originChainId: bitcoin.end.chain.id,
    originCurrency: nativeCurrency("bitcoin-vm"),
    amount: DEPOSIT.toString(),
  };
  return await world.quote(input, undefined, { chains: world.services.chains });
}

const deposit = ({ terms }: QuotedRequest, amount = DEPOSIT): Hex =>
  bitcoin.network.deposit({
    from: terms.user,
    currency: bitcoin.network.native,
    amount,
    id: terms.orderId,
  });
const received = async ({ terms }: QuotedRequest): Promise<bigint> =>
  await world.destination.balance(terms.recipient, terms.destination.currency);

async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round++) {
    world.clock.forward(1_000);
    await bitcoin.watch();
    await world.round();
  }
}

test("pays the recipient before a deposit of bitcoin counts, and frees the hold once it does", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const before = await sponsor.availableUsd();
  const agreed = await quote();
  const txHash = formatTransactionId(bitcoin.end.chain, deposit(agreed));
  expect(await sponsor.fastFill(agreed, { txHash })).toBe("queued");
  await rounds(6);
  const { expectedAmount } = agreed.terms.destination;
  expect(await received(agreed)).toBe(expectedAmount);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", inTxHashes: [] });
  expect(await sponsor.holdState(agreed)).toBe("active");
  bitcoin.network.mineUntilFinal();
  await rounds(6);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await sponsor.availableUsd()).toBe(before);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", inTxHashes: [txHash] });
  expect(await received(agreed)).toBe(expectedAmount);
});

test("debits the app when the deposit of bitcoin never counts, because it was replaced", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await quote();
  await sponsor.fastFill(agreed);
  await rounds(6);
  const paid = await received(agreed);
  expect(paid).toBe(agreed.terms.destination.expectedAmount);
  // No block ever contains a deposit for the order.
  const { fillDeadlineMs } = agreed.terms;
  const { fillGraceSeconds } = world.services.quotePolicy;
  const graceMs = fillGraceSeconds * 1_000 + world.services.enginePolicy.fastFillGraceMs;
  world.clock.forward(fillDeadlineMs + 2 * graceMs - world.clock.nowMs() + 60_000);
  await expireFastFills(world.services, 10);
  expect(await sponsor.holdState(agreed), "no block beyond the deadline was read").toBe("active");
  bitcoin.network.mineUntilFinal();
  await rounds(2);
  await expireFastFills(world.services, 10);
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  const { balance } = (await sponsor.book()).lines[0] ?? { balance: 0n };
  const lost = 1_000_000_000n - balance;
  expect(lost).toBeGreaterThanOrEqual(paid);
  expect(lost).toBeLessThan(paid + 1_000_000n);
  await expireFastFills(world.services, 10);
  expect((await sponsor.book()).lines[0]?.balance, "once").toBe(balance);
});

test("refunds a second deposit of bitcoin for a fast-filled request", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const before = await sponsor.availableUsd();
  const agreed = await quote();
  deposit(agreed);
  deposit(agreed);
  await sponsor.fastFill(agreed);
  bitcoin.network.mineUntilFinal();
  await rounds(10);
  const { network } = bitcoin;
  const back = (): bigint => network.received(agreed.terms.user, network.native);
  for (let more = 0; more < 10 && back() === 0n; more++) {
    network.mineUntilFinal();
    await rounds(1);
  }
  expect(back()).toBe(DEPOSIT - network.cost);
  expect(await sponsor.holdState(agreed)).toBe("released");
  expect(await sponsor.availableUsd()).toBe(before);
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
});

test("requires the rule allowUnsubmitted while the bitcoin transaction is not final, because it can be replaced", async () => {
  const careful = await aSponsor(world, 1_000, {
    rules: { ...defaultSponsorshipRules, allowUnsubmitted: false },
  });
  const agreed = await quote();
  const txHash = formatTransactionId(bitcoin.end.chain, deposit(agreed));
  await expect(careful.fastFill(agreed, { txHash })).rejects.toMatchObject({
    code: "FAST_FILL_REFUSED",
    message: expect.stringContaining("needs the rule allowUnsubmitted") as string,
    facts: { data: { rule: "originNotFinal", txHash } },
  });
  await expect(careful.fastFill(agreed)).rejects.toMatchObject({
    facts: { data: { rule: "originTransactionMissing" } },
  });
  expect(await careful.holdOf(agreed)).toBeUndefined();
});

test("refuses a fast fill whose named transaction is unknown, or is final without the agreed deposit", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await quote();
  const unknown = "5a".repeat(32);
  await expect(sponsor.fastFill(agreed, { txHash: unknown })).rejects.toMatchObject({
    code: "FAST_FILL_REFUSED",
    message: `Origin transaction ${unknown} is not known to the chain`,
  });
  await expect(sponsor.fastFill(agreed, { txHash: "nothing" })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    facts: { field: "txHash" },
  });
  const other = await quote();
  const txHash = formatTransactionId(bitcoin.end.chain, deposit(other));
  bitcoin.network.mineUntilFinal();
  await expect(sponsor.fastFill(agreed, { txHash })).rejects.toMatchObject({
    code: "FAST_FILL_REFUSED",
    facts: { data: { rule: "originOtherCall" } },
  });
  expect(await sponsor.holdOf(agreed)).toBeUndefined();
});

test.each([
  ["settles a deposit of bitcoin whose block is in time, however late it is final", 1_000, "accepted"],
  ["refunds a deposit of bitcoin whose block is too late to settle its fast fill", 11_000, "refund"],
] as const)("%s", async (_, afterSeconds, disposition) => {
  const { services, clock } = world;
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await quote(600);
  const enginePolicy = { ...services.enginePolicy, fillLeadMs: 3_600_000 };
  await sponsor.fastFill(agreed, {}, { ...services, enginePolicy });
  await rounds(6);
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
  clock.forward(afterSeconds * 1_000);
  deposit(agreed);
  bitcoin.network.mine();
  clock.forward(4 * 3_600_000);
  bitcoin.network.mineUntilFinal();
  await rounds(1);
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([{ disposition }]);
  const isSettled = disposition === "accepted";
  expect(await sponsor.holdState(agreed)).toBe(isSettled ? "released" : "permanent");
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
});
