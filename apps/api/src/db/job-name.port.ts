/** Names of the queues. */
export type JobName = "fill" | "refund" | "execute" | "claim" | "sweep";
