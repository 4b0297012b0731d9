import { createLocalClient, sendPipelined, type LocalClient, type NodeAddress } from "@causeway/testkit";
import { localAccount, localAccountAbstraction } from "@causeway/localnet";
import {
  encodeFunctionData,
  keccak256,
  parseAbi,
  parseEther,
  stringToBytes,
  type Address,
  type Hex,
} from "viem";
import {
  entryPoint07Abi,
  getUserOperationHash,
  toPackedUserOperation,
  type UserOperation,
} from "viem/account-abstraction";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";

const factoryAbi = parseAbi([
  "function getAddress(address owner, uint256 salt) view returns (address)",
  "function createAccount(address owner, uint256 salt) returns (address)",
]);
const accountAbi = parseAbi(["function execute(address to, uint256 value, bytes data)"]);
/** Where every operation of the bench sends one wei. */
const SINK: Address = "0x00000000000000000000000000000000000be4c4";

/** A deployed ERC-4337 account with native token, which a bundler requires. */
export interface BenchAccount {
  readonly address: Address;
  readonly owner: PrivateKeyAccount;
}

/** What an operation pays for its gas, in wei: nothing if a sponsor pays. */
export interface OperationFees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export interface SignedOperation {
  readonly hash: Hex;
  readonly operation: UserOperation<"0.7">;
}

/** Deploys `count` accounts of EntryPoint 0.7 and funds each with 1 native token. */
export async function deployAccounts(node: NodeAddress, count: number): Promise<BenchAccount[]> {
  const client = createLocalClient(node);
  const owners = Array.from({ length: count }, (_, n) =>
    privateKeyToAccount(keccak256(stringToBytes(`bench account owner ${n}`))),
  );
  const payer = privateKeyToAccount(localAccount("deployer").privateKey);
  await client.setBalance({ address: payer.address, value: parseEther("1000000") });
  const accounts: BenchAccount[] = [];
  for (const part of chunks(owners, 50)) {
    const addresses = await Promise.all(part.map(async (owner) => await accountOf(client, owner)));
    await sendPipelined(
      client,
      payer,
      part.flatMap((owner, n) => [
        {
          label: "an account",
          to: localAccountAbstraction.simpleAccountFactory,
          data: encodeFunctionData({
            abi: factoryAbi,
            functionName: "createAccount",
            args: [owner.address, 0n],
          }),
        },
        { label: "its native token", to: addresses[n] ?? SINK, data: "0x" as const, value: parseEther("1") },
      ]),
      500_000n,
    );
    accounts.push(...part.map((owner, n) => ({ owner, address: addresses[n] ?? SINK })));
  }
  return accounts;
}

async function accountOf(client: LocalClient, owner: PrivateKeyAccount): Promise<Address> {
  return await client.readContract({
    address: localAccountAbstraction.simpleAccountFactory,
    abi: factoryAbi,
    functionName: "getAddress",
    args: [owner.address, 0n],
  });
}

/**
 * Signs an operation that sends one wei to the sink. `key` selects a separate nonce sequence, so
 * that operations do not wait for each other.
 */
export async function signOperation(
  chainId: number,
  { address, owner }: BenchAccount,
  key: bigint,
  fees: OperationFees,
): Promise<SignedOperation> {
  const unsigned = {
    sender: address,
    nonce: key << 64n,
    callData: encodeFunctionData({ abi: accountAbi, functionName: "execute", args: [SINK, 1n, "0x"] }),
    callGasLimit: 80_000n,
    verificationGasLimit: 150_000n,
    preVerificationGas: 80_000n,
    ...fees,
    signature: "0x" as Hex,
  } satisfies UserOperation<"0.7">;
  const hash = getUserOperationHash({
    chainId,
    entryPointAddress: localAccountAbstraction.entryPoint07,
    entryPointVersion: "0.7",
    userOperation: unsigned,
  });
  return { hash, operation: { ...unsigned, signature: await owner.signMessage({ message: { raw: hash } }) } };
}

/** Calldata of a transaction that carries one operation to its entry point. */
export function handleOps({ operation }: SignedOperation): Hex {
  return encodeFunctionData({
    abi: entryPoint07Abi,
    functionName: "handleOps",
    args: [[toPackedUserOperation(operation)], SINK],
  });
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, n) =>
    list.slice(n * size, (n + 1) * size),
  );
}
