import type { AttestationServices } from "./ports/attestation-services.ts";
import type { RouteServices } from "./ports/route-services.ts";
import { attestDeposit } from "./usecases/attest-deposit.ts";
import { attestFill } from "./usecases/attest-fill.ts";
import { attestRefund } from "./usecases/attest-refund.ts";
import { attestWithdrawal } from "./usecases/attest-withdrawal.ts";
import { confirmWithdrawal } from "./usecases/confirm-withdrawal.ts";
import { initiateWithdrawal } from "./usecases/initiate-withdrawal.ts";
import { chainList } from "./usecases/list-chains.ts";
import { type StatusFacts, statusReport } from "./usecases/report-status.ts";
import { signNonceMapping } from "./usecases/sign-nonce-mapping.ts";
import { type Aggregation, withPeers } from "./usecases/with-peers.ts";

/** The use cases behind the routes, with their dependencies. */
export function routeServices(
  services: AttestationServices,
  aggregation: Aggregation,
  status: StatusFacts,
): RouteServices {
  const localSigner = aggregation.policy.localSigner;
  const chainsAnswer = chainList(services.chains);
  return {
    attestDeposit: withPeers("depository-deposits", attestDeposit(services, localSigner), aggregation),
    attestWithdrawal: withPeers(
      "depository-withdrawals",
      attestWithdrawal(services, localSigner),
      aggregation,
    ),
    attestFill: withPeers("solver-fills", attestFill(services, localSigner), aggregation),
    attestRefund: withPeers("solver-refunds", attestRefund(services, localSigner), aggregation),
    initiateWithdrawal: withPeers("withdrawal-initiation", initiateWithdrawal(services), aggregation),
    confirmWithdrawal: withPeers("withdrawal-initiated", confirmWithdrawal(services), aggregation),
    signNonceMapping: withPeers("nonce-mapping", signNonceMapping(services), aggregation),
    listChains: () => chainsAnswer,
    shadowReport: () => aggregation.ledger.report(),
    reportStatus: statusReport(services, aggregation, status),
  };
}
