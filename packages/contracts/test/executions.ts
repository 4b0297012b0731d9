import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  numberToHex,
  toHex,
  type Address,
  type Hex,
  type LocalAccount,
} from "viem";
import { chainId } from "./chain.ts";
import { executionTypes, oracleAbi, oracleDomain } from "../src/index.ts";

export interface Execution {
  readonly idempotencyKey: Hex;
  readonly actions: readonly Hex[];
}

const holderActions = ["uint8", "address", "uint256", "uint256"].map((type) => ({ type }));
const transferActions = ["uint8", "address", "address", "uint256", "uint256"].map((type) => ({ type }));

export function mintAction(to: Address, tokenId: bigint, amount: bigint): Hex {
  return encodeAbiParameters(holderActions, [0, to, tokenId, amount]);
}

export function burnAction(from: Address, tokenId: bigint, amount: bigint): Hex {
  return encodeAbiParameters(holderActions, [1, from, tokenId, amount]);
}

export function transferAction(from: Address, to: Address, tokenId: bigint, amount: bigint): Hex {
  return encodeAbiParameters(transferActions, [2, from, to, tokenId, amount]);
}

let executions = 0;

/** An execution with its own idempotency key. */
export function executionOf(actions: readonly Hex[]): Execution {
  executions += 1;
  return { idempotencyKey: keccak256(toHex(`fact ${executions}`)), actions };
}

/** Overrides for fields of a domain. */
export interface DomainFacts {
  readonly name?: string;
  readonly version?: string;
  readonly chain?: number;
}

export async function signExecution(
  signer: LocalAccount,
  oracle: Address,
  execution: Execution,
  { name = "Oracle", version = "1", chain = chainId }: DomainFacts = {},
): Promise<Hex> {
  return await signer.signTypedData({
    domain: oracleDomain(chain, oracle, { name, version }),
    types: executionTypes,
    primaryType: "Execution",
    message: execution,
  });
}

/** Signatures of all signers in the order that a multisig requires: ascending by signer. */
export async function signAscending(
  signers: readonly LocalAccount[],
  sign: (signer: LocalAccount) => Promise<Hex>,
): Promise<Hex> {
  return concat(await Promise.all(ascending(signers).map(sign)));
}

export function ascending(signers: readonly LocalAccount[]): LocalAccount[] {
  return signers.toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
}

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The same signature with s in the upper half. */
export function highS(signature: Hex): Hex {
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  const v = signature.slice(130) === "1b" ? "0x1c" : "0x1b";
  return concat([signature.slice(0, 66) as Hex, numberToHex(curveOrder - s, { size: 32 }), v]);
}

export function encodeExecute(execution: Execution, oracle: Address, signature: Hex): Hex {
  return encodeFunctionData({
    abi: oracleAbi,
    functionName: "execute",
    args: [execution, oracle, signature],
  });
}

export function executeMultiple(
  executions: readonly Execution[],
  oracle: Address,
  signatures: readonly Hex[],
): Hex {
  return encodeFunctionData({
    abi: oracleAbi,
    functionName: "executeMultiple",
    args: [executions, oracle, signatures],
  });
}
