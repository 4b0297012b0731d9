// Bridges with Relay's public SDK. Only the configuration differs from an app of another service.
import { createClient, getClient } from "@relayprotocol/relay-sdk";
import { fetchChainConfigs } from "@relayprotocol/relay-sdk/chain-utils";
import { parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { apiUrl, chainNamed, conclude, fundedUser, inUsdc, print } from "./local-system.ts";

const [origin, destination] = [chainNamed("local-a"), chainNamed("local-b")];
const user = fundedUser(3);
const recipient = privateKeyToAddress(generatePrivateKey());

// 1. Configure the URL and the chains. The default polling interval of five seconds is long for local blocks.
createClient({
  baseApiUrl: apiUrl,
  source: "shop.example",
  chains: await fetchChainConfigs(apiUrl),
  pollingInterval: 500,
  confirmationPollingInterval: 500,
});

// 2. Quote, and execute the steps: an approval and a deposit.
const quote = await getClient().actions.getQuote({
  chainId: origin.id,
  currency: origin.usdc,
  toChainId: destination.id,
  toCurrency: destination.usdc,
  tradeType: "EXACT_INPUT",
  amount: parseUnits("25", 6).toString(),
  user: user.address,
  recipient,
});
const minimum = BigInt(quote.details?.currencyOut?.minimumAmount ?? "0");
print("quote", `at least ${inUsdc(minimum)} on ${destination.name}`);
let lastStep = "";
await getClient().actions.execute({
  quote,
  wallet: origin.wallet(user),
  onProgress: ({ currentStep }) => {
    if (currentStep == null || currentStep.id === lastStep) return;
    lastStep = currentStep.id;
    print("step", currentStep.description);
  },
});

const received = await destination.usdcOf(recipient);
conclude(received >= minimum, `The recipient has ${inUsdc(received)} on ${destination.name}.`);
