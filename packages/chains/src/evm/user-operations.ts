import { decodeAbiParameters, getAbiItem } from "viem";
import { entryPoint07Abi, entryPoint07Address, entryPoint08Address } from "viem/account-abstraction";
import {
  readUserOperationEvent,
  type Address,
  type FrameLog,
  type Hex,
  type UserOperationResult,
} from "@causeway/domain";

/** Reads the parts of an entry point call that matter to its sender. Pure. */

/** A call of an entry point, as far as it can be read. */
export type HandleOps =
  | {
      readonly kind: "read";
      readonly version: "0.7/0.8";
      readonly ops: readonly PackedOp[];
      /** Receives the fees of the operations, lower case. */
      readonly beneficiary: Address;
    }
  /** Entry point 0.6, whose operations have another layout. */
  | { readonly kind: "unsupported"; readonly version: "0.6" }
  /** Looks like a call of an entry point, but cannot be decoded. */
  | { readonly kind: "malformed" };

export interface PackedOp {
  /** Lower case. */
  readonly sender: Address;
  readonly nonce: bigint;
  /** Wei per gas. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly hasPaymaster: boolean;
}

const HANDLE_OPS = "0x765e827f";
const HANDLE_AGGREGATED_OPS = "0xdbed18e0";
// Entry point 0.8 has the same functions. Looked up once: each lookup by selector hashes all functions.
const handleOpsInputs = getAbiItem({ abi: entryPoint07Abi, name: "handleOps" }).inputs;
const handleAggregatedOpsInputs = getAbiItem({ abi: entryPoint07Abi, name: "handleAggregatedOps" }).inputs;
/** `handleOps` and `handleAggregatedOps` of entry point 0.6. */
const unsupported: ReadonlySet<string> = new Set(["0x1fad948c", "0x4b1d7cf5"]);

/** The supported entry points, at the addresses that they have on every chain. */
const entryPoints: ReadonlySet<string> = new Set(
  [entryPoint07Address, entryPoint08Address].map((address) => address.toLowerCase()),
);

export function isEntryPoint(address: Address): boolean {
  return entryPoints.has(address.toLowerCase());
}

/** Whether data begins like a call of an entry point, including unsupported ones. */
export function isUserOperations(data: Hex): boolean {
  const selector = data.slice(0, 10).toLowerCase();
  return selector === HANDLE_OPS || selector === HANDLE_AGGREGATED_OPS || unsupported.has(selector);
}

/** Reads the calldata of an entry point's `handleOps` or `handleAggregatedOps`; undefined for any other. */
export function readHandleOps(data: Hex): HandleOps | undefined {
  const selector = data.slice(0, 10).toLowerCase();
  if (unsupported.has(selector)) return { kind: "unsupported", version: "0.6" };
  if (selector !== HANDLE_OPS && selector !== HANDLE_AGGREGATED_OPS) return undefined;
  const encoded: Hex = `0x${data.slice(10)}`;
  try {
    if (selector === HANDLE_OPS) return toHandleOps(...decodeAbiParameters(handleOpsInputs, encoded));
    const [perAggregator, beneficiary] = decodeAbiParameters(handleAggregatedOpsInputs, encoded);
    return toHandleOps(
      perAggregator.flatMap(({ userOps }) => userOps),
      beneficiary,
    );
  } catch {
    return { kind: "malformed" };
  }
}

/**
 * Why the operations of a call must not be sponsored: the service would, or might, pay their own fees in
 * addition to the transaction's.
 */
export interface UserOperationRefusal {
  readonly kind: "hasFees" | "unsupported" | "malformed" | "none";
  /** The operation's position in the call; undefined if the whole call is refused. */
  readonly index: number | undefined;
  /** The operation's sender; undefined if the whole call is refused. */
  readonly sender: Address | undefined;
  readonly message: string;
}

/** Why these operations must not be sent; undefined if they can be. */
export function findUserOperationRefusal(handleOps: HandleOps): UserOperationRefusal | undefined {
  const refuse = (kind: UserOperationRefusal["kind"], message: string): UserOperationRefusal => ({
    kind,
    index: undefined,
    sender: undefined,
    message,
  });
  if (handleOps.kind === "unsupported") {
    return refuse("unsupported", `user operations of entry point ${handleOps.version} are not supported`);
  }
  if (handleOps.kind === "malformed") return refuse("malformed", "user operations cannot be decoded");
  if (handleOps.ops.length === 0) return refuse("none", "user operations are missing");
  for (const [index, { sender, maxFeePerGas, maxPriorityFeePerGas }] of handleOps.ops.entries()) {
    if (maxFeePerGas === 0n && maxPriorityFeePerGas === 0n) continue;
    const name = maxFeePerGas === 0n ? "maxPriorityFeePerGas" : "maxFeePerGas";
    const message = `${name} of user operation ${index} must be 0, because the sponsor pays its gas`;
    return { kind: "hasFees", index, sender, message };
  }
  return undefined;
}

/**
 * Maximum hex digits of user operations read from one transaction: the nodes' limit for a whole transaction.
 */
const MAX_NESTED_DIGITS = 2 * 131_072;

/** {@link findUserOperationRefusal} for operations that a call passes to entry points in inner calls. */
export function findInnerOperationRefusal(
  calls: readonly { readonly userOperations: Hex | undefined }[],
): UserOperationRefusal | undefined {
  let remainingDigits = MAX_NESTED_DIGITS;
  for (const data of new Set(calls.flatMap(({ userOperations }) => userOperations ?? []))) {
    remainingDigits -= data.length;
    const handleOps = remainingDigits < 0 ? ({ kind: "malformed" } as const) : readHandleOps(data);
    const refusal = handleOps && findUserOperationRefusal(handleOps);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Failed operations of a successful mined call, according to the events of `entryPoint`. */
export function findFailedOperations(
  logs: readonly FrameLog[],
  entryPoint: Address,
): readonly UserOperationResult[] {
  const lowerCased = entryPoint.toLowerCase();
  return logs
    .filter(({ address }) => address.toLowerCase() === lowerCased)
    .flatMap((log) => readUserOperationEvent(log) ?? [])
    .filter(({ success }) => !success);
}

function toHandleOps(
  ops: readonly {
    readonly sender: Hex;
    readonly nonce: bigint;
    readonly gasFees: Hex;
    readonly paymasterAndData: Hex;
  }[],
  beneficiary: Hex,
): HandleOps {
  return {
    kind: "read",
    version: "0.7/0.8",
    ops: ops.map(({ sender, nonce, gasFees, paymasterAndData }) => ({
      sender: sender.toLowerCase() as Address,
      nonce,
      // Packed: the priority fee in the upper 16 bytes, the max fee in the lower 16.
      maxPriorityFeePerGas: BigInt(gasFees.slice(0, 34)),
      maxFeePerGas: BigInt(`0x${gasFees.slice(34)}`),
      hasPaymaster: paymasterAndData !== "0x",
    })),
    beneficiary: beneficiary.toLowerCase() as Address,
  };
}
