import type { Address, ChainLiquidity, Hex } from "@causeway/domain";
import { bytesOf } from "@causeway/families/evm";
import { balanceCall, decodeAggregate3, encodeAggregate3, type SubCall } from "./multicall.ts";
import { addressAnswer, pairAddressCall, poolAddressCall } from "./pools/pool-calls.ts";
import { NodeRefusal } from "@causeway/families";
import {
  behaviorIn,
  behaviorCalldata,
  PROBE_ACCOUNT,
  recipientCalldata,
  recipientStandingIn,
  tokenProbeCode,
  type RecipientStanding,
  type TokenBehavior,
} from "./token-behavior.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/** Detects how tokens behave by transferring tokens of pools, in simulated calls. */
export interface TokenProbe {
  /** How the token handles transfers and approvals. @throws RpcFault if the node does not answer */
  behavior(token: Address): Promise<TokenBehavior>;
  /** Whether this recipient can receive the token. @throws RpcFault if the node does not answer */
  recipient(token: Address, recipient: Address): Promise<RecipientStanding>;
}

export interface TokenProbeOptions {
  readonly transport: Pick<RpcTransport, "request">;
  readonly multicall3: Address;
  readonly liquidity: Pick<ChainLiquidity, "connectors" | "sources">;
}

/**
 * Gas for a probe, which transfers a token five times. Limited, because a token may burn all gas that it
 * gets.
 */
const PROBE_GAS = "0x989680";

/** Maximum number of cached holders; the cache is cleared when it is full. */
const MAX_HOLDERS = 10_000;

export function createTokenProbe(options: TokenProbeOptions): TokenProbe {
  const { transport } = options;
  const holders = new Map<Address, Address>();
  const findHolder = async (token: Address): Promise<Address | undefined> => {
    const holder = await holderOf(options, token);
    if (holders.size >= MAX_HOLDERS) holders.clear();
    if (holder !== undefined) holders.set(token, holder);
    return holder;
  };
  return {
    async behavior(token) {
      const holder = await findHolder(token);
      return behaviorIn(holder && (await callHolder(transport, holder, behaviorCalldata(token))));
    },
    async recipient(token, recipient) {
      const holder = holders.get(token) ?? (await findHolder(token));
      const calldata = recipientCalldata(token, recipient);
      const standing = recipientStandingIn(holder && (await callHolder(transport, holder, calldata)));
      // The holder may no longer have the token; the next call searches for another holder.
      if (standing === undefined) holders.delete(token);
      return standing;
    },
  };
}

/**
 * The pool with the largest balance of a token, among its pools with a connector; undefined if there is none.
 */
async function holderOf(
  { transport, multicall3, liquidity: { connectors, sources } }: TokenProbeOptions,
  token: Address,
): Promise<Address | undefined> {
  const poolCalls = connectors
    .filter((connector) => connector !== token)
    .flatMap((connector) =>
      sources.flatMap((source) =>
        source.kind === "uniswap-v3"
          ? source.feeTiers.map((fee) => poolAddressCall(source.factory, token, connector, fee))
          : [pairAddressCall(source.factory, token, connector)],
      ),
    );
  const pools = (await callAll(transport, multicall3, poolCalls)).flatMap((answer) =>
    answer === undefined ? [] : (addressAnswer(answer) ?? []),
  );
  const balances = await callAll(
    transport,
    multicall3,
    pools.map((pool) => balanceCall(token, pool)),
  );
  let max = 0n;
  let holder: Address | undefined;
  for (const [index, pool] of pools.entries()) {
    const answer = balances[index];
    const balance = answer === undefined || answer.length < 66 ? 0n : BigInt(answer.slice(0, 66));
    if (balance <= max) continue;
    max = balance;
    holder = pool;
  }
  return holder;
}

async function callAll(
  transport: Pick<RpcTransport, "request">,
  multicall3: Address,
  calls: readonly SubCall[],
): Promise<readonly (Hex | undefined)[]> {
  if (calls.length === 0) return [];
  const method = "eth_call";
  const call = { to: multicall3, data: encodeAggregate3(calls) };
  return decodeAggregate3(bytesOf(await transport.request(method, [call, "latest"]), method), calls.length);
}

/** The answer of a holder; undefined if it reverted or the node does not support code overrides. */
async function callHolder(
  transport: Pick<RpcTransport, "request">,
  holder: Address,
  data: Hex,
): Promise<Hex | undefined> {
  const method = "eth_call";
  const code = { code: tokenProbeCode };
  try {
    const call = { to: holder, data, gas: PROBE_GAS };
    const overrides = { [holder]: code, [PROBE_ACCOUNT]: code };
    return bytesOf(await transport.request(method, [call, "latest", overrides]), method);
  } catch (error) {
    // The refusal proves nothing about the token, whatever its reason.
    if (error instanceof NodeRefusal) return undefined;
    throw error;
  }
}
