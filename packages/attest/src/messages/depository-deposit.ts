import { keccakHex, keccakText, cacheHashes, structWriter, toHex, type Hex32 } from "@causeway/domain";
import { encodeAddress, transactionIdBytes } from "@causeway/families";
import type { FamilyOf } from "./chain-families.ts";
import { messageTypes } from "./message-types.ts";
import { typeHash } from "./struct-type.ts";

/** States that a deposit is final on its chain. Addresses and ids are strings in the chain's format. */
export interface DepositoryDepositMessage {
  readonly data: {
    /** Name of the chain. */
    readonly chainId: string;
    readonly transactionId: string;
  };
  readonly result: {
    readonly onchainId: Hex32;
    readonly depository: string;
    /** 32 zero bytes if the deposit has none. */
    readonly depositId: Hex32;
    readonly depositor: string;
    readonly currency: string;
    readonly amount: bigint;
  };
}

/** A deposit message as it appears in a response. */
export interface ReportedDeposit {
  readonly data: DepositoryDepositMessage["data"];
  readonly result: Readonly<Record<keyof DepositoryDepositMessage["result"], string>>;
  /** Time of the block, Unix seconds; not signed. Only a deposit without an id may omit it. */
  readonly extraData?: { readonly timestamp: string } | undefined;
}

export function readDepositMessage({ data, result }: ReportedDeposit): DepositoryDepositMessage {
  const onchainId = result.onchainId.toLowerCase() as Hex32;
  const depositId = result.depositId.toLowerCase() as Hex32;
  return { data, result: { ...result, onchainId, depositId, amount: BigInt(result.amount) } };
}

const types = messageTypes.depositoryDeposit;
const MESSAGE = typeHash(types, "DepositoryDeposit");
const DATA = typeHash(types, "Data");
const RESULT = typeHash(types, "Result");

const text = cacheHashes(keccakText);
const bytes = cacheHashes(keccakHex);

const messageWriter = structWriter(3);
const dataWriter = structWriter(3);
const resultWriter = structWriter(7);

/**
 * Id of the message: its EIP-712 struct hash, without a domain.
 * @throws ServiceError INVALID_REQUEST for an address or id of another chain family, RangeError for a value
 * that does not fit its type
 */
export function depositoryDepositId(familyOf: FamilyOf, { data, result }: DepositoryDepositMessage): Hex32 {
  const vm = familyOf(data.chainId);
  const dataHash = dataWriter
    .start(DATA)
    .word(text(data.chainId))
    .word(keccakHex(transactionIdBytes(vm, data.transactionId)))
    .hash();
  const resultHash = resultWriter
    .start(RESULT)
    .bytes32(result.onchainId)
    .word(bytes(encodeAddress(vm, result.depository, "depository")))
    .bytes32(result.depositId)
    .word(bytes(encodeAddress(vm, result.depositor, "depositor")))
    .word(bytes(encodeAddress(vm, result.currency, "currency")))
    .uint256(result.amount)
    .hash();
  return toHex(messageWriter.start(MESSAGE).word(dataHash).word(resultHash).hash());
}
