import { bytesOf, type Address, type Hex } from "@causeway/domain";
import { tvmAddressOf } from "../address-codec/tron-address.ts";
import { amountIn, bytesIn, hexIn, messageIn, InvalidMessage, wireFields } from "./wire-fields.ts";

/** The content of a transaction, read from the bytes whose hash is its id. Pure. */
export interface RawTransaction {
  /** The account that sends the transaction; undefined for kinds that neither pay nor call a contract. */
  readonly owner: Address | undefined;
  /** The paid or called account; undefined for transactions that do neither. */
  readonly to: Address | undefined;
  /** The calldata; `0x` without a contract call. */
  readonly input: Hex;
  /** Value in sun. */
  readonly value: bigint;
  /** The memo; `0x` if there is none. */
  readonly memo: Hex;
}

/** Transactions that pay, or create or call a contract, by kind. Field 1 of their content is the owner. */
const TRANSFER = 1n;
const CREATE = 30n;
const TRIGGER = 31n;
const NAMES: ReadonlyMap<bigint, string> = new Map([
  [TRANSFER, "protocol.TransferContract"],
  [CREATE, "protocol.CreateSmartContract"],
  [TRIGGER, "protocol.TriggerSmartContract"],
]);

/**
 * @param raw the `raw_data` that the chain hashes
 * @throws InvalidMessage for anything but a transaction
 */
export function readRawTransaction(raw: Hex): RawTransaction {
  const fields = wireFields(bytesOf(raw));
  const contract = messageIn(fields, 11);
  const kind = amountIn(contract, 1);
  const memo = hexIn(fields, 10);
  const name = NAMES.get(kind);
  if (name === undefined) return { owner: undefined, to: undefined, input: "0x", value: 0n, memo };
  const parameter = messageIn(contract, 2);
  if (new TextDecoder().decode(bytesIn(parameter, 1)).split("/").at(-1) !== name)
    throw new InvalidMessage("type of the encoded content differs from the type of the transaction");
  const content = wireFields(bytesIn(parameter, 2));
  const owner = addressIn(hexIn(content, 1));
  if (kind === CREATE) return { owner, to: undefined, input: "0x", value: 0n, memo };
  const to = addressIn(hexIn(content, 2));
  const value = amountIn(content, 3);
  return { owner, to, input: kind === TRANSFER ? "0x" : hexIn(content, 4), value, memo };
}

function addressIn(bytes: Hex): Address {
  const address = tvmAddressOf(bytes);
  if (address === undefined) throw new InvalidMessage("address is not valid");
  return address;
}
