/** How a job ended: complete, or waiting for something, which is not a failure. */
export type Progress = { readonly waitMs: 0 } | { readonly waitMs: number; readonly why: string };

export const DONE: Progress = { waitMs: 0 };
