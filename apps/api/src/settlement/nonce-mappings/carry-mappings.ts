import type { HubCall } from "../hub.port.ts";
import type { MappingServices } from "./mapping-services.port.ts";
import type { SignedNonceMapping } from "../../chains/nonce-mappings.port.ts";
import { entryFor } from "./ask-for-entry.ts";
import { settleMapping } from "./settle-mapping.ts";

/** Looked at in one round. */
const AT_ONCE = 200;

/** Another process carries one of them. */
class MappingsTaken extends Error {
  override readonly name = "MappingsTaken";
}

/**
 * One round towards the hub's mapping: what is there for good is written down, what a transaction did not
 * bring there is signed anew, and what waits is put into the next transaction. Only the plan of a transaction
 * is made here, in one commit with what it carries: settlement's own rounds sign it, send it, and raise its
 * fees, so a crash at any point loses nothing and gives no nonce of the hub twice. What is there is read from
 * the hub and never believed of a receipt; set twice it is set once.
 * @throws RpcFault: the next round goes on
 */
export async function carryMappings(services: MappingServices): Promise<void> {
  await concludeCarried(services);
  await planNext(services);
}

async function concludeCarried(services: MappingServices): Promise<void> {
  const { said, clock, uow, events, chainName, settlementPolicy: policy } = services;
  for (const { record, isOver } of await said.carried(AT_ONCE)) {
    const name = chainName(record.chainId);
    if (name === undefined || (await settleMapping(services, name, record)) || !isOver) continue;
    // That transaction will not do it any more. Its signatures may have been of signers that do not count
    // now.
    const reason = "the hub transaction did not set the nonce mapping";
    const nowMs = clock.nowMs();
    await uow.run((tx) => tx.nonceMappings.release(record.key, reason, nowMs + policy.retryMs, nowMs));
    events.alarm("mapping_left_out", {
      requestId: record.requestId,
      wallet: record.wallet,
      nonce: record.nonce,
    });
  }
}

async function planNext(services: MappingServices): Promise<void> {
  const { said, clock, uow, hub, mappings, signer, chainName, settlementPolicy: policy } = services;
  const waiting: { readonly record: SignedNonceMapping; readonly name: string }[] = [];
  for (const record of await said.toCarry(clock.nowMs(), policy.batchSize)) {
    const name = chainName(record.chainId);
    if (name === undefined) {
      // Not to be looked at in every round, in place of others.
      const nowMs = clock.nowMs();
      const nextTryMs = nowMs + policy.rejectedRetryMs;
      const reason = "the chain is no longer configured";
      await uow.run((tx) => tx.nonceMappings.postpone(record.key, reason, nextTryMs, nowMs));
      continue;
    }
    // Somebody else may have brought it there: then nothing is paid for it.
    if (!(await settleMapping(services, name, record))) waiting.push({ record, name });
  }
  if (waiting.length === 0) return;
  const [{ threshold }, limit] = await Promise.all([hub.signers(), hub.transactionGasLimit()]);
  const publish = (carried: typeof waiting): HubCall =>
    mappings.publish(
      carried.map(({ record, name }) => ({ ...entryFor(name, record), signature: record.hubSignature })),
      threshold,
    );
  let carried = waiting;
  // Entries are all of one size: each alone fits any block.
  while (carried.length > 1 && publish(carried).gasLimit > limit)
    carried = carried.slice(0, Math.ceil(carried.length / 2));
  const { gasLimit, ...call } = publish(carried);
  const { latest } = await hub.nonces(signer.address);
  const { maxFeePerGas, maxPriorityFeePerGas } = await hub.gasPrices();
  const keys = carried.map(({ record }) => record.key);
  try {
    await uow.run(async (tx) => {
      await tx.settlement.lockHub();
      const nonce = Math.max(latest, await tx.settlement.nextNonce(signer.address));
      const plan = { sender: signer.address, nonce, call, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
      const transaction = await tx.settlement.addTransaction(plan, [], clock.nowMs());
      if (!(await tx.nonceMappings.carry(keys, transaction.id))) throw new MappingsTaken();
    });
  } catch (error) {
    if (!(error instanceof MappingsTaken)) throw error;
  }
}
