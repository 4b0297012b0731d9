/** The name of a queue. Each kind of payment in the list of `payments/legs` has one. */
export type JobName = string;
