import type {
  DepositAttestationAnswer,
  DepositAttestationRequest,
  FillAttestationAnswer,
  FillAttestationRequest,
  NonceMappingAnswer,
  NonceMappingRequest,
  OracleChainsAnswer,
  OracleStatus,
  Quorum,
  RefundAttestationAnswer,
  RefundAttestationRequest,
  ShadowReport,
  WithdrawalAttestationAnswer,
  WithdrawalAttestationRequest,
  WithdrawalInitiatedAnswer,
  WithdrawalInitiatedRequest,
  WithdrawalInitiationAnswer,
  WithdrawalInitiationRequest,
} from "@causeway/wire";

/** The caller of a route. */
export interface Caller {
  /** Calls with the same id share a limit: the key, or the address where no keys are required. */
  readonly id: string;
  /** The `x-api-key` header as received; pass-through peers also get it. */
  readonly apiKey: string | undefined;
  /** Aborts when the caller disconnects. */
  readonly disconnected: () => AbortSignal;
}

/** An answer and how many signers agree with it. */
export interface Attested<Answer> {
  readonly answer: Answer;
  readonly quorum: Quorum;
}

type Attest<Request, Answer> = (request: Request, caller: Caller) => Promise<Attested<Answer>>;

/** The use cases that routes call. */
export interface RouteServices {
  readonly attestDeposit: Attest<DepositAttestationRequest, DepositAttestationAnswer>;
  readonly attestWithdrawal: Attest<WithdrawalAttestationRequest, WithdrawalAttestationAnswer>;
  readonly attestFill: Attest<FillAttestationRequest, FillAttestationAnswer>;
  readonly attestRefund: Attest<RefundAttestationRequest, RefundAttestationAnswer>;
  readonly initiateWithdrawal: Attest<WithdrawalInitiationRequest, WithdrawalInitiationAnswer>;
  readonly confirmWithdrawal: Attest<WithdrawalInitiatedRequest, WithdrawalInitiatedAnswer>;
  readonly signNonceMapping: Attest<NonceMappingRequest, NonceMappingAnswer>;
  readonly listChains: () => OracleChainsAnswer;
  readonly shadowReport: () => ShadowReport;
  readonly reportStatus: () => Promise<OracleStatus>;
}
