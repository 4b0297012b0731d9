import { RpcFault } from "@causeway/chains";
import {
  shouldAwaitRest,
  decideFunds,
  dependsOnSender,
  isFirmAt,
  layersBeyond,
  oldestLayers,
  quotedState,
  seenSince,
  ServiceError,
  sweepPauseMs,
  unreachable,
  type AddressFacts,
  type ErrorCode,
  type FundsDecision,
  type HoldReason,
  type RequestTerms,
} from "@causeway/domain";
import { formatAddress } from "@causeway/families";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import type { DepositAddress, ObservedFunds } from "./deposit-addresses.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { fillContractOf, orderSignerOf } from "../../chains/index.ts";
import { connectedChainOf } from "../../http/connected-chain.ts";
import { sweepJob } from "../../requests/index.ts";
import type { AddressServices } from "./address-services.ts";
import { addressesOn } from "./addresses-on.ts";
import { requoteInput } from "./issue-address.ts";
import { awaitingRequest, lockedStanding } from "./awaiting-request.ts";
import type { AwaitingRequest } from "./awaiting-request.ts";
import type { ConfirmedFunds } from "./find-sender.ts";
import { returnFacts, valueOf } from "./return-facts.ts";
import { refundTerms, termsWithRefundTo } from "./successor-terms.ts";
import type { FillContracts } from "./successor-terms.ts";

/** Funds at an address whose confirmed part can be decided. */
interface DecidableFunds {
  readonly funds: ObservedFunds;
  /** Base units that have enough confirmations. */
  readonly confirmedAmount: bigint;
  /** Until when rate-limited chains may be queried, on the monotonic clock: other chains must not wait. */
  readonly queryUntilMs: number;
}

/** The action for observed funds, once every source was queried. */
type Plan =
  | { readonly kind: "hold"; readonly reason: HoldReason }
  /** Decided in a later round, because the obstacle is temporary. */
  | { readonly kind: "later" }
  | {
      readonly kind: "sweep";
      readonly amount: bigint;
      readonly excess: bigint;
      readonly terms: RequestTerms;
      /** The order of the address itself; otherwise the sweep creates a new request. */
      readonly isOwn: boolean;
    };

/** Temporary errors: the funds wait for as long as a fill waits for inventory. */
const temporaryErrors: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "CHAIN_DISABLED",
  "INSUFFICIENT_LIQUIDITY",
  "PRICE_FETCH_FAILED",
  "ROUTE_TEMPORARILY_RESTRICTED",
  "RPC_HTTP_ERROR",
  "SERVICE_UNAVAILABLE",
]);

/**
 * Decides what happens to the confirmed funds at an address and stores the decision in one commit: a new
 * request if needed, the sweep, and its job. Concurrent runs plan one sweep: the address is locked, and an
 * observation has at most one sweep.
 * @throws RpcFault, ServiceError: nothing was decided; the next round retries
 */
