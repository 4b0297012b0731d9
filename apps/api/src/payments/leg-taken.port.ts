import type { Leg } from "../db/leg.port.ts";

/** A nonce that is not known to be dead already pays this leg: paying again could pay twice. */
export class LegTaken extends Error {
  readonly leg: Leg;
  constructor(leg: Leg) {
    super(`a live nonce already pays this ${leg.kind}`);
    this.name = "LegTaken";
    this.leg = leg;
  }
}
