import { createChainDirectory } from "../../apps/api/src/adapters/chains/directory.ts";

/** An instance without any chain: nothing is named, nothing is known. */
export const noChains = createChainDirectory([]);
