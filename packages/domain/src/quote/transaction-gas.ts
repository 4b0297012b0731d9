/**
 * No transaction may have more gas than this, whatever a block has (EIP-7825). Kept to on every EVM chain:
 * forks adopt the cap at different times.
 */
export const MAX_TRANSACTION_GAS = 2n ** 24n;
