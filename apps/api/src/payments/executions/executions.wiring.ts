import type { Services } from "../../db/services.port.ts";
import { groupedFills } from "../send-fills.ts";
import type { SendServices } from "../send-together.ts";
import { groupedExecutions } from "./send-execution.ts";

/** How a worker groups what it sends on a lane. */
export function groupedPayments(
  services: SendServices,
): Required<Pick<Services, "sendFill" | "sendExecution">> {
  return { sendFill: groupedFills(services), sendExecution: groupedExecutions(services) };
}
