import type { Signer } from "@causeway/attest";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { CalledChain } from "../chains/chains.port.ts";
import type { LaneCall, Leg } from "../db/leg.port.ts";
import type { Slot, SlotPlan } from "../db/records.port.ts";
import type { Services, WorkerServices } from "../db/services.port.ts";
import { type Case, takeCare } from "./care.ts";
import { fillNonceGap } from "./fill-nonce-gap.ts";
import type { WantedCall } from "./legs/contract-call-leg.ts";
import { kindOf } from "./legs/index.ts";
import type { LaneFacts, MovePolicy, Observation } from "./moves.ts";
import { payWith } from "./pay-together.ts";
import { evmPayerOn, observeMined, observeOpen, observeUsed, type Trail } from "./payers/evm.ts";
import type { LaneFunds } from "./payers/funds.port.ts";
import type { Payer } from "./payers/payer.ts";
import { whyUnexplained } from "./unexplained-nonces.ts";
import type { Sent } from "./wanted.port.ts";

/**
 * Sends calls that their contracts run once, however often they are sent, and cares for them without a
 * watcher: what the chain shows is read from its node in each round.
 */

export type CallServices = Pick<Services, "clock" | "events" | "uow" | "reads">;

type CallPolicy = Omit<MovePolicy, "orphanedAfterMs">;

export interface ContractCall extends Pick<WantedCall, "lock" | "taken"> {
  readonly signer: Signer;
  /** The account pays on this chain too, so its watcher opens the lane and explains the nonces. */
  readonly isWatched: boolean;
  readonly leg: Leg;
  readonly call: Pick<LaneCall, "to" | "data">;
  readonly gasLimit: bigint;
}

/** `waits`: the lane must not plan anything now. */
export type CallSent = Sent | { readonly kind: "waits"; readonly why: string };

/**
 * Reserves a nonce for a call, and sends it.
 * @throws RpcFault: the slot, if it was reserved, stays as it is, and the next round of care continues
 */
export async function sendContractCall(
  services: CallServices,
  on: CalledChain,
  wanted: ContractCall,
): Promise<CallSent> {
  const { chain, connection } = on;
  const { signer, leg, call, gasLimit, lock, taken } = wanted;
  const sender = signer.address;
  await openCallLane(services, on, wanted);
  const why = await whyUnexplained(services, on, sender);
  if (why !== undefined) return { kind: "waits", why };
  // The balance is not older than this block.
  const { number: blockNumber } = await connection.reader.head();
  const [amount, { maxFeePerGas, maxPriorityFeePerGas }] = await Promise.all([
    on.nativeBalance(sender),
    connection.reader.gasPrices(),
  ]);
  const plan: SlotPlan = {
    chainId: chain.id,
    sender,
    leg,
    call: { ...call, value: 0n },
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas,
    outflow: { currency: NATIVE_CURRENCY, amount: 0n },
    // It is never too late.
    cancelAfterMs: Number.MAX_SAFE_INTEGER,
  };
  const balance = () => ({ amount, blockNumber });
  const funds = { chainId: chain.id, sender, native: NATIVE_CURRENCY, balance };
  const carrying: WantedCall = { plan, ...(lock && { lock }), ...(taken && { taken }) };
  const payer = payerOf(services, on, signer, funds);
  const [sent = "moved"] = await payWith(asEngine(services, signer), payer, kindOf(plan), [carrying]);
  if (sent instanceof Error) throw sent;
  return sent;
}

/** Skips nonces that the key used elsewhere: a call that was lost in a failover has no effect twice. */
async function openCallLane(
  { reads, uow, events }: CallServices,
  { chain, connection: { reader } }: CalledChain,
  { signer: { address: sender }, isWatched }: ContractCall,
): Promise<void> {
  const used = await reader.nonce(sender, "latest");
  const lane = await reads.lane(chain.id, sender);
  if (lane !== undefined) {
    if (isWatched || lane.isServerNew || used <= lane.nextNonce) return;
    events.alarm("nonce_spent_elsewhere", { chain: chain.name, sender, nonce: used - 1 });
  }
  await uow.run((tx) => tx.lanes.open(chain.id, sender, used));
}

/**
 * One round of care for all calls on a chain: compares their slots with it, signs and sends what is due. Safe
 * to run at any time in any number of processes.
 * @param signers keys of the lanes; a lane without a key is only compared with the chain
 * @throws RpcFault; the first fault of a slot, after the others were handled. The next round continues.
 */
