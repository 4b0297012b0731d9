import { createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";

/** An instance without any chain: nothing is named, nothing is known. */
export const noChains = createChainDirectory([]);
