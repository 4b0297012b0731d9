import { deterministicDeployerCreation, deterministicDeployerCreator } from "@causeway/contracts/deploy";
import { setTimeout as sleep } from "node:timers/promises";
import { BaseError, type LocalAccount } from "viem";
import type { DeploymentChain } from "./deployment-chain.ts";
import { hasDeterministicDeployer } from "./estimate.ts";
import { readFees } from "./fees.ts";
import { createSender, DeploymentUnfinished, readNonces, type BroadcastStep } from "./sender.ts";

export interface CreateDeployerOptions {
  readonly account: LocalAccount;
  readonly maxFeeWei: bigint;
  /** When to give up, on the clock of `nowMs`. */
  readonly endMs: number;
  readonly pollMs: number;
  readonly nowMs: () => number;
  readonly onStep: (step: BroadcastStep) => void;
}

const LABEL = "deterministic deployer";

/** The node rejected the deployer's creation transaction, which is signed without a chain id. */
export class DeployerRefused extends Error {
  override readonly name = "DeployerRefused";
}

/**
 * Creates the deterministic deployer on a chain that lacks it: funds the account that signed its transaction,
 * and broadcasts the transaction.
 *
 * @throws DeployerRefused, DeploymentUnfinished, WrongDeterministicDeployer, GasPriceAboveCap
 */
export async function createDeterministicDeployer(
  chain: DeploymentChain,
  { account, maxFeeWei, endMs, pollMs, nowMs, onStep }: CreateDeployerOptions,
): Promise<void> {
  const { client } = chain;
  const { address: creator, wei } = deterministicDeployerCreator;
  let isBroadcast = false;
  let nonceAfterFunding = 0;
  while (!(await hasDeterministicDeployer(client))) {
    const balance = await client.getBalance({ address: creator });
    const { mined, pending } = await readNonces(client, account.address);
    const awaitedNonce = Math.max(pending, nonceAfterFunding);
    if (!isBroadcast && balance >= wei) {
      await broadcastCreation(chain);
      isBroadcast = true;
    } else if (!isBroadcast && awaitedNonce <= mined) {
      const sender = createSender(chain, account, await readFees(client, maxFeeWei), mined, onStep);
      const value = wei - balance;
      // Rollups also charge gas for data on the parent chain.
      const gas = ((await client.estimateGas({ account: account.address, to: creator, value })) * 6n) / 5n;
      await sender.send(`funds for the ${LABEL}`, { to: creator, value, gas });
      nonceAfterFunding = sender.nextNonce();
    } else if (nowMs() >= endMs) {
      if (awaitedNonce > mined)
        throw DeploymentUnfinished.stuck(LABEL, account.address, mined, awaitedNonce - 1);
      throw new DeploymentUnfinished(
        LABEL,
        "its creation was not mined in time. Its gas price is fixed at 100 gwei: wait until gas is cheaper",
      );
    } else await sleep(pollMs);
  }
}

async function broadcastCreation({ client }: DeploymentChain): Promise<void> {
  try {
    await client.sendRawTransaction({ serializedTransaction: deterministicDeployerCreation });
  } catch (error) {
    const reason = error instanceof BaseError ? error.details || error.shortMessage : String(error);
    // An earlier run broadcast it and was killed.
    if (/already known|already imported|nonce too low/i.test(reason)) return;
    throw new DeployerRefused(
      `the node refused the transaction that creates the ${LABEL}: ${reason}. It is signed without a chain id; use an endpoint that accepts such transactions`,
      { cause: error },
    );
  }
}
