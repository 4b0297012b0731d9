import type { LookupAddress, LookupAllOptions, LookupOptions } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import { Agent } from "undici";
import type { AttemptOutcome, WebhookPolicy, WebhookSender } from "./webhooks.port.ts";
import { isPublicAddress, mayBePublicHost } from "./public-address.adapter.ts";

/** Bytes of an answer kept for the log; the rest is not read. */
const MAX_ANSWER_BYTES = 1_024;

/** Resolves all addresses of a name. */
export type Resolve = (host: string, options: LookupAllOptions) => Promise<readonly LookupAddress[]>;

class AddressRefused extends Error {}

/**
 * Delivers over HTTP, only to public addresses unless the policy allows private ones. Connects to the checked
 * addresses, so a later DNS change has no effect. Each attempt uses a new connection. Does not follow
 * redirects.
 */
export function httpSender(
  { allowPrivate, timeoutMs }: WebhookPolicy,
  resolve: Resolve = systemLookup,
): WebhookSender & { close(): Promise<void> } {
  const agent = new Agent({
    connect: { lookup: checkedLookup(allowPrivate, resolve), timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: 16_384,
  });
  return {
    async send({ url, headers, body, signal }): Promise<AttemptOutcome> {
      const startedAtMs = performance.now();
      const bound = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const outcome = (result: Pick<AttemptOutcome, "status" | "error" | "response">): AttemptOutcome => ({
        ...result,
        tookMs: Math.round(performance.now() - startedAtMs),
      });
      try {
        const target = new URL(url);
        checkTarget(target, allowPrivate);
        const answer = await agent.request({
          origin: target.origin,
          path: `${target.pathname}${target.search}`,
          method: "POST",
          headers,
          body,
          signal: bound,
          // A new connection for each attempt, so that the addresses are checked again.
          reset: true,
        });
        const status = answer.statusCode;
        const response = await readBeginning(answer.body);
        if (status >= 200 && status < 300) return outcome({ status, error: undefined, response });
        return outcome({ status, error: `HTTP status ${status}`, response });
      } catch (error) {
        return outcome({ status: undefined, error: reasonOf(error, timeoutMs), response: undefined });
      }
    },
    close: async () => await agent.destroy(),
  };
}

/** @throws AddressRefused for a URL that must not be called, regardless of what its host resolves to */
function checkTarget({ protocol, hostname }: URL, allowPrivate: boolean): void {
  if (allowPrivate) return;
  if (protocol !== "https:") throw new AddressRefused("the URL is not https");
  // A literal address is never looked up, so it is checked here.
  if (!mayBePublicHost(hostname)) throw notPublic(hostname);
}

/** Resolves a host for a connection, and refuses forbidden addresses. */
export function checkedLookup(allowPrivate: boolean, resolve: Resolve) {
  return (
    host: string,
    options: LookupOptions,
    onResolved: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  ): void => {
    resolve(host, { ...options, all: true }).then(
      (addresses) => {
        const privateAddress = allowPrivate
          ? undefined
          : addresses.find(({ address }) => !isPublicAddress(address));
        const [first] = addresses;
        // One private address makes the host suspect: none of its addresses is called.
        if (privateAddress !== undefined) onResolved(notPublic(privateAddress.address), []);
        else if (first === undefined) onResolved(new AddressRefused("the host name has no address"), []);
        else if (options.all === true) onResolved(null, [...addresses]);
        else onResolved(null, first.address, first.family);
      },
      (error: unknown) => onResolved(error instanceof Error ? error : new Error(String(error)), []),
    );
  };
}

const notPublic = (address: string): AddressRefused =>
  new AddressRefused(`the address ${address} is not public`);

/** Reads the beginning of the response. Errors after the head do not change the outcome. */
async function readBeginning(body: AsyncIterable<Buffer> & { destroy(): void }): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= MAX_ANSWER_BYTES) break;
    }
  } catch {
    // Ignored: the head arrived, and the rest is only for the log.
  } finally {
    body.destroy();
  }
  // Postgres text cannot contain NUL.
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString("utf8").replaceAll("\0", "");
}

/** The reason that the endpoint's owner sees. Must reveal nothing about the internal network. */
function reasonOf(error: unknown, timeoutMs: number): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefused) return cause.message;
    if (cause.name === "TimeoutError" || ("code" in cause && /^UND_ERR_.*TIMEOUT$/.test(String(cause.code))))
      return `no response within ${timeoutMs} ms`;
    if (cause.name === "AbortError") return "canceled";
    if ("code" in cause && typeof cause.code === "string") return cause.code;
  }
  return "the request failed";
}
