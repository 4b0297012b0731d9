import { messageTypes } from "@causeway/attest";
import { hashStruct, recoverMessageAddress, recoverTypedDataAddress } from "viem";
import { aHub } from "./oracle-world.ts";
import type { SignedExecution, SignedMessage } from "./oracle-world.ts";

/** The signers of the execution in an answer, recovered with another implementation than the oracle's. */
export async function executionSigners(execution: SignedExecution): Promise<string[]> {
  return await Promise.all(
    execution.signatures.map(async ({ signature }) =>
      (
        await recoverTypedDataAddress({
          domain: { ...aHub.domain, chainId: aHub.chainId, verifyingContract: aHub.oracleAddress },
          types: {
            Execution: [
              { name: "idempotencyKey", type: "bytes32" },
              { name: "actions", type: "bytes[]" },
            ],
          },
          primaryType: "Execution",
          message: { idempotencyKey: execution.idempotencyKey, actions: execution.actions },
          signature,
        })
      ).toLowerCase(),
    ),
  );
}

type Kind = keyof typeof messageTypes;
const primaryTypes: Record<Kind, string> = {
  depositoryDeposit: "DepositoryDeposit",
  depositoryWithdrawal: "DepositoryWithdrawal",
  solverFill: "SolverFill",
  solverRefund: "SolverRefund",
};

/**
 * The signers of a message, recovered with another implementation than the oracle's. All addresses of these
 * tests are hex, so the message is hashed unchanged.
 */
export async function messageSigners(kind: Kind, message: SignedMessage): Promise<string[]> {
  const id = hashStruct({
    types: messageTypes[kind] as never,
    primaryType: primaryTypes[kind] as never,
    data: { data: message.data, result: message.result } as never,
  });
  return await Promise.all(
    message.signatures.map(async ({ signature }) =>
      (await recoverMessageAddress({ message: { raw: id }, signature })).toLowerCase(),
    ),
  );
}
