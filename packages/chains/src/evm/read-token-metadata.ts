import type { Address } from "@causeway/domain";
import type { ChainReader } from "@causeway/families/evm";
import { decodeAggregate3, encodeAggregate3 } from "./multicall.ts";
import { inconsistent } from "@causeway/families";
import { tokenMetadataCalls, tokenMetadataOf, type TokenMetadata } from "./token-metadata.ts";

/**
 * What the token at this address says of itself on the latest state; undefined when there is none. Each token
 * has a multicall of its own, so that one that wastes all gas spoils no answer of another.
 *
 * @throws RpcFault when the node did not say
 */
export async function readTokenMetadata(
  reader: Pick<ChainReader, "ask">,
  multicall3: Address,
  token: Address,
): Promise<TokenMetadata | undefined> {
  const calls = tokenMetadataCalls(token);
  const answer = await reader.ask(multicall3, encodeAggregate3(calls));
  // Failures of single calls are allowed: only a token that leaves no gas for the rest makes the whole
  // revert.
  if (answer === undefined) return undefined;
  if (answer === "0x")
    throw inconsistent("eth_call", "contracts.multicall3: no contract at the configured address");
  return tokenMetadataOf(token, decodeAggregate3(answer, calls.length));
}
