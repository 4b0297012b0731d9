/** Lighter refuses the request: it responds with one of its error codes and records nothing. */
export class LighterError extends Error {
  readonly exchangeCode: number;

  constructor(exchangeCode: number, message: string) {
    super(message);
    this.name = "LighterError";
    this.exchangeCode = exchangeCode;
  }
}
