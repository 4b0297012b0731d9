import { NATIVE_CURRENCY, type Hex } from "@causeway/domain";
import { nativeCurrency, parseAccount } from "@causeway/families";
import { encodeFunctionData, erc20Abi } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { QuotedRequest, QuoteOverrides } from "../../support/engine-world.ts";
import { addBitcoin, type AddedBitcoin } from "../../support/non-evm-world.ts";
import { startSwapWorld, type SwapWorld } from "../../support/swap-world.ts";

// Deposits of bitcoin whose fills make calls on an EVM chain. The tests account for the funds on both chains,
// whether the calls succeed or fail.

const DEPOSIT = 200_000n;
const USER = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0";
/** The prices of ETH and bitcoin in USD. */
const [ETHER_USD, BITCOIN_USD] = [2_500n, 50_000n];

let world: SwapWorld;
let bitcoin: AddedBitcoin;

beforeAll(async () => {
  world = await startSwapWorld({ chain: { finalityBlocks: 2 } });
  world.prices.set("bitcoin", String(BITCOIN_USD));
  bitcoin = await addBitcoin(world.services, world.clock);
}, 60_000);
afterAll(async () => await world.stop());

const received = (account: Hex): bigint => bitcoin.network.received(account, bitcoin.network.native);

/** A quote from bitcoin to USDC on the second chain. */
async function quote(ask: QuoteOverrides): Promise<QuotedRequest> {
  const input = {
    user: USER,
    recipient: world.anAddress(),
    originChainId: bitcoin.end.chain.id,
    originCurrency: nativeCurrency("bitcoin-vm"),
    amount: DEPOSIT.toString(),
    ...ask,
  };
  return await world.quote(input, undefined, { chains: world.services.chains });
}

async function pay({ terms }: QuotedRequest): Promise<void> {
  const { network, watch } = bitcoin;
  network.deposit({ from: terms.user, currency: network.native, amount: DEPOSIT, id: terms.orderId });
  network.mineUntilFinal();
  await watch();
}

async function untilFinal({ requestId }: QuotedRequest) {
  for (let round = 0; round < 30; round++) {
    const status = await world.status(requestId);
    if (status.final) return status;
    world.clock.forward(1_000);
    bitcoin.network.mineUntilFinal();
    await bitcoin.watch();
    await world.round();
  }
  throw new Error(`still ${JSON.stringify(await world.status(requestId))}`);
}

const pays = (to: Hex) => ({ to, value: "0", data: "0x" as const });
const transfer = (to: Hex, amount: bigint) => ({
  to: world.usdc,
  value: "0",
  data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] }),
});
/** Makes every call of this account revert. */
const close = async (account: Hex): Promise<void> =>
  await world.destination.client.setCode({ address: account, bytecode: "0x5f5ffd" });

test("refunds bitcoin to refundTo, minus the gas of calls that revert only in the block", async () => {
  const gate = world.anAddress();
  const refundTo = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";
  const agreed = await quote({ refundTo, txs: [pays(gate)] });
  const account = parseAccount(bitcoin.end.chain, refundTo, "refundTo");
  expect(agreed.terms.refundTo).toBe(account);
  await pay(agreed);
  await world.work();
  await close(gate);
  expect(await untilFinal(agreed)).toMatchObject({ status: "refund", failReason: "TRANSACTION_REVERTED" });
  const [reverted, ...more] = await world.services.reads.revertedSlotsOfLeg("fill", agreed.requestId);
  expect(more).toEqual([]);
  const { gasUsed = 0n, effectiveGasPrice = 0n } = reverted ?? {};
  // A satoshi at this price, in the units that wei amounts use: 18 instead of 8 decimals.
  const perSatoshi = BITCOIN_USD * 10n ** 10n;
  const gas = (gasUsed * effectiveGasPrice * ETHER_USD + perSatoshi - 1n) / perSatoshi;
  expect(gas).toBeGreaterThan(0n);
  const refund = received(account);
  expect(refund).toBe(DEPOSIT - bitcoin.network.cost - gas);
  const promised = agreed.terms.order.inputs[0]?.refunds[0]?.minimumAmount ?? 0n;
  expect(refund).toBeGreaterThanOrEqual(promised);
  expect(agreed.answer.details.refundCurrency.minimumAmount).toBe(promised.toString());
  expect(await world.destination.balance(agreed.terms.recipient, world.usdc)).toBe(0n);
});

test("reprices a deposit that is confirmed after its quote expired, and passes the new output to the calls", async () => {
  const callee = world.anAddress();
  const agreed = await quote({ txs: [transfer(callee, 30_000_000n)] });
  const { expectedAmount, minimumAmount } = agreed.terms.destination;
  world.clock.forward(agreed.terms.firmUntilMs - world.clock.nowMs() + 60_000);
  world.prices.set("bitcoin", String(BITCOIN_USD - 200n));
  await pay(agreed);
  expect((await untilFinal(agreed)).status).toBe("success");
  world.prices.set("bitcoin", String(BITCOIN_USD));
  const rest = await world.destination.balance(agreed.terms.recipient, world.usdc);
  expect(await world.destination.balance(callee, world.usdc)).toBe(30_000_000n);
  const output = rest + 30_000_000n;
  expect(output).toBeLessThan(expectedAmount);
  expect(output).toBeGreaterThanOrEqual(minimumAmount);
  // The fees stay the same, and the deposit is worth 40 cents less.
  expect(expectedAmount - output).toBeGreaterThan(390_000n);
  expect(expectedAmount - output).toBeLessThan(410_000n);
});

test("refunds bitcoin minus only the refund's cost if the calls no longer succeed before the fill", async () => {
  const gate = world.anAddress();
  const agreed = await quote({ txs: [pays(gate)] });
  await close(gate);
  const before = received(agreed.terms.user);
  await pay(agreed);
  expect(await untilFinal(agreed)).toMatchObject({ status: "refund", failReason: "EXECUTION_REVERTED" });
  expect(received(agreed.terms.user) - before).toBe(DEPOSIT - bitcoin.network.cost);
  expect(await world.destination.balance(agreed.terms.recipient, world.usdc)).toBe(0n);
});

test("a gas top-up whose recipient deploys code that reverts is refunded in bitcoin, minus the gas", async () => {
  const agreed = await quote({ topupGas: true });
  const { recipient } = agreed.terms;
  const before = received(agreed.terms.user);
  await pay(agreed);
  await world.work();
  await close(recipient);
  expect((await untilFinal(agreed)).status).toBe("refund");
  const refund = received(agreed.terms.user) - before;
  expect(refund).toBeLessThan(DEPOSIT - bitcoin.network.cost);
  expect(refund).toBeGreaterThanOrEqual(agreed.terms.order.inputs[0]?.refunds[0]?.minimumAmount ?? DEPOSIT);
  expect(await world.destination.balance(recipient, NATIVE_CURRENCY)).toBe(0n);
  expect(await world.destination.balance(recipient, world.usdc)).toBe(0n);
});
