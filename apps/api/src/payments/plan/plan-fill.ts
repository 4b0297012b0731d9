import type { PayingConnection } from "@causeway/chains";
import type { RequestRecord } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { warmPrices } from "../../balances/index.ts";
import { perKind } from "../../http/request-end.ts";
import type { ConnectedChain, RequestEnd, TransferChain } from "../../chains/chains.port.ts";
import type { ExecutionRecord } from "../executions.port.ts";
import { amountToPay } from "../fill-amount.ts";
import type { FillBasis } from "../planned-fill.port.ts";
import { callPlanner } from "./call-planner.ts";
import { waits } from "./fill-planned.ts";
import type { FillPlanned, FillPlanner } from "./fill-planned.ts";
import { transferPlanner } from "./transfer-planner.ts";

/** The facts about a request whose fill is planned. */
export interface FillFacts {
  readonly basis: FillBasis;
  readonly execution: ExecutionRecord | undefined;
  readonly origin: RequestEnd;
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
  { basis, execution, origin, destination }: FillFacts,
): Promise<FillPlanned> {
  const { terms } = request;
  const { requestId, orderId, recipient, fillDeadlineMs } = terms;
  const { currency } = terms.destination;
  const planner = perKind<FillPlanner, PayingConnection>(destination, {
    evm: (end) => callPlanner(services, end, { currency, recipient }),
    nonEvm: transferPlanner,
  });
  const toContract = await planner.paysContract();
  const facts = { toContract, execution, exchange: planner.exchange(terms) };
  const due = await amountToPay(services, request, basis, { origin, destination }, facts);
  if (due.kind === "refund") return { kind: "refund", reason: due.reason };
  if (due.kind === "wait") return waits(due.why, "SLIPPAGE");
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
  const nothing = { topupUsd: 0n, burn: { spentUsd: 0n, uncoveredUsd: 0n } };
  return { basis, amount, sponsoredUsd, ...nothing, ...planned };
}
