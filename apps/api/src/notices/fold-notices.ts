import type {
  Finding,
  Message,
  NoticeKey,
  NoticeState,
  Round,
  Severity,
  StoredAlarm,
} from "./notices.port.ts";

/** After a message, further alarms about the same subject are only counted for this long. */
export const REPEAT_MS = 3_600_000;
/** Maximum number of messages within {@link WINDOW_MS}. All further alarms share one message. */
export const MAX_MESSAGES = 20;
export const WINDOW_MS = 600_000;
/** A condition ends when no process has seen it for this long, because processes may use different nodes. */
const ENDS_AFTER_MS = 60_000;
/** Maximum number of alarms that a digest names. */
const MAX_NAMED = 10;

/**
 * Decides which messages report what happened. Undefined: the limit of messages is reached, so everything
 * waits.
 * @param states earlier reports about the keys of the alarms and findings
 * @param sent messages of the last {@link WINDOW_MS}
 */
export function foldNotices(
  {
    alarms,
    findings,
    states,
    sent,
  }: {
    readonly alarms: readonly StoredAlarm[];
    readonly findings: readonly Finding[];
    readonly states: readonly NoticeState[];
    readonly sent: number;
  },
  nowMs: number,
): Round | undefined {
  const remaining = MAX_MESSAGES - sent;
  if (remaining <= 0) return undefined;
  const stateByKey = new Map(states.map((state) => [keyOf(state), state]));
  const rounds = [
    ...[...Map.groupBy(alarms, keyOf).entries()].map(([key, group]) =>
      foldAlarms(group, stateByKey.get(key), nowMs),
    ),
    ...findings.map((finding) => foldFinding(finding, stateByKey.get(keyOf(finding)), nowMs)),
  ];
  return {
    messages: withinLimit(
      rounds.flatMap(({ messages }) => messages),
      remaining,
      nowMs,
    ),
    states: rounds.flatMap((round) => round.states),
    ended: rounds.flatMap(({ ended }) => ended),
  };
}

export function keyOf({ rule, subject }: NoticeKey): string {
  return `${rule} ${subject}`;
}

function foldAlarms(group: readonly StoredAlarm[], state: NoticeState | undefined, nowMs: number): Round {
  const last = group.at(-1);
  if (last === undefined) return { messages: [], states: [], ended: [] };
  const { rule, subject, severity, text } = last;
  const seen = { rule, subject, severity, isCondition: false, seenAtMs: nowMs };
  const count = (state?.unreported ?? 0) + group.length;
  if (state !== undefined && nowMs - state.notifiedAtMs < REPEAT_MS)
    return {
      messages: [],
      states: [{ ...seen, notifiedAtMs: state.notifiedAtMs, unreported: count }],
      ended: [],
    };
  const message = { rule, subject, severity, text, count, status: "raised", atMs: last.atMs } as const;
  return { messages: [message], states: [{ ...seen, notifiedAtMs: nowMs, unreported: 0 }], ended: [] };
}

function foldFinding(finding: Finding, state: NoticeState | undefined, nowMs: number): Round {
  const { rule, subject, severity, text, isOpen } = finding;
  const message = { rule, subject, severity, text, count: 1, atMs: nowMs };
  if (!isOpen) {
    if (state === undefined || nowMs - state.seenAtMs < ENDS_AFTER_MS)
      return { messages: [], states: [], ended: [] };
    return { messages: [{ ...message, status: "resolved" }], states: [], ended: [{ rule, subject }] };
  }
  const isNew = state === undefined;
  const next = { rule, subject, severity, isCondition: true, seenAtMs: nowMs, unreported: 0 };
  return {
    messages: isNew ? [{ ...message, status: "raised" }] : [],
    states: [{ ...next, notifiedAtMs: isNew ? nowMs : state.notifiedAtMs }],
    ended: [],
  };
}

/** The most severe messages, and one digest of all others. */
function withinLimit(messages: readonly Message[], limit: number, nowMs: number): readonly Message[] {
  if (messages.length <= limit) return messages;
  const sorted = messages.toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity));
  const [shown, digested] = [sorted.slice(0, limit - 1), sorted.slice(limit - 1)];
  const counts = [
    ...Map.groupBy(digested, ({ rule, status }) => (status === "resolved" ? `${rule} resolved` : rule)),
  ];
  const totals = counts.map(([name, group]) => `${name} ×${sum(group)}`).join(", ");
  const texts = digested.slice(0, MAX_NAMED).map(({ text }) => text);
  const digest: Message = {
    rule: "digest",
    subject: "",
    status: "digest",
    severity: digested[0]?.severity ?? "warning",
    text: `${digested.length} more notices: ${totals}. The first of them: ${texts.join("; ")}`,
    count: sum(digested),
    atMs: nowMs,
  };
  return [...shown, digest];
}

const rankOf = (severity: Severity): number => (severity === "critical" ? 0 : 1);
const sum = (messages: readonly Message[]): number => messages.reduce((total, { count }) => total + count, 0);
