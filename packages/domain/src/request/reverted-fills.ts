/** Fills of one request that may revert in a block before its deposit is refunded. */
export const MAX_REVERTED_FILLS = 3;
