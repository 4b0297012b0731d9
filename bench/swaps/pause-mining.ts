import { setTimeout as sleep } from "node:timers/promises";
import type { Chain } from "@causeway/domain";

/** Longer than a head needs to reach every subscriber. */
const SETTLED_MS = 1_500;

/** Runs `act` while the local chains produce no blocks; afterwards they produce one per second again. */
export async function withoutBlocks<T>(chains: readonly Chain[], act: () => Promise<T>): Promise<T> {
  const mineEvery = async (seconds: number): Promise<void> => {
    await Promise.all(chains.map(async ({ rpcUrl }) => await setMiningInterval(rpcUrl, seconds)));
  };
  await mineEvery(0);
  try {
    await sleep(SETTLED_MS);
    return await act();
  } finally {
    await mineEvery(1);
  }
}

async function setMiningInterval(url: string, seconds: number): Promise<void> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_setIntervalMining", params: [seconds] }),
  });
  if (!answer.ok) throw new Error(`node did not change its mining mode: ${answer.status}`);
}
