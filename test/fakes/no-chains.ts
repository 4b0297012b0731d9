import { createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";

/** An instance without chains. */
export const noChains = createChainDirectory([]);
