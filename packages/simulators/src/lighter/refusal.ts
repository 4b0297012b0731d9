/** The exchange says no: an answer with one of its codes, and nothing is recorded. */
export class ExchangeRefusal extends Error {
  readonly exchangeCode: number;

  constructor(exchangeCode: number, message: string) {
    super(message);
    this.name = "ExchangeRefusal";
    this.exchangeCode = exchangeCode;
  }
}
