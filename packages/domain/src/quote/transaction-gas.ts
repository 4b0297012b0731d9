/**
 * Maximum gas limit of one transaction (EIP-7825). Applied on every EVM chain, because chains adopt the EIP
 * at different times.
 */
export const MAX_TRANSACTION_GAS = 2n ** 24n;
