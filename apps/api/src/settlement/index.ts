/** What other rooms may use of this room; everything else is its own. */
export { depositoryBalances, hubBalances } from "./held-elsewhere.ts";
