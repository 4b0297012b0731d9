import { Counter } from "prom-client";
import type { Registry } from "prom-client";
import { withoutUrlSecrets, type Logger } from "@causeway/service-kit";
import type { EventName, Events, Facts } from "../db/events.port.ts";
import { ALARMS } from "./alarm-events.ts";
import { fastFillMetrics } from "./fast-fill-metrics.ts";
import { fillTimes } from "./fill-times.ts";
import { foldRepeats, type Level } from "./fold-repeats.ts";

/** Alarms that repeat with every try while something waits. */
const WAITS: ReadonlySet<EventName> = new Set([
  "fill_waits",
  "execution_waits",
  "sweep_waits",
  "fast_fill_cover_waits",
  "hub_waits",
  "hub_refused",
  "signature_refused",
]);
/** Facts that may differ between tries of the same series. */
const OF_ONE_TRY: ReadonlySet<string> = new Set(["waitedMs", "failures"]);
/**
 * Facts that say where an outage is: all failed calls there belong to the same series, regardless of the
 * request.
 */
const PLACES = ["chain", "queue", "job", "oracle"] as const;

/** Counts and logs each event; repeated faults and waits are folded. */
export function loggedEvents(log: Logger, registry: Registry): Events {
  const counter = new Counter({
    name: "causeway_events_total",
    help: "Events of requests, lanes and chains by name and level; every retry counts",
    labelNames: ["event", "level"],
    registers: [registry],
  });
  // Start at zero: Prometheus sees no increase in a series that begins at one.
  for (const event of ALARMS) counter.inc({ event, level: "warn" }, 0);
  const measureFastFill = fastFillMetrics(registry);
  const measureFill = fillTimes(registry);
  const fold = foldRepeats((level, line) => log[level](line));
  const logRepeated = (level: Level, key: string, event: EventName, facts: object, failure: object): void => {
    fold({
      level,
      key,
      line: { event, ...facts, ...failure },
      brief: { event, ...facts, ...shorten(failure) },
      ended: { event: "repeats_ended", of: event, ...facts },
    });
  };
  return {
    happened: (event, facts) => {
      measureFastFill(event, facts);
      measureFill(event, facts);
      counter.inc({ event, level: "info" });
      log.info({ event, ...withoutBigints(facts) });
    },
    alarm: (event, facts) => {
      counter.inc({ event, level: "warn" });
      if (WAITS.has(event))
        logRepeated("warn", `${event} ${seriesOf(facts)}`, event, withoutBigints(facts), {});
      else log.warn({ event, ...withoutBigints(facts) });
    },
    fault: (event, error, facts) => {
      counter.inc({ event, level: "error" });
      const outage = outageKind(error);
      const series =
        outage === undefined
          ? `${seriesOf(facts)} ${problemOf(error)}`
          : `${PLACES.map((place) => facts[place] ?? "").join(" ")} ${outage}`;
      logRepeated("error", `${event} ${series}`, event, withoutBigints(facts), { err: error });
    },
  };
}

function seriesOf(facts: Facts): string {
  const identifying = Object.entries(facts).filter(([name]) => !OF_ONE_TRY.has(name));
  return identifying
    .map(([name, value]) => `${name}=${name === "why" ? normalize(String(value)) : String(value)}`)
    .join(" ");
}

/** Removes heights, amounts and hashes, which differ between texts of the same series. */
function normalize(text: string): string {
  return text.replace(/0x[0-9a-f]+|\d+/gi, "#");
}

/** The error with its causes: the same step may fail for a different reason later. */
function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const problem = `${error.name} ${normalize(error.message)}`;
  return error.cause instanceof Error ? `${problem} < ${problemOf(error.cause)}` : problem;
}

/**
 * The kind of outage of an endpoint or server that caused the error, if any. During an outage, all calls fail
 * in the same way.
 */
function outageKind(error: unknown): string | undefined {
  let kind: string | undefined;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { kind: rpcKind, code } = cause as { readonly kind?: unknown; readonly code?: unknown };
    if (code === "RPC_FAULT" && OUTAGE_KINDS.has(String(rpcKind))) kind = String(rpcKind);
    else if (typeof code === "string" && /^E[A-Z]+$/.test(code)) kind = code;
  }
  return kind;
}

const OUTAGE_KINDS: ReadonlySet<string> = new Set(["network", "deadline", "http"]);

/** The message of an error, without its stack and without secrets of URLs. */
function shorten(failure: object): object {
  const { err } = failure as { readonly err?: unknown };
  return err instanceof Error ? { problem: withoutUrlSecrets(err.message) } : {};
}

/** Amounts and heights as text: JSON has no bigint. */
function withoutBigints(facts: Facts): object {
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === "bigint" ? value.toString() : value]),
  );
}
