import type { MappingServices } from "./mapping-services.port.ts";
import type { NonceMappingRecord } from "../../chains/nonce-mappings.port.ts";
import { backoff } from "../backoff.ts";
import { askForEntry } from "./ask-for-entry.ts";
import { settleMapping } from "./settle-mapping.ts";

/**
 * One round: has the oracles sign all nonce mappings that are due, several at once, except those that the hub
 * already has. Safe to run at any time in any number of processes: every signature is of the same entry. An
 * error for one mapping does not stop the others.
 */
export async function signMappings(services: MappingServices, signal: AbortSignal): Promise<void> {
  const { nonceMappingStore, clock, settlementPolicy: policy, uow } = services;
  while (!signal.aborted) {
    const dueMappings = await nonceMappingStore.findUnsigned(clock.nowMs(), policy.concurrency);
    if (dueMappings.length === 0) return;
    await Promise.all(
      dueMappings.map((record) =>
        sign(services, record, signal).catch(async (error: unknown) => {
          services.events.fault("mapping_fault", error, factsOf(record));
          const nowMs = clock.nowMs();
          const nextTryMs = nowMs + backoff(policy, record.tries);
          const reason = "an internal error, or the hub's node failed; the worker's log has the error";
          await uow.run((tx) => tx.nonceMappings.postpone(record.key, reason, nextTryMs, nowMs));
        }),
      ),
    );
  }
}

async function sign(
  services: MappingServices,
  record: NonceMappingRecord,
  signal: AbortSignal,
): Promise<void> {
  const { hub, mappings, oracles, chainName, events, uow, clock, settlementPolicy: policy } = services;
  const name = chainName(record.chainId);
  const postpone = async (reason: string, afterMs: number): Promise<void> => {
    const nowMs = clock.nowMs();
    await uow.run((tx) => tx.nonceMappings.postpone(record.key, reason, nowMs + afterMs, nowMs));
  };
  if (name === undefined) return await postpone("the chain is no longer configured", policy.rejectedRetryMs);
  if (await settleMapping(services, name, record)) return;

  const signers = await hub.signers();
  let wait: { readonly reason: string; readonly afterMs: number | undefined } | undefined;
  let rejection: string | undefined;
  for (let index = 0; index < oracles.length && !signal.aborted; index++) {
    // Rotate the first oracle, so that an oracle that is down does not cost its timeout at every try.
    const oracle = oracles[(index + record.tries) % oracles.length];
    if (oracle === undefined) break;
    const finding = await askForEntry(oracle, mappings, signers, name, record, signal);
    switch (finding.kind) {
      case "attested":
        await uow.run((tx) => tx.nonceMappings.storeSignature(record.key, finding.value, clock.nowMs()));
        return;
      case "later":
        wait ??= finding;
        break;
      case "rejected":
        rejection ??= finding.reason;
        break;
      case "lie":
        events.alarm("oracle_lied", { ...factsOf(record), oracle: oracle.name, reason: finding.reason });
        wait ??= { reason: finding.reason, afterMs: undefined };
        break;
      default:
        finding satisfies never;
    }
  }
  if (signal.aborted) return;
  if (wait === undefined) {
    const reason = rejection ?? "no oracle was available";
    events.alarm("mapping_rejected", { ...factsOf(record), reason });
    return await postpone(reason, policy.rejectedRetryMs);
  }
  const waitMs = wait.afterMs ?? backoff(policy, record.tries);
  await postpone(wait.reason, Math.max(Math.min(waitMs, policy.maxRetryMs), policy.intervalMs));
}

function factsOf({ requestId, wallet, nonce }: NonceMappingRecord) {
  return { requestId, wallet, nonce };
}
