/** Where a page of holds or claims ended. */
export interface PlaceInTime {
  readonly atMs: number;
  readonly id: string;
}

/** Newest first, those after the one at which the last page ended. */
export interface Page<After> {
  readonly limit: number;
  readonly after: After | undefined;
}
