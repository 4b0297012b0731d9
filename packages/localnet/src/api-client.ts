import {
  chainsAnswer,
  quoteAnswer,
  statusAnswer,
  type QuoteAnswer,
  type StatusAnswer,
  type WireChain,
} from "@causeway/wire";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { ANSWER_WITHIN_MS } from "@causeway/testkit";

/** A quote request: amounts in base units, addresses in the chain's format. */
export interface QuoteBody {
  readonly user: string;
  readonly recipient?: string;
  readonly refundTo?: string;
  readonly originChainId: number;
  readonly destinationChainId: number;
  readonly originCurrency: string;
  readonly destinationCurrency: string;
  /** `v2` for withdrawals from Hyperliquid. */
  readonly protocolVersion?: "v2";
  readonly amount: string;
  readonly tradeType: "EXACT_INPUT" | "EXPECTED_OUTPUT" | "EXACT_OUTPUT";
}

/** The API answered with an error status. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code = "API_REFUSED";
  readonly httpStatus: number;
  readonly body: string;

  constructor(facts: { request: string; httpStatus: number; body: string }) {
    super(`${facts.request} returned ${facts.httpStatus}: ${facts.body.slice(0, 500)}`);
    this.httpStatus = facts.httpStatus;
    this.body = facts.body;
  }
}

/** A client of the public HTTP API. Validates every response against its schema. */
export interface ApiClient {
  chains(): Promise<readonly WireChain[]>;
  quote(body: QuoteBody): Promise<QuoteAnswer>;
  status(requestId: Hex): Promise<StatusAnswer>;
  /**
   * Polls the status until it is `success`, `refund` or `failure`. The funds have arrived by then, although
   * their block may not be final yet (`final` is false).
   *
   * @param onChange called with each status that differs from the previous one
   * @throws Error if the deadline passes first
   */
  waitUntilEnded(
    requestId: Hex,
    deadline: AbortSignal,
    onChange?: (answer: StatusAnswer) => void,
  ): Promise<StatusAnswer>;
}

const endStatuses: readonly StatusAnswer["status"][] = ["success", "refund", "failure"];

/** @param pollIntervalMs used by `waitUntilEnded`; the interval that the API recommends is for remote use */
export function createApiClient(apiUrl: string, pollIntervalMs = 100): ApiClient {
  const call = async (path: string, body?: unknown): Promise<unknown> => {
    const post = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${apiUrl}${path}`, {
      ...(body === undefined ? {} : post),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    throw new ApiError({
      request: `${body === undefined ? "GET" : "POST"} ${path}`,
      httpStatus: response.status,
      body: text,
    });
  };
  const status = async (requestId: Hex): Promise<StatusAnswer> =>
    statusAnswer.parse(await call(`/intents/status/v3?requestId=${requestId}`));
  return {
    chains: async () => chainsAnswer.parse(await call("/chains")).chains,
    quote: async (body) => quoteAnswer.parse(await call("/quote/v2", body)),
    status,
    waitUntilEnded: async (requestId, deadline, onChange) => {
      for (let last = ""; ;) {
        const answer = await status(requestId);
        if (answer.status !== last) onChange?.(answer);
        last = answer.status;
        if (endStatuses.includes(answer.status)) return answer;
        if (deadline.aborted) throw new Error(`request ${requestId} is still ${last}: ${answer.nextAction}`);
        await sleep(pollIntervalMs);
      }
    },
  };
}
