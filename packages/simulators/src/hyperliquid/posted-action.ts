import {
  hyperliquidNonceOf,
  hyperliquidTransferFields,
  type HyperliquidTransferAction,
  type HyperliquidSigningProfile,
  type HyperliquidTransferType,
  type Hex,
} from "@causeway/domain";
import { Undecodable } from "./refusal.ts";

/** The validated body of `POST /exchange`. */
export interface PostedAction {
  readonly action: HyperliquidTransferAction;
  readonly nonce: number;
  readonly signature: { readonly r: Hex; readonly s: Hex; readonly v: 27 | 28 };
}

const CHAIN_ID = /^0x[1-9a-f][0-9a-f]{0,12}$/;
const ACCOUNT = /^0x[0-9a-f]{40}$/;
const PART = /^0x[0-9a-fA-F]{1,64}$/;
const AMOUNT = /^\d{1,40}(?:\.\d{1,40})?$/;

/**
 * @throws Undecodable unless the body has exactly the fields of its action, each of its type, and one nonce
 */
export function readPostedAction(body: unknown, profile: HyperliquidSigningProfile): PostedAction {
  const posted = record(body, "the body");
  // Vaults and sub-accounts do not sign transfers, and a transfer does not expire: these fields must be
  // absent or empty.
  onlyFields(posted, ["action", "nonce", "signature"], ["vaultAddress", "expiresAfter"]);
  if ((posted["vaultAddress"] ?? null) !== null || (posted["expiresAfter"] ?? null) !== null)
    throw new Undecodable("vaultAddress and expiresAfter must be empty in a transfer");

  const fields = record(posted["action"], "action");
  const type = fields["type"];
  if (!isTransferType(type)) throw new Undecodable("unknown type of action");
  const table = hyperliquidTransferFields[type].fields;
  onlyFields(fields, ["type", "signatureChainId", profile.chainField, ...table.map(([name]) => name)]);
  const signatureChainId = text(fields, "signatureChainId", CHAIN_ID) as Hex;
  text(fields, profile.chainField, /^[A-Z][a-z]+$/);
  for (const [name, kind] of table) {
    if (kind === "uint64") number(fields, name);
    else text(fields, name, FORMS[name] ?? /^/);
  }
  const action = { ...fields, type, signatureChainId } as HyperliquidTransferAction;

  const nonce = number(posted, "nonce");
  if (hyperliquidNonceOf(action) !== nonce)
    throw new Undecodable("nonce differs from the nonce of the action");

  const signature = record(posted["signature"], "signature");
  onlyFields(signature, ["r", "s", "v"]);
  const v = signature["v"];
  if (v !== 27 && v !== 28) throw new Undecodable("v must be 27 or 28");
  return {
    action,
    nonce,
    signature: { r: text(signature, "r", PART) as Hex, s: text(signature, "s", PART) as Hex, v },
  };
}

const FORMS: Readonly<Record<string, RegExp>> = {
  destination: ACCOUNT,
  amount: AMOUNT,
  fromSubAccount: /^(?:0x[0-9a-f]{40})?$/,
  token: /^[^\s]{1,80}$/,
  sourceDex: /^[\x21-\x7e]{0,32}$/,
  destinationDex: /^[\x21-\x7e]{0,32}$/,
};

function isTransferType(type: unknown): type is HyperliquidTransferType {
  return typeof type === "string" && Object.hasOwn(hyperliquidTransferFields, type);
}

function record(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Undecodable(`${name} is not an object`);
  return value as Record<string, unknown>;
}

function onlyFields(
  object: Record<string, unknown>,
  required: readonly string[],
  allowed: readonly string[] = [],
): void {
  for (const name of required)
    if (!Object.hasOwn(object, name)) throw new Undecodable(`missing field ${name}`);
  for (const name of Object.keys(object))
    if (!required.includes(name) && !allowed.includes(name)) throw new Undecodable(`unknown field ${name}`);
}

function text(object: Record<string, unknown>, name: string, form: RegExp): string {
  const value = object[name];
  if (typeof value !== "string" || !form.test(value)) throw new Undecodable(`invalid field ${name}`);
  return value;
}

function number(object: Record<string, unknown>, name: string): number {
  const value = object[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw new Undecodable(`invalid field ${name}`);
  return value;
}
