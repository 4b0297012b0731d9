import { permit2Address } from "./permit2.ts";

/** An EIP-712 domain of a contract in this package, in viem's format. */
export interface ContractDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: `0x${string}`;
}

/** The domain under which an allocator signs call requests of one depository. */
export function depositoryDomain(chainId: number, depository: `0x${string}`): ContractDomain {
  return { name: "Depository", version: "1", chainId, verifyingContract: depository };
}

const callFields = [
  { name: "to", type: "address" },
  { name: "data", type: "bytes" },
  { name: "value", type: "uint256" },
  { name: "allowFailure", type: "bool" },
] as const;

/**
 * What an allocator signs (primary type `CallRequest`). The depository files a request under its struct hash,
 * which has no domain: the id of a request is the same on every chain, its signature is not.
 */
export const callRequestTypes = {
  CallRequest: [
    { name: "calls", type: "Call[]" },
    { name: "nonce", type: "uint256" },
    { name: "expiration", type: "uint256" },
  ],
  Call: callFields,
} as const;

/**
 * The domain under which oracles sign executions for one `Oracle` contract. Name and version are the
 * contract's constructor arguments; these are the defaults of our own networks.
 */
export function oracleDomain(
  chainId: number,
  oracle: `0x${string}`,
  { name, version } = { name: "Oracle", version: "1" },
): ContractDomain {
  return { name, version, chainId, verifyingContract: oracle };
}

/**
 * What oracles sign for the hub (primary type `Execution`). An action is ABI-encoded flat: its kind, then its
 * fields.
 */
export const executionTypes = {
  Execution: [
    { name: "idempotencyKey", type: "bytes32" },
    { name: "actions", type: "bytes[]" },
  ],
} as const;

/** The domain under which oracles sign that a withdrawal was initiated, for one `Allocator` contract. */
export function allocatorDomain(chainId: number, allocator: `0x${string}`): ContractDomain {
  return { name: "AllocatorSpender", version: "1", chainId, verifyingContract: allocator };
}

/**
 * What oracles sign when a withdrawal was initiated (primary type `SubmitWithdrawRequest`); `spender` is the
 * withdrawal address.
 */
export const submitWithdrawRequestTypes = {
  SubmitWithdrawRequest: [
    { name: "chainId", type: "uint256" },
    { name: "depository", type: "string" },
    { name: "currency", type: "string" },
    { name: "amount", type: "uint256" },
    { name: "spender", type: "address" },
    { name: "receiver", type: "string" },
    { name: "data", type: "bytes" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/** The domain under which oracles sign entries of one `GenericMapping` contract. */
export function genericMappingDomain(chainId: number, mapping: `0x${string}`): ContractDomain {
  return { name: "GenericMapping", version: "1", chainId, verifyingContract: mapping };
}

/** What oracles sign of an entry (primary type `SetEntry`). */
export const setEntryTypes = {
  SetEntry: [
    { name: "user", type: "address" },
    { name: "id", type: "bytes32" },
    { name: "data", type: "bytes" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/** EIP-2612 (primary type `Permit`). */
export const permitTypes = {
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

const authorizationFields = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;

/**
 * EIP-3009, which anyone may submit (primary type `TransferWithAuthorization`). Times are in Unix seconds.
 */
export const transferWithAuthorizationTypes = { TransferWithAuthorization: authorizationFields } as const;

/** EIP-3009, which only the payee may submit (primary type `ReceiveWithAuthorization`). */
export const receiveWithAuthorizationTypes = { ReceiveWithAuthorization: authorizationFields } as const;

/** EIP-3009 (primary type `CancelAuthorization`). */
export const cancelAuthorizationTypes = {
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/**
 * The route of a payment by signature (primary type `RouteWitness`). Its struct hash, without a domain, is
 * the witness of a Permit2 permit, and the first word of the preimage of an EIP-3009 authorization's nonce
 * (`authorizationNonce` of the `ApprovalProxy`).
 */
export const routeWitnessTypes = {
  RouteWitness: [
    { name: "relayer", type: "address" },
    { name: "refundTo", type: "address" },
    { name: "refundTokens", type: "address[]" },
    { name: "calls", type: "Call[]" },
  ],
  Call: callFields,
} as const;

/**
 * What a user signs for `permit2Route` (primary type `PermitBatchWitnessTransferFrom`), in the domain of
 * Permit2. The spender is the `ApprovalProxy`; `deadline` is in Unix seconds; of `nonce` each value counts
 * once, in any order.
 */
export const permitBatchWitnessTransferFromTypes = {
  PermitBatchWitnessTransferFrom: [
    { name: "permitted", type: "TokenPermissions[]" },
    { name: "spender", type: "address" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
    { name: "witness", type: "RouteWitness" },
  ],
  TokenPermissions: [
    { name: "token", type: "address" },
    { name: "amount", type: "uint256" },
  ],
  ...routeWitnessTypes,
} as const;

/** The domain of Permit2, which has no version. */
export function permit2Domain(chainId: number): Omit<ContractDomain, "version"> {
  return { name: "Permit2", chainId, verifyingContract: permit2Address };
}
