import type { Signer } from "@causeway/attest";
import type { GasPrices } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { CalledChain, ConnectedChain } from "../chains/chains.port.ts";
import type { Slot, SlotPlan } from "../db/records.port.ts";
import type { Services, WorkerServices } from "../db/services.port.ts";
import { type SlotCase, advanceSlots } from "./advance-slots.ts";
import { fillNonceGap } from "./fill-nonce-gap.ts";
import type { CallOutcome, ContractCall, WantedCall } from "./contract-call.port.ts";
import { kindOf } from "./legs/index.ts";
import type { LaneFacts, MovePolicy, Observation } from "./next-move.ts";
import { payWith } from "./pay-together.ts";
import { evmPayerOn, observeMined, observeOpen, observeUsed, type Trail } from "./payers/evm.ts";
import { maxFee } from "./payers/before-signing.ts";
import type { LaneFunds } from "./payers/funds.port.ts";
import { payerOf } from "./payers/index.ts";
import type { Payer } from "./payers/payer.ts";
import { whyUnexplained } from "./unexplained-nonces.ts";
import type { PaymentOutcome } from "./wanted-payment.port.ts";

/**
 * Sends calls that their contracts run once, however often they are sent. On an enabled chain they are
 * payments like any other, and its watcher maintains them. On any other chain, and for the allocator's
 * account, `advanceCalls` and `advanceCallsOf` read in each round from the node what the chain shows.
 */

export type CallServices = Pick<
  Services,
  "clock" | "events" | "uow" | "reads" | "spendingLimits" | "hubContracts" | "payoutContracts"
>;

type CallPolicy = Omit<MovePolicy, "orphanedAfterMs">;

/**
 * Has the solver make a call on an enabled chain, from the lane of its other payments there.
 * @throws RpcFault, ServiceError: the slot, if it was reserved, is sent by maintenance of the lane
 */
export async function sendSolverCall(
  services: WorkerServices,
  connected: ConnectedChain,
  wanted: ContractCall,
): Promise<CallOutcome> {
  const checkedAtMs = performance.now();
  const lane = { chainId: connected.chain.id, sender: services.signer.address };
  const why = await whyUnexplained(services, connected, lane.sender);
  if (why !== undefined) return { kind: "waits", why };
  const planned = { ...wantedCall(lane, wanted, connected.pulse.gasPrices()), checkedAtMs };
  return await pay(services, payerOf(services, lane), planned);
}

/**
 * Makes a call on a chain that no watcher follows, or from an account that only makes such calls.
 * @throws RpcFault: the slot, if it was reserved, stays as it is, and the next pass continues
 */
export async function sendContractCall(
  services: CallServices,
  calledChain: CalledChain,
  signer: Signer,
  wanted: ContractCall,
): Promise<CallOutcome> {
  const checkedAtMs = performance.now();
  const { chain, connection } = calledChain;
  const sender = signer.address;
  const why =
    (await whyClosed(services, calledChain, sender)) ?? (await whyUnexplained(services, calledChain, sender));
  if (why !== undefined) return { kind: "waits", why };
  // The balance is not older than this block.
  const { number: blockNumber } = await connection.reader.head();
  const [amount, prices] = await Promise.all([
    calledChain.nativeBalance(sender),
    connection.reader.gasPrices(),
  ]);
  const lane = { chainId: chain.id, sender };
  const funds = { ...lane, native: NATIVE_CURRENCY, balance: () => ({ amount, blockNumber }) };
  const payer = callPayer(asEngine(services, signer), calledChain, funds, () => maxFee(prices, undefined));
  return await pay(asEngine(services, signer), payer, { ...wantedCall(lane, wanted, prices), checkedAtMs });
}

function wantedCall(
  lane: Pick<SlotPlan, "chainId" | "sender">,
  { leg, call, gasLimit, lock, assign }: ContractCall,
  { maxFeePerGas, maxPriorityFeePerGas }: GasPrices,
): WantedCall {
  const plan: SlotPlan = {
    ...lane,
    leg,
    call: { ...call, value: 0n },
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas,
    outflow: { currency: NATIVE_CURRENCY, amount: 0n },
    // It is never too late.
    cancelAfterMs: Number.MAX_SAFE_INTEGER,
  };
  return { plan, ...(lock && { lock }), ...(assign && { assign }) };
}