export async function actOnFunds(
  services: AddressServices,
  connected: AnyConnectedChain,
  depositAddress: DepositAddress,
  { funds, confirmedAmount, queryUntilMs }: DecidableFunds,
): Promise<void> {
  const awaiting = await awaitingRequest(services, depositAddress, funds);
  const planned = await plan(services, connected, depositAddress, awaiting, {
    funds,
    confirmedAmount,
    queryUntilMs,
  });
  // Funds that do not cover a fast fill are decided again with each scan; the same hold is stored only once.
  if (planned.kind === "later" || (planned.kind === "hold" && planned.reason === funds.held)) return;
  const facts = {
    chain: connected.chain.name,
    address: funds.address,
    currency: funds.currency,
    amount: confirmedAmount,
  };
  const isDone = await services.uow.run(async (tx) => {
    const current = await tx.depositAddresses.lock(depositAddress.address);
    // Another process decided first, or the funds changed.
    if (current === undefined) return false;
    const observed = await tx.depositAddresses.lockFunds(funds, funds.observation);
    if (observed === undefined || observed.amount !== funds.amount || observed.held !== funds.held)
      return false;
    // A fast fill or a deposit arrived in between: the next pass decides on the new state.
    if ((await lockedStanding(tx, awaiting)) !== awaiting.standing) return false;
    if (planned.kind === "hold") {
      await tx.depositAddresses.hold(funds, planned.reason);
      await tx.depositAddresses.noteFunds(depositAddress.address, services.clock.nowMs());
      return true;
    }
    await sweep(services, tx, { depositAddress, funds, awaiting }, planned);
    return true;
  });
  if (!isDone) return;
  if (planned.kind === "hold") {
    // Alarm once per reason, and never for dust or tokens that are not configured: anyone can send
    // these to every address.
    if (planned.reason !== funds.alarmed) {
      const isExpectedCurrency =
        services.chains.currency(funds.chainId, funds.currency) !== undefined ||
        funds.currency === awaiting.terms.origin.currency;
      const level = isExpectedCurrency && planned.reason !== "AMOUNT_TOO_LOW" ? "alarm" : "happened";
      services.events[level]("funds_held", { ...facts, reason: planned.reason });
    }
  } else
    services.events.happened("funds_decided", {
      ...facts,
      requestId: planned.terms.requestId,
      swept: planned.amount + planned.excess,
      isOwn: planned.isOwn,
    });
}

async function sweep(
  services: AddressServices,
  tx: Tx,
  {
    depositAddress,
    funds,
    awaiting,
  }: {
    readonly depositAddress: DepositAddress;
    readonly funds: ObservedFunds;
    readonly awaiting: AwaitingRequest;
  },
  { amount, excess, terms, isOwn }: Extract<Plan, { kind: "sweep" }>,
): Promise<void> {
  const nowMs = services.clock.nowMs();
  const { depositAddresses } = tx;
  if (depositAddress.key.strict && terms.orderId !== depositAddress.key.id)
    throw new Error(
      `invariant violated: ${depositAddress.address} is bound to order ${depositAddress.key.id}, got ${terms.orderId}`,
    );
  if (!isOwn) {
    await tx.requests.insert(terms, quotedState(terms.kind));
    await depositAddresses.setAddress(terms.requestId, depositAddress.address);
    if (awaiting.standing === "waiting")
      await depositAddresses.supersede(depositAddress.requestId, terms.requestId, nowMs);
  }
  // Requests whose own sweeps moved nothing: these funds may belong to them, so their status follows the new
  // request.
  await depositAddresses.supersedeVoided(depositAddress.address, terms.requestId, nowMs);
  const sweepId = await depositAddresses.addSweep({
    address: funds.address,
    chainId: funds.chainId,
    currency: funds.currency,
    observation: funds.observation,
    amount,
    excess,
    orderId: terms.orderId,
    requestId: terms.requestId,
    arrivedAtMs: seenSince(funds.layers, amount) ?? nowMs,
    createdAtMs: nowMs,
    layers: oldestLayers(funds.layers, amount + excess),
  });
  // Funds beyond the sweep become the next observation.
  await depositAddresses.observe(
    funds,
    layersBeyond(funds.layers, amount + excess),
    funds.changedBlock,
    true,
  );
  await depositAddresses.noteFunds(depositAddress.address, nowMs);
  await depositAddresses.setActive(depositAddress.address, nowMs);
  await tx.requests.note(terms.requestId, nowMs, "fundsFound", {
    depositAddress: depositAddress.address,
    chainId: funds.chainId,
    currency: funds.currency,
    found: funds.amount,
    amount,
    excess,
    ...(!isOwn && { first: depositAddress.requestId }),
  });
  await tx.outbox.add([sweepJob(sweepId, nowMs)], nowMs);
}

