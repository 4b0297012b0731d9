import { judgeMax, type Verdict } from "../goals.ts";
import type { PushFigures } from "./measure-push.ts";

const MEDIAN_MS = 250;

export function judgePush({ subscribers, deliveryMs }: PushFigures): Verdict[] {
  return [
    judgeMax(
      `end of a request received by ${subscribers.toLocaleString("en")} sockets, median`,
      deliveryMs.p50,
      MEDIAN_MS,
      " ms",
    ),
  ];
}

/** The figures as table lines. */
export function pushLines({ subscribers, deliveryMs, commitsPerSecond }: PushFigures): string[] {
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return [
    `Push: ${subscribers.toLocaleString("en")} sockets on one process, each notified of the end of its request`,
    `  from commit to client       median ${ms(deliveryMs.p50)}   p90 ${ms(deliveryMs.p90)}   p99 ${ms(deliveryMs.p99)}   max ${ms(deliveryMs.max)}`,
    `  commits                     ${commitsPerSecond.toFixed(0)} /s`,
  ];
}
