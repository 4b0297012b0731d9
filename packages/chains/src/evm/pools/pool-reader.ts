import type { Address, Hex, KnownTicks } from "@causeway/domain";
import { MAX_TICK, MIN_TICK } from "@causeway/domain";
import { bytesOf, readLog } from "@causeway/families/evm";
import { decodeAggregate3, encodeAggregate3, uintAnswer, type SubCall } from "../multicall.ts";
import { mayPassInParts } from "../rpc-errors.ts";
import { garbage, inconsistent } from "@causeway/families";
import type { RpcTransport } from "../../nodes/transport.ts";
import {
  addressAnswer,
  changedTicks,
  isLiquidityChange,
  LIQUIDITY_TOPICS,
  liquidityCall,
  pairAddressCall,
  poolAddressCall,
  reservesAnswer,
  reservesCall,
  slot0Answer,
  slot0Call,
  tickAnswer,
  tickCall,
  tickWordCall,
} from "./pool-calls.ts";

/** A possible pool: one of a v3 factory with a fee (hundredths of a bp), or a v2 factory's pair. */
export type PoolCandidate =
  | {
      readonly kind: "uniswap-v3";
      readonly factory: Address;
      readonly a: Address;
      readonly b: Address;
      readonly fee: number;
    }
  | { readonly kind: "uniswap-v2"; readonly factory: Address; readonly a: Address; readonly b: Address };

export interface PoolRef {
  readonly kind: "uniswap-v3" | "uniswap-v2";
  readonly address: Address;
}

/** The state of a pool that changes with every swap. */
export type PoolFacts =
  | {
      readonly kind: "uniswap-v3";
      /** Square root, Q64.96; 0n before initialization. */
      readonly sqrtPrice: bigint;
      readonly tick: number;
      readonly liquidity: bigint;
    }
  | { readonly kind: "uniswap-v2"; readonly reserve0: bigint; readonly reserve1: bigint };

/** Ticks of a v3 pool around the tick `about`, up to `words` bitmap words in both directions. */
export interface TickRange {
  readonly pool: Address;
  readonly tickSpacing: number;
  readonly centerTick: number;
  readonly words: number;
}

export interface PoolTick {
  readonly pool: Address;
  readonly tick: number;
}

/**
 * Reads DEX pools. Everything is read at the block with the given hash, so that results are consistent.
 *
 * @throws RpcFault from every method
 */
export interface PoolReader {
  /** Addresses of the pools; undefined for pools that do not exist. */
  find(candidates: readonly PoolCandidate[], blockHash: Hex): Promise<(Address | undefined)[]>;
  /** Tick spacing of v3 pools: positions start and end only at multiples of it. */
  tickSpacings(pools: readonly Address[], blockHash: Hex): Promise<number[]>;
  facts(pools: readonly PoolRef[], blockHash: Hex): Promise<PoolFacts[]>;
  ticksAround(ranges: readonly TickRange[], blockHash: Hex): Promise<KnownTicks[]>;
  /** Net liquidity of ticks; undefined if no position ends there. */
  ticks(ticks: readonly PoolTick[], blockHash: Hex): Promise<(bigint | undefined)[]>;
  /**
   * Ticks of v3 pools whose liquidity changed in these blocks; undefined if the node refuses the request, for
   * example without EIP-234.
   */
  changedTicks(pools: readonly Address[], blockHashes: readonly Hex[]): Promise<PoolTick[] | undefined>;
}

/** Maximum calls per `eth_call`, to stay within the gas and time limits of nodes. */
const MAX_CALLS = 400;
/** Maximum pools per log request. */
const MAX_ADDRESSES = 200;
const TICKS_PER_WORD = 256;

