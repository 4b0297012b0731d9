import { sql as text } from "drizzle-orm";
import { nonEvmCursors } from "../../deposits/deposits.tables.ts";
import { requests } from "../requests.tables.ts";

/**
 * Expired quotes whose destination calls take most of their row, by the predicate of the index
 * `requests_prunable_large`, and whose origin is an EVM chain: elsewhere nothing returns a late deposit
 * without its request.
 */
export const isLarge = text`${requests.depositAddress} is null and octet_length(${requests.terms}) > 4096
  and ${requests.originChainId} not in (select ${nonEvmCursors.chainId} from ${nonEvmCursors})`;
/**
 * When such a quote ended, ms. A chain that was not read for days expires quotes long after their
 * deadlines.
 */
export const largeEndedMs = text`greatest(${requests.fillDeadlineMs}, ${requests.stateSinceMs})`;
