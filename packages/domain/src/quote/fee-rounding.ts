import { bpsOfDown, bpsOfUp } from "../money/bps.ts";

/** How fees round: in the service's favor, by at most one base unit in total. */

/**
 * The proportional fees of an input, in its base units. Their sum is rounded up, the app's part is rounded
 * down, and the rest is the service's. If both were rounded up, one more unit of input could raise both fees
 * and yield less output.
 */
export function proportionalFees(
  input: bigint,
  { serviceBps, appBps }: { readonly serviceBps: number; readonly appBps: number },
): { readonly service: bigint; readonly app: bigint } {
  const app = bpsOfDown(input, appBps);
  return { service: bpsOfUp(input, serviceBps + appBps) - app, app };
}
