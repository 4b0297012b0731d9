// A new account without native tokens bridges 25 USDC. It signs twice: one EIP-7702 authorization that turns
// it into a smart account, and one ERC-4337 operation that approves and deposits. The service broadcasts
// both, and the app pays the gas.
import { encodeFunctionData, parseAbi, parseUnits, type Address, type Hex } from "viem";
import { entryPoint08Abi, getUserOperationTypedData, toPackedUserOperation } from "viem/account-abstraction";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import {
  app,
  appBalance,
  callApi,
  chainNamed,
  conclude,
  giveUsdc,
  inUsdc,
  print,
  waitUntilEnded,
} from "./local-system.ts";

interface Quote {
  readonly requestId: Hex;
  readonly steps: readonly {
    readonly id: string;
    readonly items: readonly { readonly data: { to: Address; data: Hex; value: string } }[];
  }[];
  readonly details: { readonly currencyOut: { readonly minimumAmount: string } };
}

const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
const ada = privateKeyToAccount(generatePrivateKey());
const amount = parseUnits("25", 6);
await giveUsdc(origin, ada.address, amount);
const nativeBefore = await origin.reads.getBalance({ address: ada.address });
print("Ada", `${ada.address} has ${inUsdc(amount)} and ${nativeBefore} wei on ${origin.name}`);

// 1. Request a quote. Here the app pays for the gas on the origin; with `originGasOverhead` it would be
//    deducted from the output.
const quote = await callApi<Quote>("/quote/v2", {
  user: ada.address,
  originChainId: origin.id,
  originCurrency: origin.usdc,
  destinationChainId: destination.id,
  destinationCurrency: destination.usdc,
  amount: amount.toString(),
  tradeType: "EXACT_INPUT",
});
const minimum = BigInt(quote.details.currencyOut.minimumAmount);
print("quote", `at least ${inUsdc(minimum)} on ${destination.name}; request ${quote.requestId}`);

// 2. Authorize the smart account code. The service broadcasts the transaction, so the authorization uses
//    Ada's current nonce.
const authorization = await ada.signAuthorization({
  chainId: origin.id,
  address: origin.contract("simple7702Account"),
  nonce: await origin.reads.getTransactionCount({ address: ada.address }),
});

// 3. Put all steps of the quote into one operation. Its fee caps are zero, because the app pays the gas.
const entryPoint = origin.contract("entryPoint08");
const calls = quote.steps.flatMap(({ items }) =>
  items.map(({ data }) => ({ target: data.to, value: BigInt(data.value), data: data.data })),
);
const operation = {
  sender: ada.address,
  nonce: await origin.reads.readContract({
    address: entryPoint,
    abi: entryPoint08Abi,
    functionName: "getNonce",
    args: [ada.address, 0n],
  }),
  callData: encodeFunctionData({
    abi: parseAbi(["function executeBatch((address target, uint256 value, bytes data)[] calls)"]),
    args: [calls],
  }),
  callGasLimit: 300_000n,
  verificationGasLimit: 100_000n,
  preVerificationGas: 0n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  signature: "0x" as Hex,
};
operation.signature = await ada.signTypedData(
  getUserOperationTypedData({
    chainId: origin.id,
    entryPointAddress: entryPoint,
    userOperation: operation,
  }),
);
print("signed", `an authorization, and one operation of ${quote.steps.map(({ id }) => id).join(" + ")}`);

// 4. Submit both.
const before = await appBalance();
const { r, s, yParity, address, chainId, nonce } = authorization;
await callApi("/execute", {
  executionKind: "rawCalls",
  data: {
    chainId: origin.id,
    to: entryPoint,
    data: encodeFunctionData({
      abi: entryPoint08Abi,
      functionName: "handleOps",
      args: [[toPackedUserOperation(operation)], ada.address],
    }),
    value: "0",
    authorizationList: [{ chainId, address, nonce, yParity, r, s }],
  },
  executionOptions: { referrer: "examples", subsidizeFees: true },
  requestId: quote.requestId,
});
print("executed", `paid by the app with the wallet ${app.fundingAddress}`);

// 5. Wait for the result, and check the balances.
const status = await waitUntilEnded(quote.requestId);
const [received, nativeAfter, after] = await Promise.all([
  destination.usdcOf(ada.address),
  origin.reads.getBalance({ address: ada.address }),
  appBalance(),
]);
print(
  "app",
  `$${before.totalUsd} -> $${after.totalUsd}: the maximum cost is reserved until the transaction is final`,
);
conclude(
  status === "success" && received >= minimum && nativeAfter === 0n,
  `Ada has ${inUsdc(received)} on ${destination.name}, and still ${nativeAfter} wei on ${origin.name}.`,
);
