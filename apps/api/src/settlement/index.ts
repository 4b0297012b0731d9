/** The interface of this room for other rooms; everything else is private. */
export { depositoryBalances, hubBalances } from "./hub-balances.ts";
