/**
 * Gas limit of a transaction, regardless of the block limit (EIP-7825). Applied on every EVM chain: forks
 * adopt it at different times.
 */
export const MAX_TRANSACTION_GAS = 2n ** 24n;
