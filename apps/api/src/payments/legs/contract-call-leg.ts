import type { LegHandler } from "./leg-course.ts";

const nothing = async (): Promise<void> => undefined;

/**
 * A call that its contract runs once, however often it is sent. What it achieved is read from the contract,
 * never from a receipt, so a slot that moves changes nothing else.
 */
export const contractCallLeg: LegHandler = {
  mined: nothing,
  orphaned: nothing,
  final: nothing,
  dead: nothing,
};
