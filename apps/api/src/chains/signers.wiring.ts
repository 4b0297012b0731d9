import { rawKeySigner, type Signer } from "@causeway/attest";
import type { ApiConfig } from "../config/config.ts";
import type { WorkerKeys } from "../config/own-accounts.ts";
import type { Account, Services, WorkerServices } from "../db/services.port.ts";

/** What either process knows of the service's accounts: the solver's key, and the addresses of the others. */
export function knownAccounts({
  solver,
  accounts,
}: Pick<ApiConfig, "solver" | "accounts">): Pick<
  Services,
  "signer" | "executor" | "depositAddressOperator"
> & { readonly formerSigners: readonly Account[] } {
  const { executor, depositAddressOperator, formerSolvers } = accounts;
  return {
    signer: rawKeySigner(solver.privateKey.reveal()),
    executor: executor && { address: executor },
    depositAddressOperator: depositAddressOperator && { address: depositAddressOperator },
    formerSigners: formerSolvers.map((address) => ({ address })),
  };
}

/** The keys that only the worker has. */
export function workerSigners({ executor, depositAddressOperator, formerSolvers }: WorkerKeys): Pick<
  WorkerServices,
  "executor" | "depositAddressOperator"
> & {
  readonly formerSigners: readonly Signer[];
} {
  return {
    executor: executor && rawKeySigner(executor.reveal()),
    depositAddressOperator: depositAddressOperator && rawKeySigner(depositAddressOperator.reveal()),
    formerSigners: formerSolvers.map((key) => rawKeySigner(key.reveal())),
  };
}
