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
 * Facts that identify an outage: all failed calls to one place belong to the same series, regardless of the
 * request.
 */
const PLACES = ["chain", "queue", "job", "oracle"] as const;

/** Counts and logs each event; repeated faults and waits are folded. */
export function loggedEvents(log: Logger, registry: Registry): Events {
  const counted = new Counter({
    name: "causeway_events_total",
    help: "Events of requests, lanes and chains by name and level; every retry counts",
    labelNames: ["event", "level"],
    registers: [registry],
  });
  // Start at zero: Prometheus sees no increase in a series that begins at one.
  for (const event of ALARMS) counted.inc({ event, level: "warn" }, 0);
  const measureFastFill = fastFillMetrics(registry);
  const measureFill = fillTimes(registry);
  const fold = foldRepeats((level, line) => log[level](line));
  const repeated = (level: Level, key: string, event: EventName, facts: object, rest: object): void => {
    fold({
      level,
      key,
      line: { event, ...facts, ...rest },
      brief: { event, ...facts, ...shortened(rest) },
      ended: { event: "repeats_ended", of: event, ...facts },
    });
  };
  return {
    happened: (event, facts) => {
      measureFastFill(event, facts);
      measureFill(event, facts);
      counted.inc({ event, level: "info" });
      log.info({ event, ...plain(facts) });
    },
    alarm: (event, facts) => {
      counted.inc({ event, level: "warn" });
      if (WAITS.has(event)) repeated("warn", `${event} ${seriesOf(facts)}`, event, plain(facts), {});
      else log.warn({ event, ...plain(facts) });
    },
    fault: (event, error, facts) => {
      counted.inc({ event, level: "error" });
      const outage = outageKind(error);
      const where =
        outage === undefined
          ? `${seriesOf(facts)} ${problemOf(error)}`
          : `${PLACES.map((place) => facts[place] ?? "").join(" ")} ${outage}`;
      repeated("error", `${event} ${where}`, event, plain(facts), { err: error });
    },
  };
}

function seriesOf(facts: Facts): string {
  const same = Object.entries(facts).filter(([name]) => !OF_ONE_TRY.has(name));
  return same
    .map(([name, value]) => `${name}=${name === "why" ? normalized(String(value)) : String(value)}`)
    .join(" ");
}

/** Reasons and messages of the same series differ by heights, amounts and hashes. */
function normalized(text: string): string {
  return text.replace(/0x[0-9a-f]+|\d+/gi, "#");
}

/** The error with its causes: the same step may fail for a different reason later. */
function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const problem = `${error.name} ${normalized(error.message)}`;
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

/** The facts with errors reduced to their messages. */
function shortened(rest: object): object {
  const { err } = rest as { readonly err?: unknown };
  return err instanceof Error ? { problem: withoutUrlSecrets(err.message) } : {};
}

/** Amounts and heights as text: JSON has no bigint. */
function plain(facts: Facts): object {
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === "bigint" ? value.toString() : value]),
  );
}
