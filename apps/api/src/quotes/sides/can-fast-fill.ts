import type { RequestEnd } from "../../chains/chains.port.ts";
import { lackingEnd, needs } from "./capabilities.ts";
import { sideOf } from "./side-of.ts";

/** Whether a request between two chains can be filled before its deposit counts. */
export function canFastFill(origin: RequestEnd, destination: RequestEnd): boolean {
  const ends = { origin: sideOf(origin), destination: sideOf(destination) };
  return lackingEnd(needs.fastFill, ends) === undefined;
}