async function plan(
  services: AddressServices,
  connected: AnyConnectedChain,
  depositAddress: DepositAddress,
  { terms, standing }: AwaitingRequest,
  { funds, confirmedAmount, queryUntilMs }: DecidableFunds,
): Promise<Plan> {
  const nowMs = services.clock.nowMs();
  // When half of the funds had arrived: dust before or after does not change the age.
  const sinceMs = seenSince(funds.layers, (confirmedAmount + 1n) / 2n) ?? nowMs;
  const isLate = nowMs - sinceMs > services.enginePolicy.inventoryWaitMs;
  const confirmedFunds: ConfirmedFunds = {
    address: funds.address,
    chainId: funds.chainId,
    currency: funds.currency,
    amount: confirmedAmount,
    layers: oldestLayers(funds.layers, confirmedAmount),
  };
  const facts: AddressFacts = {
    strict: depositAddress.strict,
    quoted: terms.origin,
    isUnused: standing !== "used",
    isFronted: standing === "fronted",
    // An order that this solver cannot settle is not firm: the funds get a new quote.
    isFirm: isFirmAt(terms, nowMs) && orderSignerOf(services, terms.order.solver) !== undefined,
    // The contract accepts no other order, so the refund goes to the recipient that this order names.
    refundTo:
      depositAddress.key.strict && depositAddress.refundTo === "sender"
        ? terms.refundTo
        : depositAddress.refundTo,
    sender: undefined,
  };
  if (shouldAwaitRest(facts, confirmedFunds, funds.amount)) return { kind: "later" };
  const { count, lastAtMs } = await services.depositAddresses.voidSweeps(funds);
  if (nowMs < lastAtMs + sweepPauseMs(count)) return { kind: "later" };
  const returnable = await returnFacts(services, connected, funds);
  // A missing price is usually temporary. Without it, it is unknown whether a refund is possible.
  if (
    !returnable.canReturn &&
    !isLate &&
    services.chains.currency(funds.chainId, funds.currency)?.supportsBridging
  )
    return { kind: "later" };
  // A token that is no longer configured could be neither filled nor refunded from the depository; at the
  // address its owner can recover it.
  const isConfigured = services.chains.currency(funds.chainId, funds.currency) !== undefined;
  const canDecide = isConfigured || standing === "fronted";
  // The search costs node calls, and anyone can send dust: search only if the decision depends on the sender.
  const sender =
    canDecide && dependsOnSender(facts, confirmedFunds, returnable)
      ? await addressesOn(connected).findSender(services, confirmedFunds)
      : undefined;
  const decision: FundsDecision = canDecide
    ? withinOneDeposit(connected, decideFunds({ ...facts, sender }, confirmedFunds, returnable))
    : { kind: "hold", reason: "CURRENCY_NOT_HELD" };
  const nextPlan = await planDecision(services, connected, {
    depositAddress,
    terms,
    funds: confirmedFunds,
    decision,
    isLate,
    sender,
    queryUntilMs,
  });
  // Funds held for their amount or sender may be decided differently together with newer funds.
  return nextPlan.kind === "hold" && confirmedAmount < funds.amount ? { kind: "later" } : nextPlan;
}

/** A transaction on Bitcoin makes one deposit: the excess stays and is decided as the next observation. */
function withinOneDeposit(connected: AnyConnectedChain, decision: FundsDecision): FundsDecision {
  const { makesSeveralDeposits } = addressesOn(connected);
  return decision.kind === "own" && !makesSeveralDeposits ? { ...decision, excess: 0n } : decision;
}

interface DecisionContext {
  readonly depositAddress: DepositAddress;
  readonly terms: RequestTerms;
  readonly funds: ConfirmedFunds;
  readonly decision: FundsDecision;
  /** The funds have waited long enough for temporary obstacles. */
  readonly isLate: boolean;
  /** Until when rate-limited chains may be queried, on the monotonic clock. */
  readonly queryUntilMs: number;
  readonly sender: AddressFacts["sender"];
}

