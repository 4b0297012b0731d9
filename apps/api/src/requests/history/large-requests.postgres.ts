/**
 * Expired quotes whose destination calls take most of their row: the predicate of the index
 * `requests_prunable_large`.
 */
export const LARGE = "deposit_address is null and octet_length(terms) > 4096";
/**
 * When such a quote ended, ms: a chain that was not read for days expires its quotes long after their
 * deadlines.
 */
export const LARGE_ENDED = "greatest(fill_deadline_ms, state_since_ms)";
