import { type IncomingMessage, ServerResponse } from "node:http";

/**
 * A response that sends texts of ASCII alone as Latin-1: the same bytes, but Node encodes UTF-8 by way of a buffer of three times the length, which a
 * quote pays with a tenth of what sending it costs.
 */
export class AsciiResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    const isAscii =
      typeof chunk === "string" &&
      (encoding === undefined || encoding === null) &&
      Buffer.byteLength(chunk) === chunk.length;
    return super.end(chunk, (isAscii ? "latin1" : encoding) as BufferEncoding, callback as () => void);
  }
}
