import type { WorkerServices } from "../../db/services.port.ts";
import { evmPayer } from "./evm.ts";
import type { Lane, Payer, PayerOfLane } from "./payer.ts";
import { transferPayer } from "./transfer.ts";

/** Every payer: the first one that knows a lane pays from it. */
const PAYERS: readonly PayerOfLane[] = [evmPayer, transferPayer];

/** The payer of a lane. @throws Error if its chain is not configured */
export function payerOf(services: WorkerServices, lane: Lane): Payer {
  for (const payerOfLane of PAYERS) {
    const payer = payerOfLane(services, lane);
    if (payer !== undefined) return payer;
  }
  throw new Error(`chain ${lane.chainId} is not configured, so nothing is paid from ${lane.sender}`);
}
