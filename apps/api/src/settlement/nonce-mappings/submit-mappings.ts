import { nonceMappingEntry } from "@causeway/attest";
import type { HubCall } from "../hub.port.ts";
import type { MappingServices } from "./mapping-services.port.ts";
import type { SignedNonceMapping } from "../../chains/nonce-mappings.port.ts";
import { isUsed } from "../submit-executions.ts";
import { sendToHub } from "../send-to-hub.ts";
import { settleMapping } from "./settle-mapping.ts";

/** Mappings per round. */
const AT_ONCE = 200;

/**
 * One round: marks mappings that are final on the hub, has the oracles sign mappings again that a transaction
 * failed to set, and sends the next transaction, which settlement's rounds maintain. State is read from the
 * hub, never from a receipt; setting an entry twice has no effect.
 * @throws RpcFault: the next round continues
 */
export async function submitMappings(services: MappingServices): Promise<void> {
  await concludeSubmitted(services);
  await submitNext(services);
}

async function concludeSubmitted(services: MappingServices): Promise<void> {
  const { nonceMappingStore, hub, clock, uow, events, chainName, settlementPolicy: policy } = services;
  const submitted = await nonceMappingStore.findSubmitted(AT_ONCE);
  const ended = submitted.filter(({ slot }) => slot.state === "final" || slot.state === "dead");
  const senders = new Set(ended.map(({ slot }) => slot.sender));
  // The node that showed the end may have been ahead of the one that shows the entries.
  const final = ended.length === 0 ? undefined : await hub.final([], [...senders]);
  const finished = new Set(
    ended.filter(({ slot }) => final !== undefined && isUsed(hub, slot, final.nonces)),
  );
  for (const submission of submitted) {
    const { record, slot } = submission;
    const name = chainName(record.chainId);
    if (name === undefined || (await settleMapping(services, name, record)) || !finished.has(submission))
      continue;
    // That transaction can no longer set it. Its signers may no longer be accepted.
    const reason = "the hub transaction did not set the nonce mapping";
    const nowMs = clock.nowMs();
    const isReleased = await uow.run((tx) =>
      tx.nonceMappings.release({ key: record.key, slotId: slot.id }, reason, nowMs + policy.retryMs, nowMs),
    );
    if (!isReleased) continue;
    events.alarm("mapping_left_out", {
      requestId: record.requestId,
      wallet: record.wallet,
      nonce: record.nonce,
    });
  }
}

async function submitNext(services: MappingServices): Promise<void> {
  const { nonceMappingStore, clock, uow, hub, mappings, chainName, settlementPolicy: policy } = services;
  const waiting: { readonly record: SignedNonceMapping; readonly name: string }[] = [];
  for (const record of await nonceMappingStore.findUnsubmitted(clock.nowMs(), policy.batchSize)) {
    const name = chainName(record.chainId);
    if (name === undefined) {
      // Check it again later, so that it does not crowd out others in every round.
      const nowMs = clock.nowMs();
      const nextTryMs = nowMs + policy.rejectedRetryMs;
      const reason = "the chain is no longer configured";
      await uow.run((tx) => tx.nonceMappings.postpone(record.key, reason, nextTryMs, nowMs));
      continue;
    }
    // If another party already set it, do not pay for it again.
    if (!(await settleMapping(services, name, record))) waiting.push({ record, name });
  }
  if (waiting.length === 0) return;
  const [{ threshold }, limit] = await Promise.all([hub.signers(), hub.transactionGasLimit()]);
  const publish = (batch: typeof waiting): HubCall =>
    mappings.publish(
      batch.map(({ record, name }) => ({
        ...nonceMappingEntry(name, record),
        signature: record.hubSignature,
      })),
      threshold,
    );
  let batch = waiting;
  // All entries have the same size, and each fits a block alone.
  while (batch.length > 1 && publish(batch).gasLimit > limit)
    batch = batch.slice(0, Math.ceil(batch.length / 2));
  const keys = batch.map(({ record }) => record.key);
  await sendToHub(services, publish(batch), {
    lock: async (tx) => await tx.nonceMappings.lockUnsubmitted(keys),
    assign: async (tx, slotId) => await tx.nonceMappings.markSubmitted(keys, slotId),
  });
}