export function createPoolReader(transport: Pick<RpcTransport, "request">, multicall3: Address): PoolReader {
  const callAt = async (calls: readonly SubCall[], blockHash: Hex): Promise<(Hex | undefined)[]> => {
    const method = "eth_call";
    const parts = await Promise.all(
      chunks(calls, MAX_CALLS).map(async (part) => {
        const call = { to: multicall3, data: encodeAggregate3(part) };
        const answer = bytesOf(await transport.request(method, [call, { blockHash }]), method);
        if (answer === "0x")
          throw inconsistent(method, "contracts.multicall3: no contract at the configured address");
        return decodeAggregate3(answer, part.length);
      }),
    );
    return parts.flat();
  };

  const ticksAt = async (ticks: readonly PoolTick[], blockHash: Hex): Promise<(bigint | undefined)[]> => {
    const answers = await callAt(
      ticks.map(({ pool, tick }) => tickCall(pool, tick)),
      blockHash,
    );
    return answers.map(tickAnswer);
  };

  return {
    find: async (candidates, blockHash) => {
      const answers = await callAt(candidates.map(candidateCall), blockHash);
      return answers.map(addressAnswer);
    },
    tickSpacings: async (pools, blockHash) => {
      const answers = await callAt(
        pools.map((target) => ({ target, data: "0xd0c93a7c" })),
        blockHash,
      );
      return answers.map((answer) => Number(uintAnswer(answer, "tick spacing of a pool")));
    },
    facts: async (pools, blockHash) => {
      const calls = pools.flatMap(({ kind, address }) =>
        kind === "uniswap-v2" ? [reservesCall(address)] : [slot0Call(address), liquidityCall(address)],
      );
      const answers = (await callAt(calls, blockHash)).values();
      const next = (): Hex | undefined => answers.next().value;
      return pools.map(({ kind }) =>
        kind === "uniswap-v2"
          ? { kind, ...reservesAnswer(next()) }
          : { kind, ...slot0Answer(next()), liquidity: uintAnswer(next(), "liquidity of a pool") },
      );
    },
    ticksAround: async (ranges, blockHash) => {
      const wordLists = ranges.map(wordIndices);
      const calls = wordLists.flatMap((rangeWords, index) =>
        rangeWords.map((word) => tickWordCall((ranges[index] as TickRange).pool, word)),
      );
      const answers = (await callAt(calls, blockHash)).values();
      const tickLists = wordLists.map((rangeWords, index) => {
        const { tickSpacing } = ranges[index] as TickRange;
        return rangeWords.flatMap((word) =>
          setBits(uintAnswer(answers.next().value, "tick bitmap of a pool")).map(
            (bit) => (word * TICKS_PER_WORD + bit) * tickSpacing,
          ),
        );
      });
      const ticks = tickLists.flatMap((rangeTicks, index) =>
        rangeTicks.map((tick) => ({ pool: (ranges[index] as TickRange).pool, tick })),
      );
      const nets = (await ticksAt(ticks, blockHash)).values();
      return tickLists.map((rangeTicks, index) => {
        const net = rangeTicks.map(() => {
          const value = nets.next().value;
          if (value === undefined) throw garbage("eth_call", "tick in the bitmap has no liquidity");
          return value;
        });
        return {
          ...boundsOf(wordLists[index] as number[], (ranges[index] as TickRange).tickSpacing),
          indexes: rangeTicks,
          net,
        };
      });
    },
    ticks: ticksAt,
    changedTicks: async (pools, blockHashes) => {
      const method = "eth_getLogs";
      const requestedPools = new Set(pools);
      const requests = blockHashes.flatMap((blockHash) =>
        chunks(pools, MAX_ADDRESSES).map(async (address) => {
          const filter = { blockHash, address, topics: [LIQUIDITY_TOPICS] };
          const answer = await transport.request(method, [filter]);
          if (!Array.isArray(answer)) throw garbage(method, "response is not a list");
          return answer.flatMap((entry: unknown) => {
            const log = readLog(entry, method);
            if (log.blockHash !== blockHash) throw garbage(method, "log belongs to a different block");
            // A node that applies only part of the filter returns more than requested, but not less.
            if (!requestedPools.has(log.address) || !isLiquidityChange(log.topics)) return [];
            return changedTicks(log.topics).map((tick) => ({ pool: log.address, tick }));
          });
        }),
      );
      const answers = await Promise.all(requests).catch((error: unknown) => {
        if (mayPassInParts(error)) return undefined;
        throw error;
      });
      if (answers === undefined) return undefined;
      const changed = new Map<string, PoolTick>();
      for (const poolTick of answers.flat()) changed.set(`${poolTick.pool}${poolTick.tick}`, poolTick);
      return [...changed.values()];
    },
  };
}

function candidateCall(candidate: PoolCandidate): SubCall {
  return candidate.kind === "uniswap-v3"
    ? poolAddressCall(candidate.factory, candidate.a, candidate.b, candidate.fee)
    : pairAddressCall(candidate.factory, candidate.a, candidate.b);
}

/** Words of the bitmap in a range, ascending, without words that cannot contain ticks. */
function wordIndices({ tickSpacing, centerTick, words }: TickRange): number[] {
  const wordOf = (tick: number): number => Math.floor(Math.floor(tick / tickSpacing) / TICKS_PER_WORD);
  const first = Math.max(wordOf(centerTick) - words, wordOf(MIN_TICK));
  const last = Math.min(wordOf(centerTick) + words, wordOf(MAX_TICK));
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function boundsOf(words: readonly number[], tickSpacing: number): { from: number; to: number } {
  const first = words[0] as number;
  const last = words[words.length - 1] as number;
  return {
    from: Math.max(MIN_TICK, first * TICKS_PER_WORD * tickSpacing),
    to: Math.min(MAX_TICK, ((last + 1) * TICKS_PER_WORD - 1) * tickSpacing),
  };
}

/** Positions of the one bits, ascending. */
function setBits(word: bigint): number[] {
  const bits: number[] = [];
  let bit = 0;
  for (let remaining = word; remaining > 0n; remaining >>= 1n, bit++)
    if ((remaining & 1n) === 1n) bits.push(bit);
  return bits;
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < list.length; start += size) parts.push(list.slice(start, start + size));
  return parts;
}
