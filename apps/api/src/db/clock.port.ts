/** Time as an argument, so that rules about deadlines can be tested. */
export interface Clock {
  nowMs(): number;
}