async function pay(services: WorkerServices, payer: Payer, wanted: WantedCall): Promise<PaymentOutcome> {
  const [sent = "moved"] = await payWith(services, payer, kindOf(wanted.plan), [wanted]);
  if (sent instanceof Error) throw sent;
  return sent;
}

/**
 * Opens the lane. Nonces that the key used elsewhere are skipped: a call that was lost in a failover has no
 * effect twice. If the lane ever made another kind of payment, these nonces may belong to lost payments.
 * @returns why the lane must not plan anything; undefined: it may
 */
async function whyClosed(
  { reads, uow, events }: CallServices,
  { chain, connection: { reader } }: CalledChain,
  sender: Address,
): Promise<string | undefined> {
  const used = await reader.nonce(sender, "latest");
  const lane = await reads.lane(chain.id, sender);
  if (lane !== undefined) {
    if (lane.isServerNew || (used <= lane.nextNonce && lane.isReconciled)) return undefined;
    if (await hasPayments(reads, chain.id, sender))
      return `account ${sender} may have used a nonce on ${chain.name} that is missing in the database, and it has paid there before: enable the chain so that the service can find the transaction`;
    if (used > lane.nextNonce)
      events.alarm("nonce_spent_elsewhere", { chain: chain.name, sender, nonce: used - 1 });
  }
  await uow.run((tx) => tx.lanes.open(chain.id, sender, used));
  return undefined;
}

/** Whether one of the lane's lost nonces could have paid something that must not be paid twice. */
async function hasPayments(reads: CallServices["reads"], chainId: number, sender: Address): Promise<boolean> {
  const lane = await reads.lane(chainId, sender);
  return lane?.searchFrom !== undefined || (await reads.hasPayments(chainId, sender));
}

/**
 * One pass over all calls on a chain that no watcher follows. Safe to run at any time in any number
 * of processes.
 * @param signers keys of the lanes; a lane without a key is only compared with the chain
 * @throws the first fault, after all lanes were handled. The next round continues.
 */
export async function advanceCalls(
  services: CallServices,
  calledChain: CalledChain,
  signers: readonly Signer[],
  policy: CallPolicy,
): Promise<void> {
  const faults: unknown[] = [];
  const calls = await services.reads.unsettledCalls(calledChain.chain.id);
  for (const [sender, slots] of Map.groupBy(calls, (slot) => slot.sender)) {
    const signer = signers.find(({ address }) => address === sender);
    await maintainCallLane(services, calledChain, { sender, slots, signer }, policy).catch(
      (error: unknown) => {
        faults.push(error);
      },
    );
  }
  if (faults.length > 0) throw faults[0];
}

/** {@link advanceCalls} for one account, on any chain. Nothing else may use its key. */
export async function advanceCallsOf(
  services: CallServices,
  calledChain: CalledChain,
  signer: Signer,
  policy: CallPolicy,
): Promise<void> {
  const sender = signer.address;
  const slots = await services.reads.unsettledSlots(calledChain.chain.id, sender);
  if (slots.length > 0) await maintainCallLane(services, calledChain, { sender, slots, signer }, policy);
}

interface CallLane {
  readonly sender: Address;
  readonly slots: readonly Slot[];
  readonly signer: Signer | undefined;
}

