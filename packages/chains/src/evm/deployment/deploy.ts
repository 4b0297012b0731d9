import {
  create2Calldata,
  deterministicDeployer,
  type DeploymentPlan,
  type PlannedCreation,
} from "@causeway/contracts/deploy";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAccount } from "viem";
import { createDeterministicDeployer } from "./create-deployer.ts";
import type { DeploymentChain } from "./deployment-chain.ts";
import { estimateDeployment, missingCreations } from "./estimate.ts";
import { readFees } from "./fees.ts";
import { createSender, DeploymentUnfinished, readNonces, type BroadcastStep } from "./sender.ts";

export interface DeployOptions {
  readonly account: LocalAccount;
  readonly maxFeeWei: bigint;
  /** Number of blocks from the contract's block to the newest block, both inclusive. */
  readonly confirmations: number;
  /** Timeout for everything, in milliseconds. */
  readonly waitMs: number;
  readonly nowMs: () => number;
  readonly pollMs?: number;
  readonly onStep: (step: DeployStep) => void;
}

export type DeployStep = BroadcastStep | { readonly step: "deployed"; readonly creation: PlannedCreation };

/** How long a node may lag behind another one behind the same load balancer. */
const LAG_MS = 30_000;

/** Maximum rounds of sending missing contracts: another run may use the nonces, and a reorg may undo them. */
const MAX_ROUNDS = 3;

/**
 * Deploys the missing contracts of a plan, and returns once all contracts are confirmed. Reads from the chain
 * which contracts exist, so it can be killed and run again at any time.
 *
 * @throws DeploymentUnfinished if the time is up, GasPriceAboveCap, CreationFails, or the error of the node
 */
export async function deployPlan(
  chain: DeploymentChain,
  plan: DeploymentPlan,
  options: DeployOptions,
): Promise<void> {
  const { account, confirmations, nowMs, pollMs = 250, onStep } = options;
  const endMs = nowMs() + options.waitMs;
  await createDeterministicDeployer(chain, { ...options, pollMs, endMs });
  const reported = new Set<PlannedCreation>();
  let sent = { nextNonce: 0, lagEndMs: 0 };
  let failure: unknown;
  for (let rounds = 0; ;) {
    const unconfirmed = await unconfirmedCreations(chain, plan, confirmations);
    for (const creation of plan.creations) {
      if (unconfirmed.includes(creation) || reported.has(creation)) continue;
      reported.add(creation);
      onStep({ step: "deployed", creation });
    }
    if (unconfirmed.length === 0) return;
    const missing = await missingCreations(chain.client, plan);
    const { mined, pending } = await readNonces(chain.client, account.address);
    // Forget sent nonces once they are mined, or once lag cannot explain their absence: a reorg dropped them.
    if (mined >= sent.nextNonce || nowMs() >= sent.lagEndMs) sent = { nextNonce: 0, lagEndMs: 0 };
    const awaitedNonce = Math.max(pending, sent.nextNonce);
    if (missing.length > 0 && awaitedNonce <= mined) {
      if (rounds === MAX_ROUNDS)
        throw failure instanceof Error
          ? failure
          : new DeploymentUnfinished(namesOf(missing), `not created in ${MAX_ROUNDS} attempts`);
      rounds += 1;
      const { nextNonce, failure: refusal } = await sendMissing(chain, plan, mined, options);
      sent = { nextNonce, lagEndMs: nowMs() + LAG_MS };
      failure = refusal;
      continue;
    }
    if (nowMs() >= endMs)
      throw missing.length > 0
        ? DeploymentUnfinished.stuck(namesOf(missing), account.address, mined, awaitedNonce - 1)
        : new DeploymentUnfinished(
            namesOf(unconfirmed),
            `not ${confirmations} blocks deep on every endpoint yet`,
          );
    await sleep(pollMs);
  }
}

function namesOf(creations: readonly PlannedCreation[]): string {
  return creations.map(({ contract }) => contract).join(", ");
}

/** Contracts that some endpoint does not have at the block with `confirmations` confirmations. */
async function unconfirmedCreations(
  { client, others }: DeploymentChain,
  plan: DeploymentPlan,
  confirmations: number,
): Promise<readonly PlannedCreation[]> {
  const head = await client.getBlockNumber({ cacheTime: 0 });
  const depth = BigInt(confirmations) - 1n;
  if (head < depth) return plan.creations;
  const unseen = await missingCreations(client, plan, head - depth);
  if (unseen.length > 0) return unseen;
  const elsewhere = await Promise.all(
    // A lagging endpoint does not have the block yet.
    others.map((endpoint) => missingCreations(endpoint, plan, head - depth).catch(() => plan.creations)),
  );
  return plan.creations.filter((creation) => elsewhere.some((missing) => missing.includes(creation)));
}

/** Sends all missing creations with consecutive nonces, up to the first refusal. */
async function sendMissing(
  chain: DeploymentChain,
  plan: DeploymentPlan,
  firstNonce: number,
  { account, maxFeeWei, onStep }: DeployOptions,
): Promise<{ readonly nextNonce: number; readonly failure: unknown }> {
  const fees = await readFees(chain.client, maxFeeWei);
  const { creations } = await estimateDeployment(chain, plan, account.address, fees);
  const sender = createSender(chain, account, fees, firstNonce, onStep);
  try {
    for (const { creation, gas } of creations) {
      const data = create2Calldata(creation.creationCode);
      await sender.send(creation.contract, { to: deterministicDeployer, data, gas });
    }
    return { nextNonce: sender.nextNonce(), failure: undefined };
  } catch (error) {
    return { nextNonce: sender.nextNonce(), failure: error };
  }
}
