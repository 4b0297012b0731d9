// An account that has never had any native coin bridges 25 USDC by one signature. Nobody sponsors it: the
// service sends what was signed, and the output pays the gas.
import { parseUnits, type Hex, type TypedDataDefinition } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { callApi, chainNamed, conclude, giveUsdc, inUsdc, tell, untilEnded } from "./local-system.ts";

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
tell("account", `${ada.address}: ${inUsdc(amount)}, no native token`);

// 1. A quote that is paid by signature. The one step is of kind `signature`.
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
tell("quote", `at least ${inUsdc(minimum)} on ${destination.name}; request ${quote.requestId}`);

// 2. The signature binds what becomes of the money: it can be deposited for this quote, and nothing else.
const { sign, post } = item.data;
const { domain, types, primaryType, value: message } = sign;
const signature = await ada.signTypedData({ domain, types, primaryType, message } as TypedDataDefinition);
tell("signed", `${step.id}: ${primaryType} in the domain of ${domain?.name}`);

// 3. The service checks it, looks whether it would pay, and sends it.
const answer = await callApi<{ message: string }>(`${post.endpoint}?signature=${signature}`, post.body);
tell("posted", answer.message);
const status = await untilEnded(quote.requestId);

const received = await destination.usdcOf(ada.address);
const coin = await origin.reads.getBalance({ address: ada.address });
conclude(
  status === "success" && received >= minimum && coin === 0n,
  `Ada has ${inUsdc(received)} on ${destination.name}, and has sent no transaction.`,
);
