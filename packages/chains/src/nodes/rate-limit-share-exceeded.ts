import { RpcFault } from "@causeway/families";

/**
 * The request was not sent, because it would have exceeded its share of the endpoint's rate limit. It proves
 * nothing.
 */
export class RateLimitShareExceeded extends RpcFault {
  readonly retryAfterSeconds: number;

  constructor(
    method: string,
    { perMinute, waitMs }: { readonly perMinute: number; readonly waitMs: number },
  ) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
    super({
      kind: "http",
      isPause: true,
      method,
      reason: `this service has used up its share of the endpoint's rate limit (weight ${Math.floor(perMinute)} per minute); try again in ${seconds} s`,
    });
    this.retryAfterSeconds = seconds;
  }
}
