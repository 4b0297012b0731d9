import { setTimeout as sleep } from "node:timers/promises";
import { quoteAnswer, statusAnswer, type QuoteAnswer, type StatusAnswer } from "@causeway/wire";
import type { Random } from "./random.ts";

/** An answer that a retry would not improve. */
export class ApiFailed extends Error {
  override readonly name = "ApiFailed";
  readonly code = "API_FAILED";
}

/** The public HTTP API, as seen by a client that retries what may be retried. */
export interface SoakApi {
  quote(body: object): Promise<{ answer: QuoteAnswer; tookMs: number }>;
  status(requestId: string): Promise<StatusAnswer>;
  indexTransaction(body: object): Promise<void>;
  singleTransaction(body: object): Promise<void>;
  /** How many times something had to be retried, by cause. */
  readonly retries: ReadonlyMap<string, number>;
}

export interface SoakApiOptions {
  readonly urls: readonly string[];
  readonly random: Random;
  /** How long a call is retried after a server error or a refused connection; 0: never. */
  readonly retryForMs: number;
}

/** Each call goes to one of the processes at random. Answers are checked against their schemas. */
export function createSoakApi({ urls, random, retryForMs }: SoakApiOptions): SoakApi {
  const retries = new Map<string, number>();
  const call = async (path: string, body?: object): Promise<unknown> => {
    const giveUpAtMs = Date.now() + retryForMs;
    // A transaction that no node has seen yet is retryable by contract, regardless of other errors.
    const patientUntilMs = Date.now() + Math.max(retryForMs, 5_000);
    for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
      const outcome = await callOnce(`${random.pick(urls)}${path}`, body);
      if (outcome.kind === "ok") return outcome.json;
      const isUnseen = outcome.cause === "404 TRANSACTION_NOT_FOUND";
      const mayRetry = outcome.retryable && Date.now() < (isUnseen ? patientUntilMs : giveUpAtMs);
      if (!mayRetry)
        throw new ApiFailed(`${path.split("?")[0]}: ${outcome.cause}: ${outcome.text.slice(0, 300)}`);
      retries.set(outcome.cause, (retries.get(outcome.cause) ?? 0) + 1);
      await sleep(pauseMs);
    }
  };
  return {
    retries,
    quote: async (body) => {
      const startedAtMs = performance.now();
      const answer = await call("/quote/v2", body);
      const tookMs = performance.now() - startedAtMs;
      return { answer: quoteAnswer.parse(answer), tookMs };
    },
    status: async (requestId) => statusAnswer.parse(await call(`/intents/status/v3?requestId=${requestId}`)),
    indexTransaction: async (body) => void (await call("/transactions/index", body)),
    singleTransaction: async (body) => void (await call("/transactions/single", body)),
  };
}

type Outcome =
  | { readonly kind: "ok"; readonly json: unknown }
  | { readonly kind: "failed"; readonly cause: string; readonly retryable: boolean; readonly text: string };

async function callOnce(url: string, body: object | undefined): Promise<Outcome> {
  try {
    const response = await fetch(url, {
      ...(body === undefined
        ? {}
        : {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(body),
          }),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await response.text();
    if (response.ok) return { kind: "ok", json: JSON.parse(text) };
    const code = /"errorCode":"([A-Z_]+)"/.exec(text)?.[1] ?? "";
    const cause = `${response.status} ${code}`.trim();
    const retryable = response.status >= 500 || cause === "404 TRANSACTION_NOT_FOUND";
    return { kind: "failed", cause, retryable, text };
  } catch (error) {
    const cause = error instanceof Error ? error.name : "unknown";
    return { kind: "failed", cause: `no response (${cause})`, retryable: true, text: String(error) };
  }
}
