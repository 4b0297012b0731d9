import type { Curve } from "./curve.ts";
import { nativeCurve } from "./native-curve.ts";
import { portableCurve } from "./portable-curve.ts";

/**
 * What this process signs and recovers with. Its `backend` is worth a line in the log and a metric: ten times
 * the time per signature shows nowhere else.
 */
export const curve: Curve = nativeCurve() ?? portableCurve;
