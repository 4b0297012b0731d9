// Somebody has a token that the service does not hold, and wants another such token on another chain. He
// sends one transaction: his token is exchanged on its way to the depository, and what he wants is bought in
// the transaction that pays.
import { erc20Abi, formatUnits, parseUnits, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { callApi, chainNamed, conclude, someoneRich, tell, untilEnded } from "./local-system.ts";

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
const user = someoneRich(2);
const recipient = privateKeyToAddress(generatePrivateKey());
const wanted = destination.token("WETH");

// 1. What will arrive? Pools of both chains are asked, and what is taken for the service is in it.
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
  tell(
    where,
    `${from.amountFormatted} ${from.currency.symbol} become ${to.amountFormatted} ${to.currency.symbol} by ${router}`,
  );
tell("impact", `${swapImpact.percent} % of what the pools' prices promise`);
tell("quote", `at least ${inWeth(minimum)}, or the money goes back; request ${quote.requestId}`);

// 2. An approval and one transaction. Nobody can measure the second before the first is mined, and pools move
//    meanwhile: some room in its gas costs nothing.
for (const { id, items } of quote.steps)
  for (const { data } of items) {
    const call = { account: user.address, to: data.to, data: data.data, value: BigInt(data.value) };
    const gas =
      data.gas === undefined ? ((await origin.reads.estimateGas(call)) * 3n) / 2n : BigInt(data.gas);
    const hash = await origin.wallet(user).sendTransaction({ ...call, account: user, gas });
    const { status } = await origin.reads.waitForTransactionReceipt({ hash });
    tell(id, `${hash} ${status}`);
  }

// 3. The money arrives.
const status = await untilEnded(quote.requestId);
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
