// A deposit that arrives after the quote's deadline is refunded. `ttl` is the number of seconds within which
// a quote must be filled.
import { formatEther, parseEther, zeroAddress, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { callApi, chainNamed, conclude, fundedUser, pause, print, waitUntilEnded } from "./local-system.ts";

interface Quote {
  readonly requestId: Hex;
  readonly steps: readonly {
    readonly items: readonly { readonly data: { to: Address; data: Hex; value: string } }[];
  }[];
}

const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
const user = fundedUser(2);
const refundTo = privateKeyToAddress(generatePrivateKey());

// 1. Request a quote that must be filled within a second. Without `refundTo`, a refund goes to `user`.
const quote = await callApi<Quote>("/quote/v2", {
  user: user.address,
  refundTo,
  originChainId: origin.id,
  originCurrency: zeroAddress,
  destinationChainId: destination.id,
  destinationCurrency: zeroAddress,
  amount: parseEther("0.01").toString(),
  tradeType: "EXACT_INPUT",
  ttl: 1,
});
print("quote", `to be filled within 1 second; request ${quote.requestId}`);

// 2. Deposit too late. Do not do this with real money: the gas of the refund is deducted from it.
await pause(2_500);
const deposit = quote.steps[0]?.items[0]?.data;
if (deposit === undefined) throw new Error("quote has no deposit step");
const { to, data, value } = deposit;
const hash = await origin.wallet(user).sendTransaction({ to, data, value: BigInt(value) });
await origin.reads.waitForTransactionReceipt({ hash });
print("deposit", `${formatEther(BigInt(value))} ETH, too late`);

// 3. The money is refunded on the chain that it was sent from.
const status = await waitUntilEnded(quote.requestId);
const { failReason } = await callApi<{ failReason: string }>(
  `/intents/status/v3?requestId=${quote.requestId}`,
);
const returned = await origin.reads.getBalance({ address: refundTo });
conclude(
  status === "refund" && returned > 0n,
  `${formatEther(returned)} ETH came back on ${origin.name}: ${failReason}.`,
);
