import type { Address } from "@causeway/domain";
import { blockRetrySeconds, final, paidIn } from "../answer.ts";
import { attestedDepository, type DepositoryReading } from "../attested-depository.ts";
import { depositoriesOf, currentFirst } from "../depositories.ts";
import type { Family } from "../family.ts";
import type { TronFacts } from "./facts.ts";
import type { SolidTransaction } from "./finality/agreement.ts";
import { depositsIn } from "./deposits.ts";
import { paymentsIn, type PaymentRules } from "./payments.ts";
import { tvmAddress, tronAddress } from "./address-codec/tron-address.ts";

export const tron: Family<"tron", TronFacts, PaymentRules, SolidTransaction> = {
  id: "tron",
  retryAfterSeconds: blockRetrySeconds,
  rules: (chain, { fillContracts }) => ({
    depositories: depositoriesOf(chain).map(tvmAddress),
    fillContracts,
  }),
  deposits: ({ depositories }, transaction) => {
    const read = (depository: Address): DepositoryReading => ({
      depository: tronAddress(depository),
      deposits: depositsIn(depository, transaction),
    });
    const [present, ...former] = currentFirst(depositories);
    const attested = attestedDepository([read(present), ...former.map(read)]);
    return final({ ...attested, timestamp: transaction.block.timestamp });
  },
  payments: (rules, transaction, question) =>
    paidIn({ timestamp: transaction.block.timestamp }, paymentsIn(rules, transaction, question)),
};
