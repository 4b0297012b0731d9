import type { QuoteBody } from "@causeway/localnet";
import { bareKey, type BareAnswers } from "./bare-answers.ts";
import type { LoadRequest } from "./load-orders.ts";
import { median } from "./median.ts";

const SAMPLED_STATUSES = 200;

/**
 * Fetches real answers for the bare server: one quote of each kind, and a status of medium length.
 *
 * @throws Error if a response does not have status 200
 */
export async function captureAnswers(
  apiUrl: string,
  quotes: readonly QuoteBody[],
  statuses: readonly LoadRequest[],
): Promise<BareAnswers> {
  const forms = new Map(quotes.map((body) => [bareKey(body), body]));
  const captured: Record<string, string> = {};
  for (const [key, body] of forms) captured[key] = await answerTo(apiUrl, quoteRequest(body));
  const samples: string[] = [];
  for (const request of statuses.slice(0, SAMPLED_STATUSES)) samples.push(await answerTo(apiUrl, request));
  const middle = median(samples.map(({ length }) => length));
  const distance = (text: string): number => Math.abs(text.length - middle);
  const [status] = samples.toSorted((a, b) => distance(a) - distance(b));
  if (status === undefined) throw new RangeError("no stored request to query");
  return { quotes: captured, status };
}

export function quoteRequest(body: QuoteBody): LoadRequest {
  return { method: "POST", path: "/quote/v2", body: JSON.stringify(body) };
}

export function statusRequest(requestId: string): LoadRequest {
  return { method: "GET", path: `/intents/status/v3?requestId=${requestId}` };
}

async function answerTo(url: string, { method, path, body }: LoadRequest): Promise<string> {
  const answer = await fetch(`${url}${path}`, {
    method,
    signal: AbortSignal.timeout(10_000),
    ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${method} ${path} returned ${answer.status}: ${text}`);
  return text;
}
