import { sql as text } from "drizzle-orm";
import { nonEvmCursors } from "../../deposits/deposits.tables.ts";
import { requests } from "../requests.tables.ts";

/**
 * Expired quotes from an EVM chain whose row is mostly destination calls (as in the predicate of the index
 * `requests_prunable_large`). On other chains, a late deposit can be returned only with its request.
 */
export const isLarge = text`${requests.depositAddress} is null and octet_length(${requests.terms}) > 4096
  and ${requests.originChainId} not in (select ${nonEvmCursors.chainId} from ${nonEvmCursors})`;
/**
 * When such a quote ended, ms. A chain that was not read for days expires quotes long after their
 * deadlines.
 */
export const largeEndedMs = text`greatest(${requests.fillDeadlineMs}, ${requests.stateSinceMs})`;
