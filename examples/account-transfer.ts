// An ERC-4337 account that is not even deployed yet sends 10 USDC to a friend. No quote, no native token: the
// owner signs one operation, the service sends it, the app pays the gas.
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
  tell,
  untilEnded,
} from "./local-system.ts";

const chain = chainNamed("local-a");
const entryPoint = chain.contract("entryPoint07");
const factory = chain.contract("simpleAccountFactory");
const owner = privateKeyToAccount(generatePrivateKey());
const friend = privateKeyToAddress(generatePrivateKey());
const amount = parseUnits("10", 6);

// 1. Where will the account stand? The factory knows before it exists, so it can be paid already.
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
tell("account", `${account} of ${owner.address}: ${inUsdc(amount)}, no code, no native token`);

// 2. One operation: create the account, then send the tokens. Its fee caps are zero: the app pays, and nobody
//    is paid twice.
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

// 3. Hand it over. There is no quote, so the service names the request.
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
tell("executed", `request ${requestId}`);

// 4. Where is the money?
const status = await untilEnded(requestId);
const [received, left, after] = await Promise.all([
  chain.usdcOf(friend),
  chain.usdcOf(account),
  appBalance(),
]);
tell(
  "app",
  `$${before.totalUsd} -> $${after.totalUsd}: the maximum cost is reserved until the transaction is final`,
);
conclude(
  status === "success" && received === amount && left === 0n,
  `The friend has ${inUsdc(received)}, the account ${inUsdc(left)}.`,
);
