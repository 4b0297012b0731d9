import type { PayingRail } from "@causeway/chains";
import type { RequestEnd } from "../chains/chains.port.ts";
import type { WorkerServices } from "../db/services.port.ts";

/** What filling a request needs. */
export type FillServices = Pick<
  WorkerServices,
  | "clock"
  | "chains"
  | "prices"
  | "liquidity"
  | "signer"
  | "depositAddressOperator"
  | "formerSigners"
  | "executor"
  | "uow"
  | "reads"
  | "events"
  | "enginePolicy"
  | "planFaults"
  | "quotePolicy"
  | "appBalance"
  | "sendFill"
  | "fillsAhead"
>;

/** The chain on which a fill pays. */
export type FillChain = RequestEnd<PayingRail>;
