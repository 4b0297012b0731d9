import type { WorkerServices } from "../../db/services.port.ts";
import { evmPayerOf } from "./evm.ts";
import type { Lane, Payer } from "./payer.ts";
import { transferPayerOf } from "./transfer.ts";

/** Every payer: the first that knows a lane pays it. */
const PAYERS: ReadonlyArray<(services: WorkerServices, lane: Lane) => Payer | undefined> = [
  evmPayerOf,
  transferPayerOf,
];

/** The payer of a lane. @throws Error if its chain is not configured */
export function payerOf(services: WorkerServices, lane: Lane): Payer {
  for (const of of PAYERS) {
    const payer = of(services, lane);
    if (payer !== undefined) return payer;
  }
  throw new Error(`chain ${lane.chainId} is not configured, so nothing is paid from ${lane.sender}`);
}
