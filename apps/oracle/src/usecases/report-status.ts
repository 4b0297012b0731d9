import { RpcFault } from "@causeway/chains";
import type { FinalHead } from "@causeway/chains";
import type { OracleStatus } from "@causeway/wire";
import type { AttestationServices } from "../ports/attestation-services.ts";
import type { AttestedChain } from "../ports/attested-chains.ts";
import type { Aggregation } from "./with-peers.ts";
import { withTimeout } from "./with-timeout.ts";

/** How long a report is cached. */
const CACHE_MS = 10_000;
/** A slower node is reported as unreachable. */
const NODE_TIMEOUT_MS = 3_000;

export interface StatusFacts {
  readonly shadow: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: () => number;
}

type QueryResult<T> = { readonly value: T } | { readonly problem: string };

/** Queries all chains and the hub in parallel, at most once per `CACHE_MS`. */
export function statusReport(
  { chains, hub, hubReader }: Pick<AttestationServices, "chains" | "hub" | "hubReader">,
  { policy }: Pick<Aggregation, "policy">,
  { shadow, nowMs }: StatusFacts,
): () => Promise<OracleStatus> {
  let cached:
    | { readonly report: Promise<Omit<OracleStatus, "checkedSecondsAgo">>; readonly atMs: number }
    | undefined;

  const blockOf = (head: FinalHead | undefined): OracleStatus["hub"]["finalBlock"] =>
    head && {
      height: Number(head.height),
      ...(head.timestamp !== undefined && {
        ageSeconds: secondsSince(Number(head.timestamp) * 1_000, nowMs()),
      }),
    };

  async function hubStatus(): Promise<OracleStatus["hub"]> {
    const hasMultisig = hub.oracleMultisigAddress !== undefined;
    const [head, multisig] = await Promise.all([
      query(async () => await hubReader.newestFinal()),
      hasMultisig ? query(async () => await hubReader.multisig(policy.localSigner)) : undefined,
    ]);
    return {
      id: hub.name,
      chainId: hub.chainId,
      ...reachOf(head),
      finalBlock: "value" in head ? blockOf(head.value) : undefined,
      multisig: multisig !== undefined && "value" in multisig ? multisig.value : null,
    };
  }

  async function chainStatus({
    chain: { name, vmType },
    evidence,
    lastAnswerMs,
  }: AttestedChain): Promise<OracleStatus["chains"][number]> {
    const head = evidence?.newestFinal && (await query(async () => await evidence.newestFinal?.()));
    const answeredAtMs = lastAnswerMs?.();
    return {
      id: name,
      vmType,
      ...(head === undefined
        ? {
            status:
              evidence === undefined ? "unsupported" : answeredAtMs === undefined ? "unknown" : "reachable",
          }
        : { ...reachOf(head), finalBlock: "value" in head ? blockOf(head.value) : undefined }),
      lastAnswerSecondsAgo: answeredAtMs === undefined ? null : secondsSince(answeredAtMs, nowMs()),
    };
  }

  async function readStatus(): Promise<Omit<OracleStatus, "checkedSecondsAgo">> {
    const [hubReport, ...chainReports] = await Promise.all([
      hubStatus(),
      ...[...chains.values()].map(async (chain) => await chainStatus(chain)),
    ]);
    return {
      signer: policy.localSigner,
      shadow,
      quorum: { threshold: policy.threshold, signers: policy.signers?.size ?? null },
      hub: hubReport,
      chains: chainReports,
    };
  }

  return async () => {
    const now = nowMs();
    if (cached === undefined || now - cached.atMs >= CACHE_MS) cached = { report: readStatus(), atMs: now };
    const { report, atMs } = cached;
    return { ...(await report), checkedSecondsAgo: secondsSince(atMs, now) };
  };
}

async function query<T>(read: () => Promise<T>): Promise<QueryResult<T>> {
  try {
    return { value: await withTimeout(NODE_TIMEOUT_MS, read) };
  } catch (error) {
    // Omits the message: callers are untrusted. The log has it.
    return { problem: error instanceof RpcFault ? error.kind : "timeout" };
  }
}

function reachOf(result: QueryResult<unknown>): Pick<OracleStatus["hub"], "status" | "problem"> {
  return "value" in result ? { status: "reachable" } : { status: "unreachable", problem: result.problem };
}

function secondsSince(thenMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - thenMs) / 1_000));
}
