import { ServiceError, type Hex, type VmType } from "@causeway/domain";

/**
 * How one chain family formats addresses, currencies and transaction ids. Total functions: text that is not
 * in the canonical format gives undefined.
 */
export interface AddressCodec {
  /** The family, for errors. */
  readonly vmType: VmType;
  /** Addresses and transaction ids are hex, so their letter case is ignored. Absent: case matters. */
  readonly isHex?: true;
  /** The canonical text of an address is its hex bytes, so no decoding is needed. Absent: decode. */
  readonly isPlain?: true;
  /** The native currency, which has no contract. */
  readonly nativeCurrency: string;
  /** The bytes that orders, messages and the hub hash. */
  encode(text: string): Hex | undefined;
  /** The canonical text of these bytes. */
  decode(bytes: Hex): string | undefined;
  /** The bytes of a transaction id in canonical format. */
  transactionIdBytes(id: string): Hex | undefined;
  /** The canonical format of transaction ids, for errors: it follows "must be". */
  readonly transactionIdFormat: string;
}

/** @throws ServiceError INVALID_REQUEST if `text` is not an address in the family's canonical format */
export function encodeWith(codec: AddressCodec, text: string, field = "address"): Hex {
  return codec.encode(text) ?? refuse(codec, "an address", text, field);
}

/** @throws ServiceError INVALID_REQUEST if the bytes are not an address of the family */
export function decodeWith(codec: AddressCodec, bytes: Hex, field = "address"): string {
  return codec.decode(bytes) ?? refuse(codec, "an encoded address", bytes, field);
}

/** @throws ServiceError INVALID_REQUEST if `id` is not a transaction id in the family's canonical format */
export function transactionIdWith(codec: AddressCodec, id: string, field = "transactionId"): Hex {
  return codec.transactionIdBytes(id) ?? refuse(codec, "a transaction id", id, field);
}

function refuse({ vmType }: AddressCodec, expected: string, text: string, field: string): never {
  throw new ServiceError(
    "INVALID_REQUEST",
    `${field} is not ${expected} of ${vmType}: ${text.slice(0, 100)}`,
    {
      field,
    },
  );
}
