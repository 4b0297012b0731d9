import type { Curve } from "./curve.ts";
import { nativeCurve } from "./native-curve.ts";
import { portableCurve } from "./portable-curve.ts";

/**
 * The curve with which this process signs and recovers. Log and publish its `backend`: nothing else shows
 * that the ten times slower portable curve is in use.
 */
export const curve: Curve = nativeCurve() ?? portableCurve;
