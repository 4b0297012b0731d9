import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import { unsupportedEnd, requirements } from "./capabilities.ts";
import { sideOf } from "./side-of.ts";

/** Why a request between two chains cannot be filled before its deposit is confirmed; undefined: it can. */
export function fastFillObstacle(
  origin: AnyConnectedChain,
  destination: AnyConnectedChain,
): string | undefined {
  const ends = { origin: sideOf(origin), destination: sideOf(destination) };
  const missing = [requirements.guaranteedDeposit, requirements.fastFill].find(
    (need) => unsupportedEnd(need, ends) !== undefined,
  );
  return missing?.why;
}
