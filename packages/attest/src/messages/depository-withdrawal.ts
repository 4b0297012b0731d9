import { keccakHex, keccakText, structWriter, toHex, type Hex, type Hex32 } from "@causeway/domain";
import { encodeAddress } from "@causeway/families";
import type { FamilyOf } from "./chain-families.ts";
import { messageTypes } from "./message-types.ts";
import { typeHash } from "./struct-type.ts";

/** Numbers of the withdrawal states in messages. */
export const WITHDRAWAL_STATUS = { pending: 0, executed: 1, expired: 2 } as const;

/** States the final state of a withdrawal payload on its chain. */
export interface DepositoryWithdrawalMessage {
  readonly data: {
    /** Name of the chain. */
    readonly chainId: string;
    /** The encoded payload. */
    readonly withdrawal: Hex;
  };
  readonly result: {
    readonly withdrawalId: Hex32;
    readonly depository: string;
    readonly status: (typeof WITHDRAWAL_STATUS)[keyof typeof WITHDRAWAL_STATUS];
  };
}

const types = messageTypes.depositoryWithdrawal;
const MESSAGE = typeHash(types, "DepositoryWithdrawal");
const DATA = typeHash(types, "Data");
const RESULT = typeHash(types, "Result");

const messageWriter = structWriter(3);
const dataWriter = structWriter(3);
const resultWriter = structWriter(4);

/**
 * Id of the message: its EIP-712 struct hash, without a domain.
 * @throws ServiceError INVALID_REQUEST for a depository of another chain family, RangeError for a value that
 * does not fit its type
 */
export function depositoryWithdrawalId(
  familyOf: FamilyOf,
  { data, result }: DepositoryWithdrawalMessage,
): Hex32 {
  const dataHash = dataWriter
    .start(DATA)
    .word(keccakText(data.chainId))
    .word(keccakHex(data.withdrawal))
    .hash();
  const resultHash = resultWriter
    .start(RESULT)
    .bytes32(result.withdrawalId)
    .word(keccakHex(encodeAddress(familyOf(data.chainId), result.depository, "depository")))
    .uint8(result.status)
    .hash();
  return toHex(messageWriter.start(MESSAGE).word(dataHash).word(resultHash).hash());
}
