import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Address } from "@causeway/domain";
import type { TracedCall } from "@causeway/families/evm";
import { isTracingRefused, isTypeRefused } from "./rpc-errors.ts";
import { NodeRefusal } from "@causeway/families";
import type { TraceQuestion } from "./trace-question.ts";
import { runChanges, type AuthorizationWay } from "./trace-run.ts";

/** `unsupported`: the chain accepts no transactions with authorizations (EIP-7702). */
export type AuthorizationSupport = AuthorizationWay | "unsupported";

export interface AuthorizationWays {
  /** How to pass authorizations to the node. @throws RpcFault; NodeRefusal if the node does not trace */
  find(question: TraceQuestion): Promise<AuthorizationSupport>;
}

/** How long a result is cached, ms: an update of the node or the chain may change it. */
const CACHE_MS = 600_000;
/** Gas for a transaction that does nothing, and its authorization. */
const GAS = 100_000n;

/**
 * Finds out how a node applies authorizations: traces our own call in which a random account authorizes code,
 * and checks whether that took effect. A client's call could be crafted to suggest either result.
 */
export function authorizationWays(chainId: number): AuthorizationWays {
  let cached: { readonly way: AuthorizationSupport; readonly atMs: number } | undefined;
  return {
    async find(question) {
      if (question.delegations.length === 0) return "listed";
      if (cached === undefined || performance.now() - cached.atMs > CACHE_MS)
        cached = { way: await findOut(question, chainId), atMs: performance.now() };
      return cached.way;
    },
  };
}

async function findOut(question: TraceQuestion, chainId: number): Promise<AuthorizationSupport> {
  const account = privateKeyToAccount(generatePrivateKey());
  const authority = account.address.toLowerCase() as Address;
  const { r, s, yParity } = await account.signAuthorization({ chainId, address: authority, nonce: 0 });
  const authorization = {
    chainId,
    address: authority,
    nonce: 0,
    r,
    s,
    yParity: yParity === 1 ? 1 : 0,
  } as const;
  const probeQuestion = emptyCallQuestion(question, { authorizationList: [authorization] });
  try {
    const changes = await runChanges(probeQuestion, { gas: GAS, way: "listed", isSenderFunded: true });
    return changes?.get(authority)?.nonceAfter === 1n ? "listed" : "overridden";
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    if (isTypeRefused(error)) return "unsupported";
    if (!isTracingRefused(error)) throw error;
    // Repeats the call without the list; throws if tracing itself is refused.
    await traceEmptyCall(question);
    return "unsupported";
  }
}

/** Traces a call that does nothing. @throws RpcFault, NodeRefusal if the node does not trace */
export async function traceEmptyCall(question: TraceQuestion): Promise<void> {
  await runChanges(emptyCallQuestion(question, {}), { gas: GAS, way: "listed", isSenderFunded: true });
}

/** A call without data or value to an account without code. */
function emptyCallQuestion(
  question: TraceQuestion,
  change: Pick<TracedCall, "authorizationList">,
): TraceQuestion {
  const call = { to: question.from, data: "0x", value: 0n, ...change } as const;
  return { ...question, call, delegations: [] };
}
