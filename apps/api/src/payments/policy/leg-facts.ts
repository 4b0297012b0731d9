import { mulDivUp, usdToAmountUp } from "@causeway/domain";
import type { Hex32, RequestTerms } from "@causeway/domain";
import type { LaneCall, Leg } from "../../db/leg.port.ts";
import type { DepositRecord, RequestRecord } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { addressesOn } from "../../deposits/index.ts";
import { connectedChainOf } from "../../http/connected-chain.ts";
import { refundRecipient } from "../../requests/index.ts";
import type { CallReading } from "./read-call.ts";
import type { LegFacts, PaymentFacts, RouteFacts } from "./judge-call.ts";
import { HUB_CALLS, PAYOUT_CALLS } from "./signed-calls.ts";
import { knownPrice } from "./counted-value.ts";

/** Reads the database's facts about a leg, in the commit that reserves or signs its payment. */

export type FactServices = Pick<WorkerServices, "chains" | "prices" | "hubContracts" | "payoutContracts">;

/** How much more than quoted a fill may pay: prices and deposits differ from the quote. */
const MAX_FILL_FACTOR = 2n;

/** @returns undefined if the leg does not exist */
export async function factsOfLeg(
  services: FactServices,
  tx: Tx,
  { leg, sender }: { readonly leg: Leg; readonly sender: RouteFacts["sender"] },
  reading: CallReading,
  request: RequestRecord | undefined,
): Promise<LegFacts | undefined> {
  switch (leg.kind) {
    case "fill":
      return request && (await fillFacts(services, tx, request, { reading, sender }));
    case "refund":
      return refundFacts(services, await tx.deposits.lock(leg.id), request);
    case "claim": {
      const claim = await tx.claims.lock(leg.id as Hex32);
      if (claim === undefined) return undefined;
      const { chainId, recipient, currency, amount: maxAmount, state } = claim;
      const payment = { recipient, currency, maxAmount, reference: undefined, route: undefined };
      return { kind: "payment", key: "solver", chainId, isOpen: state === "paying", ...payment };
    }
    case "execution": {
      const execution = leg.requestId && (await tx.executions.lock(leg.requestId));
      if (execution === undefined) return undefined;
      const { chainId, call, settled, originUsd } = execution;
      const isOpen = !settled && originUsd === undefined;
      return { kind: "exact", key: "executor", chainId, isOpen, call: plainCall(call) };
    }
    case "sweep":
      return await sweepFacts(services, tx, leg.id);
    case "hub":
      return {
        ...SIGNED,
        key: "solver",
        chainId: services.hubContracts?.chainId,
        contracts: services.hubContracts?.addresses,
        selectors: HUB_CALLS,
      };
    case "payout":
      return {
        ...SIGNED,
        key: "allocator",
        contracts: services.payoutContracts,
        selectors: PAYOUT_CALLS,
      };
    default:
      return undefined;
  }
}

const SIGNED = { kind: "signed", isOpen: true, chainId: undefined } as const;

async function fillFacts(
  services: FactServices,
  tx: Tx,
  { terms, state }: RequestRecord,
  { reading, sender }: { readonly reading: CallReading; readonly sender: RouteFacts["sender"] },
): Promise<PaymentFacts> {
  const { recipient, orderId, destination } = terms;
  const { chainId, currency } = destination;
  // Most fills are one payment of the quoted amount and need no further read.
  const router = reading.kind === "routed" ? services.chains.get(chainId)?.chain.contracts.router : undefined;
  const quoted = destination.expectedAmount * MAX_FILL_FACTOR;
  const isStandard = reading.kind === "payment" && reading.amount <= quoted;
  return {
    kind: "payment",
    key: "solver",
    chainId,
    // Bytes that lapsed on their chain are signed again while the fill counts as sent.
    isOpen: ["fillable", "filling", "submitted"].includes(state.name),
    recipient,
    currency,
    reference: orderId,
    maxAmount: isStandard ? quoted : await maxFillAmount(services, tx, terms, state.depositId),
    route: router && { router, sender, paidFrom: destination.paidFrom, ...(await callsOf(tx, terms)) },
  };
}

async function callsOf(tx: Tx, terms: RequestTerms): Promise<Pick<RouteFacts, "calls" | "topup">> {
  const execution = await tx.executions.lock(terms.requestId);
  const calls = [...(terms.outputCalls?.calls ?? []), ...(execution?.destination?.calls ?? [])];
  return { calls, topup: terms.gasTopup?.amount ?? 0n };
}

/** The maximum of a fill: a deposit above the quote may buy more, and unused gas is paid to the recipient. */
async function maxFillAmount(
  services: FactServices,
  tx: Tx,
  { origin, destination, originGasUsd }: RequestTerms,
  depositId: string | undefined,
): Promise<bigint> {
  const quoted = destination.expectedAmount * MAX_FILL_FACTOR;
  const deposit = depositId === undefined ? undefined : await tx.deposits.lock(depositId);
  const scaled =
    deposit !== undefined && deposit.amount > origin.amount && origin.amount > 0n
      ? mulDivUp(quoted, deposit.amount, origin.amount)
      : quoted;
  if (originGasUsd === undefined) return scaled;
  const unit = knownPrice(services, destination.chainId, destination.currency);
  return scaled + (unit === undefined ? 0n : usdToAmountUp(originGasUsd * MAX_FILL_FACTOR, unit));
}

function refundFacts(
  { chains }: FactServices,
  deposit: DepositRecord | undefined,
  request: RequestRecord | undefined,
): PaymentFacts | undefined {
  if (deposit === undefined || (deposit.requestId !== undefined && request === undefined)) return undefined;
  const { chainId, currency, amount: maxAmount, disposition, refundState, depositor } = deposit;
  const chain = chains.profile(chainId);
  return {
    kind: "payment",
    key: "solver",
    chainId,
    isOpen: disposition === "refund" && (refundState === "none" || refundState === "sent"),
    recipient:
      request === undefined || chain === undefined ? depositor : refundRecipient(chain, request, depositor),
    currency,
    maxAmount,
    reference: undefined,
    route: undefined,
  };
}

async function sweepFacts({ chains }: FactServices, tx: Tx, id: string): Promise<LegFacts | undefined> {
  const sweep = await tx.depositAddresses.lockSweep(id);
  const depositAddress = sweep && (await tx.depositAddresses.find(sweep.address));
  const connected = sweep && connectedChainOf(chains, sweep.chainId);
  const addresses = connected && addressesOn(connected);
  const call = sweep && depositAddress && addresses?.sweepCall(sweep, depositAddress);
  if (sweep === undefined || addresses === undefined || call === undefined) return undefined;
  const key = addresses.mover.kind === "solver" ? "solver" : "depositAddressOperator";
  const isOpen = sweep.state === "planned" || sweep.state === "sent";
  return { kind: "exact", key, chainId: sweep.chainId, isOpen, call };
}

function plainCall({ to, data, value }: LaneCall) {
  return { to, data, value };
}
