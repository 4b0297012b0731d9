/** The last row of a page of holds or claims. */
export interface PlaceInTime {
  readonly atMs: number;
  readonly id: string;
}

/** Newest first, starting after the last row of the previous page. */
export interface Page<After> {
  readonly limit: number;
  readonly after: After | undefined;
}
