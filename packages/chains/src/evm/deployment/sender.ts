import { keccak256, type Address, type Hex, type LocalAccount, type PublicClient } from "viem";
import type { DeploymentChain } from "./deployment-chain.ts";
import type { DeploymentFees } from "./fees.ts";

/** Reported before the transaction is broadcast, so that its hash is known after a crash. */
export interface BroadcastStep {
  readonly step: "broadcast";
  readonly contract: string;
  readonly transaction: Hex;
  readonly nonce: number;
}

/** The time limit passed before everything was deployed and confirmed. Run the command again to continue. */
export class DeploymentUnfinished extends Error {
  override readonly name = "DeploymentUnfinished";

  constructor(what: string, reason: string) {
    super(`${what}: ${reason}. Run the command again to continue`);
  }

  /** Transactions with these nonces are not mined. */
  static stuck(what: string, account: Address, first: number, last: number): DeploymentUnfinished {
    const reason =
      first === last
        ? `the transaction with nonce ${first} of ${account} was not mined in time. If it stays pending, raise its fee or cancel it in a wallet that has this key`
        : `transactions with nonces ${first} to ${last} of ${account} were not mined in time. If they stay pending, raise their fees or cancel them in a wallet that has this key`;
    return new DeploymentUnfinished(what, reason);
  }
}

/** Transaction counts of an account: mined, and including pending ones. */
export async function readNonces(
  client: PublicClient,
  address: Address,
): Promise<{ readonly mined: number; readonly pending: number }> {
  const [mined, pending] = await Promise.all([
    client.getTransactionCount({ address, blockTag: "latest" }),
    client.getTransactionCount({ address, blockTag: "pending" }),
  ]);
  return { mined, pending };
}

interface TransactionToSend {
  readonly to: Address;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas: bigint;
}

/** Broadcasts transactions with consecutive nonces. */
export function createSender(
  { client, chainId }: DeploymentChain,
  account: LocalAccount,
  { bid }: DeploymentFees,
  firstNonce: number,
  onStep: (step: BroadcastStep) => void,
): { send(contract: string, transaction: TransactionToSend): Promise<void>; nextNonce(): number } {
  let nonce = firstNonce;
  return {
    async send(contract, transaction) {
      const signed = await account.signTransaction({ ...bid, ...transaction, chainId, nonce });
      onStep({ step: "broadcast", contract, transaction: keccak256(signed), nonce });
      await client.sendRawTransaction({ serializedTransaction: signed });
      nonce += 1;
    },
    nextNonce: () => nonce,
  };
}
