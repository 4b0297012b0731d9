// An ERC-4337 account that is not deployed yet sends 10 USDC to a friend, without a quote and without native
// tokens. The owner signs one operation, the service broadcasts it, and the app pays the gas.
import { encodeFunctionData, erc20Abi, parseAbi, parseUnits, type Hex } from "viem";
import { entryPoint07Abi, getUserOperationHash, toPackedUserOperation } from "viem/account-abstraction";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import {
  appBalance,
  callApi,
  chainNamed,
  conclude,
  giveUsdc,
  inUsdc,
  print,
  waitUntilEnded,
} from "./local-system.ts";

const chain = chainNamed("local-a");
const entryPoint = chain.contract("entryPoint07");
const factory = chain.contract("simpleAccountFactory");
const owner = privateKeyToAccount(generatePrivateKey());
const friend = privateKeyToAddress(generatePrivateKey());
const amount = parseUnits("10", 6);

// 1. Get the account's future address from the factory, so that it can receive money before it is deployed.
const factoryAbi = parseAbi([
  "function getAddress(address owner, uint256 salt) view returns (address)",
  "function createAccount(address owner, uint256 salt) returns (address)",
]);
const account = await chain.reads.readContract({
  address: factory,
  abi: factoryAbi,
  functionName: "getAddress",
  args: [owner.address, 0n],
});
await giveUsdc(chain, account, amount);
print("account", `${account}, owned by ${owner.address}: ${inUsdc(amount)}, no code, no native token`);

// 2. One operation: create the account, then send the tokens. Its fee caps are zero, because the app pays the
//    gas.
const operation = {
  sender: account,
  nonce: 0n,
  factory,
  factoryData: encodeFunctionData({
    abi: factoryAbi,
    functionName: "createAccount",
    args: [owner.address, 0n],
  }),
  callData: encodeFunctionData({
    abi: parseAbi(["function execute(address to, uint256 value, bytes data)"]),
    args: [
      chain.usdc,
      0n,
      encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [friend, amount] }),
    ],
  }),
  callGasLimit: 150_000n,
  verificationGasLimit: 500_000n,
  preVerificationGas: 0n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  signature: "0x" as Hex,
};
const hash = getUserOperationHash({
  chainId: chain.id,
  entryPointAddress: entryPoint,
  entryPointVersion: "0.7",
  userOperation: operation,
});
operation.signature = await owner.signMessage({ message: { raw: hash } });

// 3. Submit it. There is no quote, so the service assigns the request id.
const before = await appBalance();
const { requestId } = await callApi<{ requestId: string }>("/execute", {
  executionKind: "rawCalls",
  data: {
    chainId: chain.id,
    to: entryPoint,
    data: encodeFunctionData({
      abi: entryPoint07Abi,
      functionName: "handleOps",
      args: [[toPackedUserOperation(operation)], owner.address],
    }),
    value: "0",
  },
  executionOptions: { referrer: "examples", subsidizeFees: true },
});
print("executed", `request ${requestId}`);

// 4. Wait for the result, and check the balances.
const status = await waitUntilEnded(requestId);
const [received, left, after] = await Promise.all([
  chain.usdcOf(friend),
  chain.usdcOf(account),
  appBalance(),
]);
print(
  "app",
  `$${before.totalUsd} -> $${after.totalUsd}: the maximum cost is reserved until the transaction is final`,
);
conclude(
  status === "success" && received === amount && left === 0n,
  `The friend has ${inUsdc(received)}, the account ${inUsdc(left)}.`,
);