/**
 * The current fill contracts of a request. For a destination that is no longer configured, keeps the contract
 * that the order names: nothing is filled there.
 */
function fillContractsOf(
  { chains }: Pick<AddressServices, "chains">,
  connected: AnyConnectedChain,
  { destination, order }: RequestTerms,
): FillContracts {
  const destinationChain = connectedChainOf(chains, destination.chainId);
  return {
    origin: fillContractOf(connected),
    destination: destinationChain === undefined ? order.output.extraData : fillContractOf(destinationChain),
  };
}

async function planDecision(
  services: AddressServices,
  connected: AnyConnectedChain,
  context: DecisionContext,
): Promise<Plan> {
  const { depositAddress, terms, funds, decision } = context;
  const addressTerms = {
    address: depositAddress.address,
    strict: depositAddress.strict,
    recovery: depositAddress.key.recovery,
  };
  switch (decision.kind) {
    case "hold":
      return decision;
    case "own": {
      const { amount, excess, refundTo } = decision;
      if (refundTo === undefined || refundTo === terms.refundTo)
        return { kind: "sweep", amount, excess, terms, isOwn: true };
      return {
        kind: "sweep",
        amount,
        excess,
        terms: termsWithRefundTo(services, terms, fillContractsOf(services, connected, terms), refundTo),
        isOwn: false,
      };
    }
    case "refund": {
      const { amount, to, reason } = decision;
      const valueUsd = (await valueOf(services, funds)) ?? 0n;
      const refund = { ...funds, amount, to, reason, valueUsd };
      const refunded = refundTerms(
        services,
        terms,
        connected.chain,
        fillContractsOf(services, connected, terms),
        refund,
        services.clock.nowMs(),
      );
      return {
        kind: "sweep",
        amount,
        excess: 0n,
        terms: { ...refunded, depositAddress: addressTerms },
        isOwn: false,
      };
    }
    case "requote": {
      const newTerms = await requote(services, connected.chain, context, decision.otherwise);
      if (newTerms === "later") return { kind: "later" };
      if (newTerms === undefined)
        return await planDecision(services, connected, { ...context, decision: decision.otherwise });
      return {
        kind: "sweep",
        amount: decision.amount,
        excess: 0n,
        terms: { ...newTerms, depositAddress: addressTerms },
        isOwn: false,
      };
    }
    default:
      return unreachable(decision);
  }
}

/** Quotes the funds that arrived. Undefined: not possible, for a permanent reason. */
async function requote(
  services: AddressServices,
  chain: AnyConnectedChain["chain"],
  { depositAddress, funds, sender, isLate, queryUntilMs }: DecisionContext,
  otherwise: FundsDecision,
): Promise<RequestTerms | "later" | undefined> {
  const question = requoteInput(await services.depositAddresses.question(depositAddress.address));
  if (connectedChainOf(services.chains, question.destinationChainId)?.isRateLimited === true) {
    // The quote asks the chain about the recipient, and anyone can send dust to many addresses.
    if (otherwise.kind === "hold" && otherwise.reason === "AMOUNT_TOO_LOW") return undefined;
    if (performance.now() > queryUntilMs) return "later";
  }
  const refundTo =
    depositAddress.refundTo === "sender"
      ? sender
      : depositAddress.refundTo === "nobody"
        ? undefined
        : depositAddress.refundTo;
  try {
    return await services.quoteTerms(
      {
        ...question,
        originChainId: funds.chainId,
        originCurrency: formatAddress(chain, funds.currency),
        amount: funds.amount.toString(),
        tradeType: "EXACT_INPUT",
        ...(refundTo !== undefined && { refundTo: formatAddress(chain, refundTo) }),
      },
      depositAddress.keyId,
    );
  } catch (error) {
    if (error instanceof RpcFault) return isLate ? undefined : "later";
    if (!(error instanceof ServiceError)) throw error;
    return temporaryErrors.has(error.code) && !isLate ? "later" : undefined;
  }
}
