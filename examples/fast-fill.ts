// The money arrives before the deposit is mined, because the app covers the fill with its balance. A hold
// reserves the fill and its maximum gas until deposit and fill are final.
import { parseUnits, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import {
  appBalance,
  callApi,
  chainNamed,
  conclude,
  fundedUser,
  inUsdc,
  pause,
  print,
  type LocalChain,
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
const user = fundedUser(1);
const recipient = privateKeyToAddress(generatePrivateKey());

// 1. Request a quote and send its approval, as for any bridge.
const quote = await callApi<Quote>("/quote/v2", {
  user: user.address,
  recipient,
  originChainId: origin.id,
  originCurrency: origin.usdc,
  destinationChainId: destination.id,
  destinationCurrency: destination.usdc,
  amount: parseUnits("25", 6).toString(),
  tradeType: "EXACT_INPUT",
});
const minimum = BigInt(quote.details.currencyOut.minimumAmount);
print("quote", `at least ${inUsdc(minimum)} on ${destination.name}; request ${quote.requestId}`);
const send = async (stepId: string): Promise<Hex | undefined> => {
  const step = quote.steps.find(({ id }) => id === stepId)?.items[0]?.data;
  if (step === undefined) return undefined;
  return await origin.wallet(user).sendTransaction({
    to: step.to,
    data: step.data,
    value: BigInt(step.value),
    // Enough for each step. A real app estimates a step without `gas` after its approval is mined.
    gas: 200_000n,
  });
};
const approval = await send("approve");
if (approval !== undefined) await origin.reads.waitForTransactionReceipt({ hash: approval });

// 2. Send the deposit. Here it is usually mined within a second, on other chains later. This example
//    stops the local chain until step 5, so that you can see what happens in between.
await setSecondsPerBlock(origin, 0);
try {
  const deposit = await send("deposit");
  print("deposit", `${deposit} was broadcast and is not mined`);
  await callApi("/transactions/index", {
    txHash: deposit,
    chainId: String(origin.id),
    requestId: quote.requestId,
  });

  // 3. Request the fast fill. A hold on the app's balance covers the fill.
  const before = await appBalance();
  const answer = await callApi<{ message: string }>("/fast-fill", { requestId: quote.requestId });
  print("fast fill", answer.message);
  const during = await appBalance();
  print("hold", `$${before.heldUsd} -> $${during.heldUsd} of the app's $${during.totalUsd}`);

  // 4. The money arrives.
  let received = 0n;
  for (let tries = 0; tries < 200 && received < minimum; tries++) {
    await pause(100);
    received = await destination.usdcOf(recipient);
  }
  const isMined = (await receiptOf(deposit)) !== undefined;
  print(
    "arrived",
    `${inUsdc(received)} on ${destination.name}; the deposit is ${isMined ? "" : "not "}mined`,
  );

  // 5. The chain resumes, deposit and fill become final, and the hold is released.
  await setSecondsPerBlock(origin, 1);
  let { heldUsd, totalUsd } = during;
  for (let tries = 0; tries < 300 && heldUsd > before.heldUsd; tries++) {
    await pause(100);
    ({ heldUsd, totalUsd } = await appBalance());
  }
  print("hold", `$${during.heldUsd} -> $${heldUsd} of the app's $${totalUsd}`);
  conclude(
    received >= minimum && !isMined && during.heldUsd > before.heldUsd && heldUsd === before.heldUsd,
    `The recipient had ${inUsdc(received)} before the deposit was mined.`,
  );
} finally {
  await setSecondsPerBlock(origin, 1);
}

async function receiptOf(hash: Hex | undefined) {
  if (hash === undefined) return undefined;
  return await origin.reads.getTransactionReceipt({ hash }).catch(() => undefined);
}

/**
 * 0 stops mining. Do not use the alias `evm_setIntervalMining`: Hardhat's node reads its number as
 * milliseconds.
 */
async function setSecondsPerBlock(chain: LocalChain, seconds: number): Promise<void> {
  const method = "anvil_setIntervalMining";
  const response = await fetch(chain.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [seconds] }),
  });
  const { error } = (await response.json()) as { readonly error?: { readonly message: string } };
  if (error !== undefined)
    throw new Error(`${method}: ${error.message}. This example pauses its chain, which only anvil can`);
}
