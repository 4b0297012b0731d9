import {
  createPublicClient,
  encodeFunctionData,
  http,
  parseAbi,
  type Address,
  type Hex,
  type PrivateKeyAccount,
} from "viem";
import {
  entryPoint07Abi,
  entryPoint08Abi,
  getUserOperationHash,
  toPackedUserOperation,
} from "viem/account-abstraction";
import type { Endpoints } from "@causeway/localnet";

// Smart accounts: the owner signs, and another account submits. Uses only viem, as an integrator's backend
// would.

type ChainEndpoint = Endpoints["chains"][number];

/** A call that the account makes. */
export interface AccountCall {
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
}

/** The `data` of `POST /execute`. */
export interface RawCall {
  readonly chainId: number;
  readonly to: Address;
  readonly data: Hex;
  readonly value: string;
  readonly authorizationList?: readonly {
    readonly chainId: number;
    readonly address: Address;
    readonly nonce: number;
    readonly yParity: number;
    readonly r: Hex;
    readonly s: Hex;
  }[];
}

export interface SmartAccount {
  readonly address: Address;
  /** Returns the call that makes these calls in order, with the owner's signature and fee caps of zero. */
  sign(
    calls: readonly AccountCall[],
    change?: { readonly maxFeePerGas?: bigint; readonly callGasLimit?: bigint },
  ): Promise<RawCall>;
}

const createAbi = parseAbi([
  "function getAddress(address owner, uint256 salt) view returns (address)",
  "function createAccount(address owner, uint256 salt) returns (address)",
]);
const batchAbi = parseAbi(["function executeBatch((address target, uint256 value, bytes data)[] calls)"]);
const batch07Abi = parseAbi(["function executeBatch(address[] targets, uint256[] values, bytes[] data)"]);

const limits = { callGasLimit: 400_000n, verificationGasLimit: 600_000n, preVerificationGas: 0n };

/** An account at the owner's own address. An attached authorization delegates it to Simple7702Account. */
export function smartEoa(chain: ChainEndpoint, owner: PrivateKeyAccount): SmartAccount {
  const reads = createPublicClient({ transport: http(chain.rpcUrl), cacheTime: 0 });
  return {
    address: owner.address,
    sign: async (calls, change = {}) => {
      const { r, s, yParity, address, chainId, nonce } = await owner.signAuthorization({
        chainId: chain.id,
        address: contractOf(chain, "simple7702Account"),
        nonce: await reads.getTransactionCount({ address: owner.address }),
      });
      const operation = {
        sender: owner.address,
        callData: encodeFunctionData({ abi: batchAbi, args: [calls.map(asTuple)] }),
      };
      const call = await signV08(chain, owner, { ...operation, ...change });
      return { ...call, authorizationList: [{ chainId, address, nonce, yParity: yParity ?? 0, r, s }] };
    },
  };
}

/** An account of SimpleAccountFactory. Its first operation deploys it. */
export async function simpleAccount(
  chain: ChainEndpoint,
  owner: PrivateKeyAccount,
  version: "0.7" | "0.8",
): Promise<SmartAccount> {
  const reads = createPublicClient({ transport: http(chain.rpcUrl), cacheTime: 0 });
  const factory = contractOf(chain, version === "0.7" ? "simpleAccountFactory" : "simpleAccountFactory08");
  const args = [owner.address, 0n] as const;
  const address = await reads.readContract({
    address: factory,
    abi: createAbi,
    functionName: "getAddress",
    args,
  });
  const creation = {
    factory,
    factoryData: encodeFunctionData({ abi: createAbi, functionName: "createAccount", args }),
  };
  return {
    address,
    sign: async (calls, change = {}) => {
      const isDeployed = (await reads.getCode({ address })) !== undefined;
      const sender = { sender: address, ...(isDeployed ? {} : creation), ...change };
      if (version === "0.8") {
        const callData = encodeFunctionData({ abi: batchAbi, args: [calls.map(asTuple)] });
        return await signV08(chain, owner, { ...sender, callData });
      }
      const lists = [
        calls.map(({ to }) => to),
        calls.map(({ value }) => value),
        calls.map(({ data }) => data),
      ] as const;
      return await signV07(chain, owner, {
        ...sender,
        callData: encodeFunctionData({ abi: batch07Abi, args: lists }),
      });
    },
  };
}

export function contractOf(chain: ChainEndpoint, name: string): Address {
  const address = chain.contracts[name];
  if (address === undefined) throw new Error(`${chain.name} has no ${name}`);
  return address;
}

const asTuple = ({ to, value, data }: AccountCall) => ({ target: to, value, data });

interface Operation {
  readonly sender: Address;
  readonly callData: Hex;
  readonly factory?: Address;
  readonly factoryData?: Hex;
  readonly maxFeePerGas?: bigint;
}

async function signV07(
  chain: ChainEndpoint,
  owner: PrivateKeyAccount,
  operation: Operation,
): Promise<RawCall> {
  const entryPoint = contractOf(chain, "entryPoint07");
  const unsigned = await fillDefaults(chain, entryPoint, operation);
  const hash = getUserOperationHash({
    chainId: chain.id,
    entryPointAddress: entryPoint,
    entryPointVersion: "0.7",
    userOperation: unsigned,
  });
  const signature = await owner.signMessage({ message: { raw: hash } });
  const packed = toPackedUserOperation({ ...unsigned, signature });
  const data = encodeFunctionData({
    abi: entryPoint07Abi,
    functionName: "handleOps",
    args: [[packed], owner.address],
  });
  return { chainId: chain.id, to: entryPoint, data, value: "0" };
}

async function signV08(
  chain: ChainEndpoint,
  owner: PrivateKeyAccount,
  operation: Operation,
): Promise<RawCall> {
  const entryPoint = contractOf(chain, "entryPoint08");
  const unsigned = await fillDefaults(chain, entryPoint, operation);
  const hash = getUserOperationHash({
    chainId: chain.id,
    entryPointAddress: entryPoint,
    entryPointVersion: "0.8",
    userOperation: unsigned,
  });
  const packed = toPackedUserOperation({ ...unsigned, signature: await owner.sign({ hash }) });
  const data = encodeFunctionData({
    abi: entryPoint08Abi,
    functionName: "handleOps",
    args: [[packed], owner.address],
  });
  return { chainId: chain.id, to: entryPoint, data, value: "0" };
}

async function fillDefaults(chain: ChainEndpoint, entryPoint: Address, operation: Operation) {
  const reads = createPublicClient({ transport: http(chain.rpcUrl), cacheTime: 0 });
  const nonce = await reads.readContract({
    address: entryPoint,
    abi: entryPoint07Abi,
    functionName: "getNonce",
    args: [operation.sender, 0n],
  });
  return {
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    ...limits,
    ...operation,
    nonce,
    signature: "0x" as Hex,
  };
}
