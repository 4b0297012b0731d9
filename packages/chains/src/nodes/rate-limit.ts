/**
 * How endpoints tell that they got too many calls. Sources of the wordings: the error references of Alchemy
 * ("compute units per second", "monthly capacity limit"), QuickNode ("request limit reached"), Infura
 * ("request rate exceeded", "daily request count exceeded") and Chainstack ("RPS limit"); user reports for
 * dRPC ("too many request"), Base ("over rate limit") and public endpoints ("usage limit").
 */
const wordings = [
  /rate.?limit|too many requests?\b|throttl/i,
  /(?:requests?|calls) per (?:second|minute|day)|compute units|concurrent requests/i,
  /\b(?:requests?|rps|usage|calls?|credits?|throughput|capacity) (?:limit|quota)|quota (?:is )?exceeded/i,
  /request rate (?:is )?(?:exceed|limit|too high)|request count exceed|capacity exceeded/i,
];
/** A batch that has too many calls is refused as well, and smaller ones pass. */
const batchSize = /too many requests in|batch.{0,40}(?:limit|size|more than|too (?:large|big|many))/i;

/**
 * Cloudflare ("cannot fulfill request") and Ankr: codes that mean nothing else. Plain -32005 also refuses
 * large ranges; -32016 (Base) is a timeout at Nethermind and a lagging node at Solana.
 */
const codes: ReadonlySet<number> = new Set([429, -32_046, -32_029]);

export interface NodeErrorFacts {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

/** Whether an error object of JSON-RPC says that there were too many calls. */
export function saysRateLimit({ code, message, data }: NodeErrorFacts): boolean {
  if (codes.has(code)) return true;
  // The words of a revert are chosen by the contract, which must not be able to pause an endpoint.
  if (code === 3 || /revert|VM execution error/i.test(message)) return false;
  if (typeof data === "string" && data.startsWith("0x")) return false;
  return !batchSize.test(message) && wordings.some((wording) => wording.test(message));
}

/**
 * Milliseconds that an answer asks to wait: by the header Retry-After (seconds or a date), by Infura's
 * `data.rate.backoff_seconds` and its relatives, or by its text; undefined when it does not say.
 */
export function pauseAskedBy(
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
  const said =
    /(?:try again|retry) (?:in|after) (\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|minutes?)?)\b/i;
  const text = said.exec(message)?.[1];
  return text === undefined ? undefined : textMs(text);
}

/** `700ms`, `1.5s`, `2 minutes`; a number alone is seconds. */
function textMs(text: string): number | undefined {
  const [, digits, unit = "s"] = /^\s*(\d+(?:\.\d+)?) ?([a-z]*)/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const factor = /^m(?:s|illi)/i.test(unit) ? 1 : /^m/i.test(unit) ? 60_000 : 1_000;
  return Number(digits) * factor;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
