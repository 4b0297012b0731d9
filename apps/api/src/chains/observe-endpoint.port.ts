import type { ObserveCall } from "@causeway/chains";

/** Returns the observer of calls that one chain makes to the endpoint at this URL. */
export type ObserveEndpoint = (chain: string, url: string) => ObserveCall;
