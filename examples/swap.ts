// A user swaps a token that the solver does not hold for another such token on another chain. After an
// approval the user sends one transaction, which swaps the token and deposits the result. The fill then buys
// the other token for the recipient.
import { erc20Abi, formatUnits, parseUnits, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { callApi, chainNamed, conclude, fundedUser, print, waitUntilEnded } from "./local-system.ts";

interface Side {
  readonly inputCurrency: {
    readonly currency: { readonly symbol: string };
    readonly amountFormatted: string;
  };
  readonly outputCurrency: {
    readonly currency: { readonly symbol: string };
    readonly amountFormatted: string;
  };
  readonly router: string;
}

interface Quote {
  readonly requestId: Hex;
  readonly steps: readonly {
    readonly id: string;
    readonly items: readonly { readonly data: { to: Address; data: Hex; value: string; gas?: string } }[];
  }[];
  readonly details: {
    readonly currencyOut: { readonly amount: string; readonly minimumAmount: string };
    readonly swapImpact: { readonly percent: string };
    readonly route: { readonly origin: Side; readonly destination: Side };
  };
}

const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
const user = fundedUser(2);
const recipient = privateKeyToAddress(generatePrivateKey());
const wanted = destination.token("WETH");

// 1. Request a quote. It prices the pools of both chains and includes the service fee.
const quote = await callApi<Quote>("/quote/v2", {
  user: user.address,
  recipient,
  originChainId: origin.id,
  originCurrency: origin.token("ODD"),
  destinationChainId: destination.id,
  destinationCurrency: wanted,
  amount: parseUnits("5", 18).toString(),
  tradeType: "EXACT_INPUT",
});
const { currencyOut, route, swapImpact } = quote.details;
const minimum = BigInt(currencyOut.minimumAmount);
for (const [where, { inputCurrency: from, outputCurrency: to, router }] of Object.entries(route))
  print(
    where,
    `${from.amountFormatted} ${from.currency.symbol} -> ${to.amountFormatted} ${to.currency.symbol} through ${router}`,
  );
print("impact", `${swapImpact.percent}% compared with the pools' prices`);
print("quote", `at least ${inWeth(minimum)}, or a refund; request ${quote.requestId}`);

// 2. Send an approval, then one transaction. The gas of the second cannot be estimated before the first is
//    mined. Pools move in the meantime, so add a margin to the estimate: unused gas costs nothing.
for (const { id, items } of quote.steps)
  for (const { data } of items) {
    const call = { account: user.address, to: data.to, data: data.data, value: BigInt(data.value) };
    const gas =
      data.gas === undefined ? ((await origin.reads.estimateGas(call)) * 3n) / 2n : BigInt(data.gas);
    const hash = await origin.wallet(user).sendTransaction({ ...call, account: user, gas });
    const { status } = await origin.reads.waitForTransactionReceipt({ hash });
    print(id, `${hash} ${status}`);
  }

// 3. Wait for the result, and check the balance.
const status = await waitUntilEnded(quote.requestId);
const received = await destination.reads.readContract({
  address: wanted,
  abi: erc20Abi,
  functionName: "balanceOf",
  args: [recipient],
});
conclude(
  status === "success" && received >= minimum,
  `The recipient has ${inWeth(received)} on ${destination.name}.`,
);

function inWeth(amount: bigint): string {
  return `${formatUnits(amount, 18)} WETH`;
}
