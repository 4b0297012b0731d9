/** How a job ended: for good, or with something to wait for, which is no failure. */
export type Progress = { readonly waitMs: 0 } | { readonly waitMs: number; readonly why: string };

export const DONE: Progress = { waitMs: 0 };
