import type { Signer } from "@causeway/attest";
import type { Address } from "@causeway/domain";
import type { Account, WorkerServices } from "../db/services.port.ts";

/** The keys that send transactions, each with its own lane on every chain. */
export type LaneKeys = Pick<WorkerServices, "signer" | "executor" | "depositAddressOperator">;

export function laneSigners({ signer, executor, depositAddressOperator }: LaneKeys): readonly Signer[] {
  return [signer, executor, depositAddressOperator].filter((key) => key !== undefined);
}

/** The accounts of these keys, where only the addresses matter. */
export interface OwnKeys {
  readonly signer: Account;
  readonly executor?: Account | undefined;
  readonly depositAddressOperator?: Account | undefined;
}

/** The service's own accounts: calls made for users must not take anything from them. */
export function ownAccounts({ signer, executor, depositAddressOperator }: OwnKeys): readonly Address[] {
  return [signer, executor, depositAddressOperator].flatMap((key) => key?.address ?? []);
}

/** Lane keys, and former keys (absent if no key was replaced), which only complete their open payments. */
export type DrainingKeys = LaneKeys & Partial<Pick<WorkerServices, "formerSigners">>;

/** The keys whose open transactions are maintained. */
export function drainingSigners(services: DrainingKeys): readonly Signer[] {
  return [...laneSigners(services), ...(services.formerSigners ?? [])];
}

/**
 * The signer of this lane.
 * @throws Error when the key is no longer configured: its transactions cannot be replaced
 */
export function signerOf(services: DrainingKeys, sender: Address): Signer {
  const signer = drainingSigners(services).find(({ address }) => address === sender);
  if (signer === undefined) throw new Error(`no configured key signs for ${sender}`);
  return signer;
}
