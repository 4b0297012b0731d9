// An account without native tokens bridges 25 USDC with one signature and without a sponsor. The service
// broadcasts what the account signed, and the gas is deducted from the output.
import { parseUnits, type Hex, type TypedDataDefinition } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { callApi, chainNamed, conclude, giveUsdc, inUsdc, print, waitUntilEnded } from "./local-system.ts";

interface Quote {
  readonly requestId: Hex;
  readonly steps: readonly {
    readonly id: string;
    readonly kind: string;
    readonly items: readonly {
      readonly data: {
        readonly sign: Pick<TypedDataDefinition, "domain" | "types" | "primaryType"> & { value: object };
        readonly post: { readonly endpoint: string; readonly body: object };
      };
    }[];
  }[];
  readonly details: { readonly currencyOut: { readonly minimumAmount: string } };
}

const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
const ada = privateKeyToAccount(generatePrivateKey());
const amount = parseUnits("25", 6);
await giveUsdc(origin, ada.address, amount);
print("account", `${ada.address}: ${inUsdc(amount)}, no native token`);

// 1. Request a quote that is paid by signature. It has one step, of kind `signature`.
const quote = await callApi<Quote>("/quote/v2", {
  user: ada.address,
  originChainId: origin.id,
  originCurrency: origin.usdc,
  destinationChainId: destination.id,
  destinationCurrency: destination.usdc,
  amount: amount.toString(),
  tradeType: "EXACT_INPUT",
  usePermit: true,
});
const minimum = BigInt(quote.details.currencyOut.minimumAmount);
const [step] = quote.steps;
const item = step?.items[0];
if (item === undefined || step?.kind !== "signature") throw new Error("quote has no signature step");
print("quote", `at least ${inUsdc(minimum)} on ${destination.name}; request ${quote.requestId}`);

// 2. Sign. The signature allows only one thing: to deposit the money for this quote.
const { sign, post } = item.data;
const { domain, types, primaryType, value: message } = sign;
const signature = await ada.signTypedData({ domain, types, primaryType, message } as TypedDataDefinition);
print("signed", `${step.id}: ${primaryType} in the domain of ${domain?.name}`);

// 3. Post the signature. The service checks it, simulates the payment and broadcasts it.
const answer = await callApi<{ message: string }>(`${post.endpoint}?signature=${signature}`, post.body);
print("posted", answer.message);
const status = await waitUntilEnded(quote.requestId);

const received = await destination.usdcOf(ada.address);
const nativeBalance = await origin.reads.getBalance({ address: ada.address });
conclude(
  status === "success" && received >= minimum && nativeBalance === 0n,
  `Ada has ${inUsdc(received)} on ${destination.name}, and has sent no transaction.`,
);
