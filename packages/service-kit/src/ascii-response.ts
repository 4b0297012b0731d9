import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * A response that sends texts of ASCII alone as Latin-1: the same bytes, but Node encodes UTF-8 by way of a
 * buffer of three times the length, which a quote pays with a tenth of what sending it costs. Such a text has
 * as many characters as its `content-length` says bytes; counting them again would cost as much as is won.
 */
export class AsciiResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  private declaredLength: unknown;

  override writeHead(statusCode: number, reasonOrHeaders?: string | Headers, headers?: Headers): this {
    const given = typeof reasonOrHeaders === "string" ? headers : reasonOrHeaders;
    if (given !== undefined && !Array.isArray(given)) this.declaredLength = given["content-length"];
    return super.writeHead(statusCode, reasonOrHeaders as string, headers);
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    const isAscii =
      typeof chunk === "string" &&
      (encoding === undefined || encoding === null) &&
      chunk.length === Number(this.declaredLength);
    return super.end(chunk, (isAscii ? "latin1" : encoding) as BufferEncoding, callback as () => void);
  }
}
