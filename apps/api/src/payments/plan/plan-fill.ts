import type { PayingConnection } from "@causeway/chains";
import type { RequestTerms } from "@causeway/domain";
import type { RequestRecord } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { warmPrices } from "../../balances/index.ts";
import { connectedChainOf, perKind } from "../../http/connected-chain.ts";
import type { ConnectedChain, AnyConnectedChain, TransferChain } from "../../chains/chains.port.ts";
import type { ExecutionRecord } from "../executions.port.ts";
import { type AmountDue, amountToPay } from "../fill-amount.ts";
import type { FillBasis } from "../planned-fill.port.ts";
import { callPlanner } from "./call-planner.ts";
import { fillWait } from "./fill-result.ts";
import type { FillPlanResult, FillPlanner } from "./fill-result.ts";
import { transferPlanner } from "./transfer-planner.ts";

/** The facts about a request whose fill is planned. */
export interface FillFacts {
  readonly basis: FillBasis;
  /** The request's execution, which is read while the fill is planned. Undefined: there is none. */
  readonly execution: Promise<ExecutionRecord | undefined>;
  readonly origin: AnyConnectedChain;
  readonly destination: ConnectedChain | TransferChain;
}

/**
 * Plans the fill of a request on any chain: the amount, and one transaction that pays it and does the rest.
 * Writes nothing.
 * @throws RpcFault, ServiceError: unknown now; retry
 */
export async function planFill(
  services: WorkerServices,
  request: RequestRecord,
  { basis, execution: executionRead, origin, destination }: FillFacts,
): Promise<FillPlanResult> {
  const { terms } = request;
  const { requestId, orderId, recipient, fillDeadlineMs } = terms;
  const { currency } = terms.destination;
  const planner = plannerFor(services, destination, terms);
  const [toContract, execution] = await Promise.all([planner.paysContract(), executionRead]);
  const facts = { toContract, execution, swapQuoter: planner.swapQuoter(terms) };
  const due = await amountToPay(services, request, basis, { origin, destination }, facts);
  if (due.kind === "refund") return { kind: "refund", reason: due.reason };
  if (due.kind === "wait") return fillWait(due.why, "SLIPPAGE");
  const { amount, budget, sponsoredUsd = 0n } = due;
  const planned = await planner.plan({
    terms,
    basis,
    execution,
    payment: {
      leg: { kind: "fill", id: requestId, requestId },
      currency,
      amount,
      recipient,
      orderId,
      cancelAfterMs: fillDeadlineMs + services.enginePolicy.cancelAfterDeadlineMs,
      toContract,
    },
    budget,
    sponsoredUsd,
  });
  if (planned.kind !== "ready") return planned;
  if (terms.sponsorship !== undefined) await warmPrices(services);
  const defaults = { topupUsd: 0n, burn: { spentUsd: 0n, uncoveredUsd: 0n } };
  return { basis, amount, sponsoredUsd, ...defaults, ...planned };
}

/**
 * The amount that the fill of a request would pay for a deposit that is made and seen now. Undefined if one
 * of its chains is not configured.
 * @throws RpcFault, ServiceError: unknown now
 */
export async function amountForDeposit(
  services: WorkerServices,
  { terms }: Pick<RequestRecord, "terms">,
  amount: bigint,
): Promise<AmountDue | undefined> {
  const origin = connectedChainOf(services.chains, terms.origin.chainId);
  const destination = connectedChainOf(services.chains, terms.destination.chainId);
  if (origin === undefined || destination === undefined) return undefined;
  const planner = plannerFor(services, destination, terms);
  const toContract = await planner.paysContract();
  const deposit = { amount, seenAtMs: services.clock.nowMs() };
  const facts = { toContract, execution: undefined, swapQuoter: planner.swapQuoter(terms) };
  return await amountToPay(services, { terms }, { kind: "deposit", deposit }, { origin, destination }, facts);
}

function plannerFor(
  services: WorkerServices,
  connected: FillFacts["destination"],
  { destination: { currency }, recipient }: RequestTerms,
): FillPlanner {
  return perKind<FillPlanner, PayingConnection>(connected, {
    evm: (evmChain) => callPlanner(services, evmChain, { currency, recipient }),
    nonEvm: transferPlanner,
  });
}
