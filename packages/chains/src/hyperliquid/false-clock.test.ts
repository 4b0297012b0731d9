import { PERPS_CURRENCY, type Address, type Hex32 } from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import type { LedgerTransfer } from "@causeway/families/hyperliquid";
import { expect, test } from "vitest";
import { createEndpointOrder } from "../nodes/endpoint-order.ts";
import { createSharedArrivals } from "../non-evm-arrivals.ts";
import { followHeads } from "../non-evm-heads.ts";
import type { NonEvmConnection } from "../non-evm-connection.ts";
import { createArrivalsReader } from "./arrivals.ts";
import { readCursor } from "./cursor.ts";
import type { HyperliquidRpc } from "./rpc.ts";

const depository: Address = "0x00000000000000000000000000000000000000d1";
const user: Address = "0x00000000000000000000000000000000000000a2";
const START = 1_763_761_234_567n;
const MINUTE_MS = 60_000;
const YEAR_MS = 31_536_000_000n;

interface Endpoint {
  /** ms that its clock is ahead of the chain's; negative: behind. */
  ahead: bigint;
  isDown: boolean;
}

/** Three endpoints of one ledger, of which two are a quorum. */
function createChain(endpoints: readonly Endpoint[]) {
  let nowMs = 0;
  const ledger: LedgerTransfer[] = [];
  const chainNow = (): bigint => START + BigInt(nowMs);

  const connectionOf = (endpoint: Endpoint) => {
    const answer = async <T>(value: T): Promise<T> => {
      await Promise.resolve();
      if (endpoint.isDown) throw new RpcFault({ kind: "network", method: "info", reason: "refused" });
      return value;
    };
    const rpc: Partial<HyperliquidRpc> = {
      clock: async () => await answer(chainNow() + endpoint.ahead),
      ledger: async (_user, from, to) => {
        const transfers = ledger.filter(({ time }) => time >= from && time <= to);
        return await answer({ size: transfers.length, transfers, unknown: [] });
      },
      transaction: async (hash) => {
        const transfer = ledger.find((entry) => entry.hash === hash);
        const fields = { block: 7n, user, error: undefined, action: undefined, isOpaque: false };
        return await answer(transfer && { hash, time: transfer.time, ...fields });
      },
    };
    const reader = createArrivalsReader({
      rpc: rpc as HyperliquidRpc,
      depositories: [depository],
      judge: async () =>
        await Promise.resolve({
          sender: user,
          destination: depository,
          from: user,
          currency: PERPS_CURRENCY,
          amount: 1n,
          nonce: 1n,
        }),
      findPurpose: async () => await Promise.resolve(undefined),
      onStranded: () => {},
      onSkipped: () => {},
      onCrowdedTimestamp: () => {},
    });
    const head = async () => ({ position: await rpc.clock!(user) });
    return { ...reader, head } as unknown as NonEvmConnection;
  };

  const connections = endpoints.map(connectionOf);
  const order = createEndpointOrder(
    endpoints.map((_, index) => `node${index}`),
    () => nowMs,
  );
  const arrivals = createSharedArrivals(connections, order, {
    quorum: 2,
    onDisagreement: () => {},
    now: () => nowMs,
    epochMs: () => Number(chainNow()),
  });
  return {
    chainNow,
    arrivals: arrivals.arrivals,
    forward: (ms: number) => void (nowMs += ms),
    deposit: (): Hex32 => {
      const hash: Hex32 = `0x${(ledger.length + 1).toString(16).padStart(64, "0")}`;
      const transfer = { kind: "usdSend", user, destination: depository, amount: "1" } as const;
      ledger.push({ hash, time: chainNow(), nonce: undefined, ...transfer });
      return hash;
    },
    /** Reads the heads, as at an interval. */
    readHeads: async (): Promise<void> => {
      followHeads(connections, order)();
      await new Promise((resolve) => void setImmediate(resolve));
    },
  };
}

test.each<[string, bigint]>([
  ["years ahead", 3n * YEAR_MS],
  ["a day ahead", 86_400_000n],
  ["two minutes ahead", 120_000n],
  ["20 seconds ahead", 20_000n],
  ["an hour behind", -3_600_000n],
])("every deposit is found although the clock of one of three endpoints is %s", async (_, ahead) => {
  for (const liar of [0, 1, 2]) {
    const endpoints = [0, 1, 2].map((index) => ({ ahead: index === liar ? ahead : 0n, isDown: false }));
    const chain = createChain(endpoints);
    let cursor: string | undefined;
    const deposited: Hex32[] = [];
    const found = new Set<string>();
    for (let minute = 0; minute < 90; minute++) {
      // Each endpoint is down for some minutes, so that each one leads and reads a second time.
      for (const [index, endpoint] of endpoints.entries())
        endpoint.isDown = minute % 30 > 20 && Math.floor(minute / 30) === index;
      await chain.readHeads();
      if (minute < 85) deposited.push(chain.deposit());
      const read = await chain.arrivals(cursor);
      ({ cursor } = read);
      for (const { txHash } of read.deposits) found.add(txHash);
      expect(readCursor(cursor).time).toBeLessThanOrEqual(chain.chainNow() + 30_000n);
      expect(readCursor(read.checked ?? cursor).time).toBeLessThanOrEqual(chain.chainNow() + 30_000n);
      await new Promise((resolve) => void setImmediate(resolve));
      chain.forward(MINUTE_MS);
    }
    expect([...found]).toEqual(deposited);
  }
});
