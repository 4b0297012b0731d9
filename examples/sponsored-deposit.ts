// The app pays a whole native deposit: the user owns nothing and signs nothing, and gets ETH on another
// chain. By default an API key sponsors no call that carries native tokens. Its rule `maxCallValueUsd` allows
// it; the key of the local system has the rule. On your own instance set it, for example to $100:
// `npm run -s operator -- keys rules <id> --rules '{"maxCallValueUsd":"100"}'` (`keys list` shows the id),
// which replaces all rules of the key.
import {
  encodeFunctionData,
  formatEther,
  parseAbi,
  parseEther,
  zeroAddress,
  type Address,
  type Hex,
} from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { app, appBalance, callApi, chainNamed, conclude, print, waitUntilEnded } from "./local-system.ts";

interface Quote {
  readonly requestId: Hex;
  readonly steps: readonly {
    readonly items: readonly { readonly data: { to: Address; data: Hex; value: string } }[];
  }[];
  readonly details: { readonly currencyOut: { readonly minimumAmount: string } };
}

const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
const newcomer = privateKeyToAddress(generatePrivateKey());

// 1. Request a quote, as for any user.
const quote = await callApi<Quote>("/quote/v2", {
  user: newcomer,
  originChainId: origin.id,
  originCurrency: zeroAddress,
  destinationChainId: destination.id,
  destinationCurrency: zeroAddress,
  amount: parseEther("0.01").toString(),
  tradeType: "EXACT_INPUT",
});
const minimum = BigInt(quote.details.currencyOut.minimumAmount);
print("quote", `at least ${formatEther(minimum)} ETH on ${destination.name}; request ${quote.requestId}`);

// 2. Submit its first step. The app pays the ETH that the call carries, and the gas. The service does not
//    call its own contracts for others, so the call goes through another contract: usually the user's smart
//    wallet, here the public Multicall3. The deposit still names the user as depositor.
const deposit = quote.steps[0]?.items[0]?.data;
if (deposit === undefined) throw new Error("quote has no deposit step");
const { to, data, value } = deposit;
const before = await appBalance();
await callApi("/execute", {
  executionKind: "rawCalls",
  data: {
    chainId: origin.id,
    to: origin.contract("multicall3"),
    data: encodeFunctionData({
      abi: parseAbi([
        "function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls) payable",
      ]),
      args: [[{ target: to, allowFailure: false, value: BigInt(value), callData: data }]],
    }),
    value,
  },
  executionOptions: { referrer: "examples", subsidizeFees: true },
  requestId: quote.requestId,
});
print("executed", `a deposit of ${formatEther(BigInt(value))} ETH, paid by ${app.fundingAddress}`);

// 3. Wait for the result, and check the balances.
const status = await waitUntilEnded(quote.requestId);
const [received, after] = await Promise.all([
  destination.reads.getBalance({ address: newcomer }),
  appBalance(),
]);
print("app", `$${before.totalUsd} -> $${after.totalUsd}`);
conclude(
  status === "success" && received >= minimum && after.totalUsd < before.totalUsd,
  `The newcomer has ${formatEther(received)} ETH on ${destination.name}.`,
);
