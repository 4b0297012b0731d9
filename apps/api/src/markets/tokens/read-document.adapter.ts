import { open } from "node:fs/promises";

export interface DocumentBounds {
  readonly maxBytes: number;
  /** Timeout of the whole response, including redirects, ms. */
  readonly timeoutMs: number;
}

const MAX_REDIRECTS = 3;

/**
 * Reads the JSON document at a file path or URL; the configuration decides which URLs are allowed. Token
 * lists are trusted, so redirects are followed only to `https` URLs or within the same origin: no one in
 * between may answer.
 * @throws Error for any failure: time, size, status, syntax
 */
export async function readDocument(
  source: string,
  bounds: DocumentBounds,
  signal: AbortSignal,
): Promise<unknown> {
  const text = /^https?:\/\//i.test(source)
    ? await fetchText(source, bounds, signal)
    : await readBoundedFile(source, bounds);
  return JSON.parse(text);
}

async function readBoundedFile(path: string, { maxBytes }: DocumentBounds): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > maxBytes) throw new Error(`the file exceeds ${maxBytes} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

async function fetchText(
  url: string,
  { maxBytes, timeoutMs }: DocumentBounds,
  signal: AbortSignal,
): Promise<string> {
  const response = await followRedirects(
    new URL(url),
    AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  );
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`responded with HTTP status ${response.status}`);
  }
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`the response exceeds ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

async function followRedirects(url: URL, signal: AbortSignal, redirects = 0): Promise<Response> {
  const response = await fetch(url, { headers: { accept: "application/json" }, signal, redirect: "manual" });
  const location = response.headers.get("location");
  if (response.status < 300 || response.status >= 400 || location === null) return response;
  await response.body?.cancel();
  const next = new URL(location, url);
  if (next.protocol !== "https:" && next.origin !== url.origin)
    throw new Error("redirects to an unencrypted URL of another origin");
  if (redirects >= MAX_REDIRECTS) throw new Error(`redirects more than ${MAX_REDIRECTS} times`);
  return await followRedirects(next, signal, redirects + 1);
}
