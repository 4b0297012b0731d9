import { amountToUsdUp } from "@causeway/domain";
import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { SlotPlan } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { DepositAddress, SweepRecord } from "../../deposits/addresses/deposit-addresses.port.ts";
import { addressesOn, sweepsUnderWay } from "../../deposits/index.ts";

/**
 * A sweep may cost this multiple of what its quote charges. Beyond it, it waits for lower fees or a new
 * quote.
 */
const MAX_FEE_FACTOR = 3n;
/** After this time (ms) a signed sweep that no node has is canceled, and its funds are decided again. */
const CANCEL_AFTER_MS = 3600_000;

/** What addresses derive from, for operators. */
const SOURCES = {
  keys: "DEPOSIT_ADDRESS_BITCOIN_XPUB",
  program: "depositAddressProgram, the depository and the solver's account",
} as const;

export type TransferSweepPlan =
  | { readonly kind: "ready"; readonly plan: SlotPlan }
  /** Only time or an operator can help; `isQuiet`: nothing is wrong. */
  | { readonly kind: "wait"; readonly why: string; readonly isQuiet?: true }
  /** It waits for lower fees while its order can be filled. */
  | { readonly kind: "tooExpensive"; readonly why: string }
  /** The funds are not at the address. */
  | { readonly kind: "refused"; readonly why: string };

/**
 * Plans the sweep of a deposit address by a transaction of the solver's lane. On Bitcoin, it spends the
 * address's outputs, and a solver output for the fee: a replacement or cancellation spends that output, too,
 * and so conflicts even if the user's payment is reorged out. On Solana, the address's program pays.
 * @throws RpcFault, ServiceError
 */
export async function planTransferSweep(
  services: WorkerServices,
  connected: ConnectedNonEvmChain,
  sweep: SweepRecord,
  { key }: DepositAddress,
): Promise<TransferSweepPlan> {
  const { id, address, currency, amount, excess, requestId } = sweep;
  const { chain, connection } = connected;
  const { depositAddresses } = connection;
  if (depositAddresses === undefined)
    return { kind: "wait", why: "deposit addresses of the chain are not configured" };
  if (depositAddresses.addressOf(key) !== address)
    return { kind: "wait", why: `the address does not derive from ${SOURCES[depositAddresses.kind]}` };
  const problem = await depositAddresses.problem?.();
  if (problem !== undefined) return { kind: "wait", why: problem };
  const swept = { key, excess };
  const why = await connection.refusalOf({ recipient: chain.depository, currency, amount, sweeps: swept });
  if (why !== undefined) return { kind: "refused", why };
  const underWay = (await sweepsUnderWay(services, connected)).get(key.id) ?? [];
  // A program's sweep may also take a remainder that is too small to stay at the address, so another sweep
  // must not count on that remainder.
  if (depositAddresses.kind === "program" && underWay.length > 0)
    return { kind: "wait", why: "another sweep of the address is not final yet", isQuiet: true };
  const slots = await services.reads.unsettledSlots(chain.id, connection.solver);
  const reserved = slots.flatMap(({ attempts }) => attempts.map(({ raw }) => raw));
  if ((await depositAddresses.sweepable(key, currency, reserved)) < amount + excess) {
    const read = await depositAddresses.balances([{ address, sweeps: underWay }], [currency]);
    const held = read.balances[0]?.amount;
    return underWay.length > 0 || held === undefined || held >= amount + excess
      ? { kind: "wait", why: "the funds at the address are not final yet", isQuiet: true }
      : { kind: "refused", why: "the payments to the address are not in the chain" };
  }
  // An excessive fee leads to a new quote for the user, so a single endpoint's report is not enough.
  const paymentCost = await connection.paymentCost(chain.native.address, undefined, "quorum");
  const cost = depositAddresses.sweepCost(paymentCost);
  const excessive = await whyTooExpensive(services, connected, requestId, cost);
  if (excessive !== undefined) return { kind: "tooExpensive", why: excessive };
  const call = addressesOn(connected).sweepCall(sweep, { key });
  if (call === undefined) return { kind: "wait", why: "deposit addresses are not configured" };
  const plan = {
    chainId: chain.id,
    sender: connection.solver,
    leg: { kind: "sweep", id, requestId },
    call,
    gasLimit: 1n,
    maxFeePerGas: cost,
    maxPriorityFeePerGas: 0n,
    // The solver pays only the fee.
    outflow: { currency, amount: 0n },
    cancelAfterMs: services.clock.nowMs() + CANCEL_AFTER_MS,
  };
  return { kind: "ready", plan };
}

/** Undefined once the order can no longer be filled: the sweep is then for a refund, which pays its fee. */
async function whyTooExpensive(
  { reads, prices, clock }: WorkerServices,
  { chain: { native } }: ConnectedNonEvmChain,
  requestId: SweepRecord["requestId"],
  cost: bigint,
): Promise<string | undefined> {
  const terms = (await reads.request(requestId))?.terms;
  if (terms?.originGasUsd === undefined || clock.nowMs() > terms.fillDeadlineMs) return undefined;
  const costUsd = amountToUsdUp(cost, { decimals: native.decimals, priceUsd: await prices.usd(native) });
  return costUsd > terms.originGasUsd * MAX_FEE_FACTOR
    ? `the fee of ${cost} base units exceeds ${MAX_FEE_FACTOR} times what the quote charges for the sweep`
    : undefined;
}
