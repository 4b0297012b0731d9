/** A calendar month in UTC: `2026-01`. */
export type Month = `${number}-${number}`;
