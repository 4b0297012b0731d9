export type * from "./family.ts";
