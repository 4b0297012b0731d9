/** The position of a hold or claim in a list by time, such as the last one of a page. */
export interface TimeCursor {
  readonly atMs: number;
  readonly id: string;
}

/** Newest first, starting after the last row of the previous page. */
export interface Page<After> {
  readonly limit: number;
  readonly after: After | undefined;
}
