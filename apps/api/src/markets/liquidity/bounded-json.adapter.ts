/** An answer with a status other than 200. */
export class StatusFault extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the response has HTTP status ${status}`);
    this.status = status;
  }
}

/**
 * The JSON of a response with status 200 and at most `maxBytes` bytes.
 * @throws Error for any other response; the error does not contain the response
 */
export async function boundedJson(response: Response, maxBytes: number): Promise<unknown> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new StatusFault(response.status);
  }
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`the response exceeds ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return JSON.parse(text + decoder.decode()) as unknown;
}
