// A deposit is sent but not mined yet, and the money arrives all the same: the app vouches for it with its
// balance. A hold stands there until the deposit is on the chain.
import { parseUnits, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import {
  appBalance,
  callApi,
  chainNamed,
  conclude,
  inUsdc,
  pause,
  someoneRich,
  tell,
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
const user = someoneRich(1);
const recipient = privateKeyToAddress(generatePrivateKey());

// 1. A quote, and its approval, as always.
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
tell("quote", `at least ${inUsdc(minimum)} on ${destination.name}; request ${quote.requestId}`);
const send = async (stepId: string): Promise<Hex | undefined> => {
  const step = quote.steps.find(({ id }) => id === stepId)?.items[0]?.data;
  if (step === undefined) return undefined;
  return await origin.wallet(user).sendTransaction({
    to: step.to,
    data: step.data,
    value: BigInt(step.value),
    // Nobody can measure a deposit before its approval is mined.
    gas: 200_000n,
  });
};
const approval = await send("approve");
if (approval !== undefined) await origin.reads.waitForTransactionReceipt({ hash: approval });

// 2. The deposit is sent and waits to be mined: for a second here, for many elsewhere. The local chain makes
//    no block until step 5, so that you can see what happens in between.
await setSecondsPerBlock(origin, 0);
try {
  const deposit = await send("deposit");
  tell("deposit", `${deposit} is sent, not mined`);
  await callApi("/transactions/index", {
    txHash: deposit,
    chainId: String(origin.id),
    requestId: quote.requestId,
  });

  // 3. The app vouches for it.
  const before = await appBalance();
  const answer = await callApi<{ message: string }>("/fast-fill", { requestId: quote.requestId });
  tell("fast fill", answer.message);
  const during = await appBalance();
  tell("hold", `$${before.heldUsd} -> $${during.heldUsd} of the app's $${during.totalUsd}`);

  // 4. The money arrives.
  let received = 0n;
  for (let tries = 0; tries < 200 && received < minimum; tries++) {
    await pause(100);
    received = await destination.usdcOf(recipient);
  }
  const isMined = (await receiptOf(deposit)) !== undefined;
  tell("arrived", `${inUsdc(received)} on ${destination.name}; the deposit is ${isMined ? "" : "not "}mined`);

  // 5. The chain goes on, the deposit is mined and indexed, and the hold goes.
  await setSecondsPerBlock(origin, 1);
  let { heldUsd, totalUsd } = during;
  for (let tries = 0; tries < 300 && heldUsd > before.heldUsd; tries++) {
    await pause(100);
    ({ heldUsd, totalUsd } = await appBalance());
  }
  tell("hold", `$${during.heldUsd} -> $${heldUsd} of the app's $${totalUsd}`);
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
 * 0: no blocks. Under its other name, `evm_setIntervalMining`, Hardhat's node takes the same number as
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