export async function careForCalls(
  services: CallServices,
  on: CalledChain,
  signers: readonly Signer[],
  policy: CallPolicy,
): Promise<void> {
  const calls = await services.reads.unsettledCalls(on.chain.id);
  for (const [sender, slots] of Map.groupBy(calls, (slot) => slot.sender)) {
    const signer = signers.find(({ address }) => address === sender);
    // What another process reserved or signed is sent at once: the bytes that are stored first count.
    await careForLane(services, on, { sender, slots, signer }, { ...policy, orphanedAfterMs: -1 });
  }
}

interface Lane {
  readonly sender: Slot["sender"];
  readonly slots: readonly Slot[];
  readonly signer: Signer | undefined;
}

async function careForLane(
  services: CallServices,
  on: CalledChain,
  { sender, slots, signer }: Lane,
  policy: MovePolicy,
): Promise<void> {
  const { reader } = on.connection;
  const head = await reader.head();
  const [used, final] = await Promise.all([reader.nonce(sender, "latest"), on.final(sender)]);
  const trail = await trailOfNode(on, slots, { head, finalBlock: final?.number ?? -1n });
  const following: LaneFacts = {
    turn: "used",
    replacement: "impossible",
    takesBack: "never",
    patienceMs: policy.stuckAfterMs,
    isInHand: false,
    isPatient: true,
    finalBlock: trail.finalBlock,
  };
  const isPending = ({ state, nonce }: Slot): boolean => state === "open" && nonce >= used;
  // Without its key, nothing can be signed.
  const followed = signer === undefined ? slots.filter((slot) => !isPending(slot)) : slots;
  const prices = followed.some(isPending) ? await reader.gasPrices() : undefined;
  if (prices !== undefined)
    await fillNonceGap(asEngine(services, signer), on, { sender, used, prices }, followed.filter(isPending));
  const observe = async (slot: Slot): Promise<Pick<Case, "seen" | "lane">> => {
    if (slot.state === "mined") return { seen: observeMined(slot, trail), lane: following };
    if (isPending(slot)) {
      const turn = slot.nonce === used ? "next" : "later";
      const replacement = prices && ({ prices, capWei: undefined } as const);
      const lane = { ...following, turn, ...(replacement && { replacement }), takesBack: "always" } as const;
      return { seen: observeOpen(slot), lane };
    }
    const { seen, turn } = await observeUsed(on, slot, trail);
    const isUsedForGood = turn === "used" && final !== undefined && slot.nonce < final.nonce;
    return {
      seen: seen.map((one) => finalIn(one, trail)),
      lane: { ...following, turn: isUsedForGood ? "foreign" : turn },
    };
  };
  const nowMs = services.clock.nowMs();
  const cases = await Promise.all(
    followed.map(async (slot): Promise<Case> => ({ slot, policy, nowMs, ...(await observe(slot)) })),
  );
  const payer = payerOf(services, on, signer);
  const { faults } = await takeCare(asEngine(services), payer, cases, head.number);
  if (faults.length > 0) throw faults[0];
}

/** The trail that a watcher would know, as far as these slots need it. */
async function trailOfNode(
  { connection: { reader } }: CalledChain,
  slots: readonly Slot[],
  { head, finalBlock }: Pick<Trail, "head" | "finalBlock">,
): Promise<Trail> {
  const numbers = new Set(slots.flatMap(({ minedBlockNumber }) => minedBlockNumber ?? []));
  const hashes = await Promise.all(
    [...numbers].map(async (number) => [number, (await reader.block(number))?.hash ?? "missing"] as const),
  );
  // All blocks are asked for by number.
  return { head, finalBlock, lowest: head.number + 1n, hashes: new Map(hashes) };
}

function finalIn(seen: Observation, { finalBlock }: Trail): Observation {
  return seen.kind === "mined" && seen.receipt !== undefined && seen.receipt.blockNumber <= finalBlock
    ? { ...seen, kind: "final" }
    : seen;
}

function payerOf(
  services: CallServices,
  on: CalledChain,
  signer: Signer | undefined,
  funds: LaneFunds = NO_FUNDS,
): Payer {
  return evmPayerOn(asEngine(services, signer), on, funds);
}

/** Care reserves nothing. */
const NO_FUNDS: LaneFunds = {
  chainId: 0,
  sender: NATIVE_CURRENCY,
  native: NATIVE_CURRENCY,
  balance: () => ({ amount: 0n, blockNumber: 0n }),
};

/** Legs without a request use none of the engine's other services. */
function asEngine(services: CallServices, signer?: Signer): WorkerServices {
  return {
    ...services,
    signer,
    executor: undefined,
    depositAddressOperator: undefined,
  } as CallServices as WorkerServices;
}
