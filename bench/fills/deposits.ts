import { NATIVE_CURRENCY } from "@causeway/domain";
import { createApiClient, fundLocal } from "@causeway/localnet";
import { createLocalClient, LocalTransactionFailed, type LocalClient } from "@causeway/testkit";
import { transactionsOf } from "@causeway/wire";
import { setTimeout as sleep } from "node:timers/promises";
import { getAddress, parseEther, type Hex, type PrivateKeyAccount } from "viem";
import { freshRecipient, usersOfSeed } from "../../scripts/soak/world.ts";
import { withoutBlocks } from "../swaps/pause-mining.ts";
import type { FillsWorld } from "./fills-world.ts";

/** A quote's deposit, signed and not yet sent. */
export interface SignedDeposit {
  readonly requestId: Hex;
  readonly bytes: Hex;
}

const SEED = 17;
/** In the smallest confirmation tier, so that a deposit counts in its own block. */
const AMOUNT_WEI = 10n ** 16n;
const QUOTES_AT_A_TIME = 8;
const DEFAULT_GAS = 200_000n;
/** Far above any base fee during a run. */
const FEE = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** Requests this many quotes in one direction, each for a different user, and signs their deposits. */
export async function signDeposits(
  { origin, destination, apiUrl }: FillsWorld,
  count: number,
  signal: AbortSignal,
): Promise<SignedDeposit[]> {
  const users = usersOfSeed(SEED, count);
  await fundLocal(
    { url: origin.rpcUrl, chainId: origin.id },
    users.map(({ address }) => ({ address, nativeWei: parseEther("1") })),
  );
  const api = createApiClient(apiUrl);
  const signed: SignedDeposit[] = [];
  const sign = async (user: PrivateKeyAccount, index: number): Promise<SignedDeposit> => {
    const { requestId, steps } = await api.quote({
      user: user.address,
      recipient: freshRecipient(SEED, index),
      originChainId: origin.id,
      destinationChainId: destination.id,
      originCurrency: NATIVE_CURRENCY,
      destinationCurrency: NATIVE_CURRENCY,
      amount: AMOUNT_WEI.toString(),
      tradeType: "EXACT_INPUT",
    });
    const [call, ...otherCalls] = transactionsOf(steps);
    if (call === undefined || otherCalls.length > 0)
      throw new Error(`expected one transaction, got ${otherCalls.length + (call === undefined ? 0 : 1)}`);
    const bytes = await user.signTransaction({
      type: "eip1559",
      chainId: origin.id,
      nonce: 0,
      to: getAddress(call.to),
      data: call.data as Hex,
      value: BigInt(call.value),
      gas: call.gas === undefined ? DEFAULT_GAS : BigInt(call.gas),
      ...FEE,
    });
    return { requestId: requestId as Hex, bytes };
  };
  const remaining = users.entries();
  await Promise.all(
    Array.from({ length: QUOTES_AT_A_TIME }, async () => {
      for (const [index, user] of remaining) {
        signal.throwIfAborted();
        signed[index] = await sign(user, index);
      }
    }),
  );
  return signed;
}

/**
 * Sends all deposits in one block of the origin.
 * @throws if they do not fit into one block
 */
export async function depositInOneBlock(
  { origin }: FillsWorld,
  deposits: readonly SignedDeposit[],
): Promise<void> {
  const client = clientOf(origin);
  const blocks = await withoutBlocks([origin], async () => {
    const hashes: Hex[] = [];
    for (const { bytes } of deposits)
      hashes.push(await client.sendRawTransaction({ serializedTransaction: bytes }));
    await client.mine({ blocks: 1 });
    return await Promise.all(
      hashes.map(async (hash) => {
        const { status, blockNumber } = await client.getTransactionReceipt({ hash });
        if (status !== "success") throw new LocalTransactionFailed(`deposit ${hash} reverted`);
        return blockNumber;
      }),
    );
  });
  if (new Set(blocks).size !== 1) throw new Error("the deposits did not fit into one block");
}

/** Sends one deposit at a time, each once the previous fill is mined. */
export async function depositAlone(
  world: FillsWorld,
  deposits: readonly SignedDeposit[],
  signal: AbortSignal,
): Promise<void> {
  const client = clientOf(world.origin);
  const filled = await fillCounter(world);
  for (const [index, { bytes }] of deposits.entries()) {
    await client.sendRawTransaction({ serializedTransaction: bytes });
    await filled.until(index + 1, signal);
  }
}

/** Sends this many deposits per second, without waiting for their fills. */
export async function depositSteadily(
  { origin }: FillsWorld,
  deposits: readonly SignedDeposit[],
  perSecond: number,
  signal: AbortSignal,
): Promise<void> {
  const client = clientOf(origin);
  const startedAtMs = performance.now();
  for (const [index, { bytes }] of deposits.entries()) {
    const waitMs = startedAtMs + (index * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    await client.sendRawTransaction({ serializedTransaction: bytes });
  }
}

const POLL_INTERVAL_MS = 200;
const FILLED_WITHIN_MS = 60_000;

/** Counts fills on the chain by the solver's nonce, without asking the service. */
async function fillCounter({
  system,
  destination,
}: FillsWorld): Promise<{ until(count: number, signal: AbortSignal): Promise<void> }> {
  const client = clientOf(destination);
  const nonce = async (): Promise<number> =>
    await client.getTransactionCount({ address: system.solver.address });
  const first = await nonce();
  return {
    until: async (count, signal) => {
      const endsAtMs = performance.now() + FILLED_WITHIN_MS;
      while ((await nonce()) < first + count) {
        if (performance.now() > endsAtMs)
          throw new Error(`a fill was not mined within ${FILLED_WITHIN_MS / 1_000} s`);
        await sleep(POLL_INTERVAL_MS, undefined, { signal });
      }
    },
  };
}

function clientOf({ rpcUrl, id }: FillsWorld["origin"]): LocalClient {
  return createLocalClient({ url: rpcUrl, chainId: id });
}
