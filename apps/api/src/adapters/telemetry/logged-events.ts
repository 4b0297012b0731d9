import { Counter } from "prom-client";
import type { Registry } from "prom-client";
import type { Logger } from "@causeway/service-kit";
import type { EventName, Events, Facts } from "../../ports/events.ts";
import { fillTimes } from "./fill-times.ts";
import { fastFillMetrics } from "./fast-fill-metrics.ts";

/** One log line and one count for each event. */
export function loggedEvents(log: Logger, registry: Registry): Events {
  const counted = new Counter({
    name: "causeway_events_total",
    help: "Things that happened to requests, lanes and chains",
    labelNames: ["event", "level"],
    registers: [registry],
  });
  const measureFastFill = fastFillMetrics(registry);
  const measureFill = fillTimes(registry);
  const write = (level: "info" | "warn" | "error", event: EventName, facts: object): void => {
    counted.inc({ event, level });
    log[level]({ event, ...facts });
  };
  return {
    happened: (event, facts) => {
      measureFastFill(event, facts);
      measureFill(event, facts);
      write("info", event, plain(facts));
    },
    alarm: (event, facts) => write("warn", event, plain(facts)),
    fault: (event, error, facts) => write("error", event, { ...plain(facts), err: error }),
  };
}

/** Amounts and heights as text: JSON has no bigint. */
function plain(facts: Facts): object {
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === "bigint" ? value.toString() : value]),
  );
}
