import { withoutUrlSecrets } from "@causeway/service-kit";
import type { EventName, Facts } from "../db/events.port.ts";
import { CRITICAL_ALARMS } from "../telemetry/alarm-events.ts";
import type { Severity } from "./notices.port.ts";

/** Facts that identify the subject of an event, most specific first. */
const IDENTIFYING = [
  "requestId",
  "executionId",
  "claimId",
  "depositId",
  "deliveryId",
  "id",
  "txHash",
  "oracle",
  "wallet",
  "address",
  "sender",
  "nonce",
  "chain",
  "chainId",
  "currency",
  "depository",
  "router",
  "pool",
  "slotId",
  "lane",
  "queue",
  "table",
] as const;
const MAX_VALUE = 200;
const MAX_TEXT = 1_000;
/** Maximum length of a subject, in UTF-16 units. Postgres indexes at most 2,700 bytes. */
const MAX_SUBJECT = 500;

/** The subject of an alarm: all identifying facts, so that two requests never share a subject. */
export function subjectOf(facts: Facts): string {
  return IDENTIFYING.flatMap((name) => (facts[name] === undefined ? [] : [`${name} ${shorten(facts[name])}`]))
    .join(", ")
    .slice(0, MAX_SUBJECT);
}

/** The facts of an alarm in one line, without credentials in URLs. */
export function textOf(event: EventName, facts: Facts): string {
  const listed = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${shorten(value)}`],
  );
  return (listed.length === 0 ? event : `${event}: ${listed.join(", ")}`).slice(0, MAX_TEXT);
}

/** Postgres text cannot contain NUL. */
function shorten(value: string | number | bigint | boolean | undefined): string {
  return withoutUrlSecrets(String(value)).replaceAll("\0", "").slice(0, MAX_VALUE);
}

const critical: ReadonlySet<EventName> = new Set(CRITICAL_ALARMS);

export function severityOf(event: EventName): Severity {
  return critical.has(event) ? "critical" : "warning";
}
