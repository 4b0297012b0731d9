import type { NodeErrorFacts } from "@causeway/families";

/**
 * Milliseconds that a response asks to wait: in the header Retry-After (seconds or a date), in Infura's
 * `data.rate.backoff_seconds` and similar fields, or in its text; undefined if it does not.
 */
export function retryAfterMs(
  retryAfter: string | undefined,
  error: NodeErrorFacts | undefined,
  nowMs: number,
): number | undefined {
  return headerMs(retryAfter, nowMs) ?? (error === undefined ? undefined : errorMs(error));
}

function headerMs(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text.trim())) return Number(text) * 1_000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

const FIELDS = ["backoff_seconds", "retry_after", "retryAfter", "try_again_in", "tryAgainIn"];

function errorMs({ message, data }: NodeErrorFacts): number | undefined {
  const fields = fieldsOf(data);
  for (const holder of [fields, fieldsOf(fields["rate"])]) {
    for (const name of FIELDS) {
      const value = holder[name];
      const ms =
        typeof value === "number" ? value * 1_000 : typeof value === "string" ? textMs(value) : undefined;
      if (ms !== undefined && ms >= 0 && Number.isFinite(ms)) return ms;
    }
  }
  const pattern =
    /(?:try again|retry) (?:in|after) (\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|minutes?)?)\b/i;
  const text = pattern.exec(message)?.[1];
  return text === undefined ? undefined : textMs(text);
}

/** `700ms`, `1.5s`, `2 minutes`; a plain number means seconds. */
function textMs(text: string): number | undefined {
  const [, digits, unit = "s"] = /^\s*(\d+(?:\.\d+)?) ?([a-z]*)/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const factor = /^m(?:s|illi)/i.test(unit) ? 1 : /^m/i.test(unit) ? 60_000 : 1_000;
  return Number(digits) * factor;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
