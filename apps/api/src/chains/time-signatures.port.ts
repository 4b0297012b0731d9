import type { Address } from "@causeway/domain";

/** Runs `sign` and records how long it took. */
type Timed = <T>(sign: () => Promise<T>) => Promise<T>;

/** Returns the timer of one account's signatures. @param source where its key is, such as `aws-kms` */
export type TimeSignatures = (account: Address, source: string) => Timed;
