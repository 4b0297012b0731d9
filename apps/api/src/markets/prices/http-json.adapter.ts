import { ServiceError } from "@causeway/domain";

/** How to reach a price service. */
export interface PriceEndpoint {
  readonly baseUrl: string;
  /** Header that carries the key, if the service needs one. */
  readonly keyHeader?: { readonly name: string; readonly value: string } | undefined;
  /** Timeout of one request, ms. */
  readonly timeoutMs: number;
}

/** A price list has a few kilobytes; a larger response is invalid. */
const MAX_BYTES = 1_000_000;

/**
 * Reads a small JSON document. Keeps numbers as text, because a double would lose digits of a price.
 * @throws ServiceError PRICE_FETCH_FAILED for a timeout, an oversized or invalid response, or an unexpected
 * status; the message contains neither key nor URL
 */
export async function readPriceJson(
  endpoint: PriceEndpoint,
  pathAndQuery: string,
  signal: AbortSignal,
): Promise<unknown> {
  const { keyHeader, timeoutMs } = endpoint;
  try {
    const response = await fetch(`${endpoint.baseUrl.replace(/\/+$/, "")}${pathAndQuery}`, {
      headers: { accept: "application/json", ...(keyHeader && { [keyHeader.name]: keyHeader.value }) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      // A redirect could carry the key to another host.
      redirect: "error",
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`price service responded with HTTP status ${response.status}`);
    }
    return JSON.parse(await boundedText(response), numberText as (key: string, value: unknown) => unknown);
  } catch (cause) {
    throw new ServiceError("PRICE_FETCH_FAILED", "The price service did not return prices; try again", {
      cause,
    });
  }
}

async function boundedText(response: Response): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error(`price service response exceeds ${MAX_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Reviver that keeps each number as text. */
function numberText(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  return typeof value === "number" ? (context.source ?? String(value)) : value;
}

/** The fields of a JSON object; empty for anything else. */
export function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(
    typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [],
  );
}
