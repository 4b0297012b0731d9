/**
 * Recognizes responses of endpoints to too many calls. Sources of the wordings: the error references of
 * Alchemy ("compute units per second", "monthly capacity limit"), QuickNode ("request limit reached"), Infura
 * ("request rate exceeded", "daily request count exceeded") and Chainstack ("RPS limit"); user reports for
 * dRPC ("too many request"), Base ("over rate limit") and public endpoints ("usage limit").
 */
const wordings = [
  /rate.?limit|too many requests?\b|throttl/i,
  /(?:requests?|calls) per (?:second|minute|day)|compute units|concurrent requests/i,
  /\b(?:requests?|rps|usage|calls?|credits?|throughput|capacity) (?:limit|quota)|quota (?:is )?exceeded/i,
  /request rate (?:is )?(?:exceed|limit|too high)|request count exceed|capacity exceeded/i,
];
/** Refusals of a batch with too many calls: not a rate limit, because smaller batches succeed. */
const batchSize = /too many requests in|batch.{0,40}(?:limit|size|more than|too (?:large|big|many))/i;

/**
 * Codes that only mean a rate limit, at Cloudflare ("cannot fulfill request") and Ankr. Ambiguous codes are
 * excluded: -32005 also refuses large ranges; -32016 (Base) is a timeout at Nethermind and a lagging node at
 * Solana.
 */
const codes: ReadonlySet<number> = new Set([429, -32_046, -32_029]);

export interface NodeErrorFacts {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

/** Whether a JSON-RPC error object reports too many calls. */
export function saysRateLimit({ code, message, data }: NodeErrorFacts): boolean {
  if (codes.has(code)) return true;
  // A contract chooses its revert message, and must not be able to pause an endpoint with it.
  if (code === 3 || /revert|VM execution error/i.test(message)) return false;
  if (typeof data === "string" && data.startsWith("0x")) return false;
  return !batchSize.test(message) && wordings.some((wording) => wording.test(message));
}
