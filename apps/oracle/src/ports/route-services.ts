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

/** Who asks. */
export interface Caller {
  /** Whose calls are counted together: the key, or the address where no keys are asked for. */
  readonly id: string;
  /** The `x-api-key` as it came: some peers are asked with it. */
  readonly apiKey: string | undefined;
  /** Aborts when the caller hangs up. */
  readonly gone: () => AbortSignal;
}

/** An answer and what stands behind it. */
export interface Attested<Answer> {
  readonly answer: Answer;
  readonly quorum: Quorum;
}

type Attest<Request, Answer> = (request: Request, caller: Caller) => Promise<Attested<Answer>>;

/** What the routes call. */
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
