import type { Address } from "@causeway/domain";
import type { ChainReader } from "@causeway/families/evm";
import { decodeAggregate3, encodeAggregate3 } from "./multicall.ts";
import { inconsistent } from "@causeway/families";
import { tokenMetadataCalls, tokenMetadataOf, type TokenMetadata } from "./token-metadata.ts";

/**
 * The metadata of the token at this address on the latest state; undefined if it is not a token. Each token
 * has its own multicall, so that one that wastes all gas does not affect another.
 *
 * @throws RpcFault if the node does not answer
 */
export async function readTokenMetadata(
  reader: Pick<ChainReader, "ask">,
  multicall3: Address,
  token: Address,
): Promise<TokenMetadata | undefined> {
  const calls = tokenMetadataCalls(token);
  const answer = await reader.ask(multicall3, encodeAggregate3(calls));
  // Single calls may fail, so the whole call reverts only if a token leaves no gas for the rest.
  if (answer === undefined) return undefined;
  if (answer === "0x")
    throw inconsistent("eth_call", "contracts.multicall3: no contract at the configured address");
  return tokenMetadataOf(token, decodeAggregate3(answer, calls.length));
}