async function maintainCallLane(
  services: CallServices,
  calledChain: CalledChain,
  { sender, slots, signer }: CallLane,
  policy: CallPolicy,
): Promise<void> {
  const { reader } = calledChain.connection;
  const head = await reader.head();
  const [used, final] = await Promise.all([reader.nonce(sender, "latest"), calledChain.final(sender)]);
  const trail = await readTrail(calledChain, slots, { head, finalBlock: final?.number ?? -1n });
  const baseFacts: LaneFacts = {
    nonceState: "used",
    replacement: "impossible",
    cancelable: "never",
    patienceMs: policy.stuckAfterMs,
    isBeingSent: false,
    finalBlock: trail.finalBlock,
  };
  const isPending = ({ state, nonce }: Slot): boolean => state === "open" && nonce >= used;
  const isKnown = ({ state, minedBlockNumber }: Slot): boolean =>
    // The node may lag: only another block at its height proves that a block was orphaned.
    state !== "mined" || (minedBlockNumber !== undefined && trail.hashes.has(minedBlockNumber));
  // Without its key, nothing can be signed.
  const followed = slots.filter((slot) => isKnown(slot) && (signer !== undefined || !isPending(slot)));
  const prices = followed.some(isPending) ? await reader.gasPrices() : undefined;
  if (prices !== undefined)
    await fillNonceGap(
      asEngine(services, signer),
      calledChain,
      { sender, used, prices },
      followed.filter(isPending),
    );
  const isUsedForGood = async ({ nonce }: Slot): Promise<boolean> =>
    final !== undefined &&
    nonce < final.nonce &&
    !(await hasPayments(services.reads, calledChain.chain.id, sender));
  const observe = async (slot: Slot): Promise<Pick<SlotCase, "seen" | "lane">> => {
    if (slot.state === "mined") return { seen: observeMined(slot, trail), lane: baseFacts };
    if (isPending(slot)) {
      const nonceState = slot.nonce === used ? "next" : "later";
      const replacement = prices && ({ prices, capWei: undefined } as const);
      const lane = {
        ...baseFacts,
        nonceState,
        ...(replacement && { replacement }),
        cancelable: "always",
      } as const;
      return { seen: observeOpen(slot), lane };
    }
    const { seen, nonceState } = await observeUsed(calledChain, slot, trail);
    const isForeign = nonceState === "used" && (await isUsedForGood(slot));
    return {
      seen: seen.map((observation) => markFinal(observation, trail)),
      lane: { ...baseFacts, nonceState: isForeign ? "foreign" : nonceState },
    };
  };
  const nowMs = services.clock.nowMs();
  const cases = await Promise.all(
    followed.map(async (slot): Promise<SlotCase> => {
      // Slots of other processes are signed and sent without a delay; of two signatures, the one stored first
      // counts.
      return { slot, policy: { ...policy, orphanedAfterMs: -1 }, nowMs, ...(await observe(slot)) };
    }),
  );
  const engine = asEngine(services, signer);
  const payer = callPayer(engine, calledChain, NO_FUNDS, () => prices && maxFee(prices, undefined));
  const { faults } = await advanceSlots(engine, payer, cases, head.number);
  if (faults.length > 0) throw faults[0];
}

/** The trail that a watcher would know, as far as these slots need it, without blocks that the node lacks. */
async function readTrail(
  { connection: { reader } }: CalledChain,
  slots: readonly Slot[],
  { head, finalBlock }: Pick<Trail, "head" | "finalBlock">,
): Promise<Trail> {
  const numbers = new Set(slots.flatMap(({ minedBlockNumber }) => minedBlockNumber ?? []));
  const hashes = await Promise.all(
    [...numbers].map(async (number) => {
      const block = number > head.number ? undefined : await reader.block(number);
      return block === undefined ? [] : [[number, block.hash] as const];
    }),
  );
  // With `lowest` above the head, every block is read by number.
  return { head, finalBlock, lowest: head.number + 1n, hashes: new Map(hashes.flat()) };
}

function markFinal(seen: Observation, { finalBlock }: Trail): Observation {
  return seen.kind === "mined" && seen.receipt !== undefined && seen.receipt.blockNumber <= finalBlock
    ? { ...seen, kind: "final" }
    : seen;
}

/** Maintenance reserves nothing. */
const NO_FUNDS: LaneFunds = {
  chainId: 0,
  sender: NATIVE_CURRENCY,
  native: NATIVE_CURRENCY,
  balance: () => ({ amount: 0n, blockNumber: 0n }),
};

/**
 * Pays without the journal: no watcher restores these lanes, so an entry without its slot would refuse the
 * next nonce forever. A lost call has no effect twice.
 */
function callPayer(
  { journal: _, ...services }: WorkerServices,
  calledChain: CalledChain,
  funds: LaneFunds,
  maxFeePerGas: () => bigint | undefined,
): Payer {
  return evmPayerOn(services, calledChain, funds, maxFeePerGas);
}

/** Legs without a request use none of the engine's other services. */
function asEngine(services: CallServices, signer?: Signer): WorkerServices {
  return {
    ...services,
    signer,
    executor: undefined,
    depositAddressOperator: undefined,
  } as CallServices as WorkerServices;
}
