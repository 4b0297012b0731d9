/** The shape of an order, generic over its amounts: bigint in the code, decimal text in JSON. */
export interface OrderIn<Amount> {
  readonly version: string;
  readonly solverChainId: string;
  readonly solver: string;
  readonly salt: string;
  readonly inputs: readonly {
    readonly payment: {
      readonly chainId: string;
      readonly currency: string;
      readonly amount: Amount;
      readonly weight: Amount;
    };
    readonly refunds: readonly {
      readonly chainId: string;
      readonly recipient: string;
      readonly currency: string;
      readonly minimumAmount: Amount;
      readonly deadline: number;
      readonly extraData: string;
    }[];
  }[];
  readonly output: {
    readonly chainId: string;
    readonly payments: readonly {
      readonly recipient: string;
      readonly currency: string;
      readonly minimumAmount: Amount;
      readonly expectedAmount: Amount;
    }[];
    readonly calls: readonly string[];
    readonly deadline: number;
    readonly extraData: string;
  };
  readonly fees: readonly {
    readonly recipientChainId: string;
    readonly recipient: string;
    readonly currencyChainId: string;
    readonly currency: string;
    readonly amount: Amount;
  }[];
}
