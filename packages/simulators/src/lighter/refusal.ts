/** Lighter refuses the request: it responds with one of its error codes and records nothing. */
export class LighterError extends Error {
  readonly lighterCode: number;

  constructor(lighterCode: number, message: string) {
    super(message);
    this.name = "LighterError";
    this.lighterCode = lighterCode;
  }
}
