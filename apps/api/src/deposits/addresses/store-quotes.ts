import { quotedState, ServiceError } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import type { NewDepositAddress } from "./deposit-addresses.port.ts";
import type { QuotedRequests } from "./quoted-requests.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { OwnKeys } from "../../chains/index.ts";
import { connectedChainOf, perKind } from "../../http/connected-chain.ts";
import { factoryProblem } from "./check-factory.ts";

type Needs = OwnKeys & Pick<Services, "uow" | "chains" | "events">;

/**
 * Stores quotes, each with its deposit address if any. Checks the factory or program before the first address
 * of a chain is issued: funds at an address that this instance cannot sweep would be lost.
 */
export function storeQuotes(
  services: Needs,
  insertPlain: (terms: RequestTerms) => Promise<void>,
): QuotedRequests {
  const checked = new Set<number>();
  const issueAddress = async (terms: RequestTerms, address: NewDepositAddress): Promise<void> => {
    const { chainId } = terms.origin;
    if (!checked.has(chainId)) await checkSource(services, chainId);
    checked.add(chainId);
    await insertWithAddress(services, terms, address);
  };
  return {
    insertQuoted: (terms, address) =>
      address === undefined ? insertPlain(terms) : issueAddress(terms, address),
  };
}

async function insertWithAddress(
  { uow }: Needs,
  terms: RequestTerms,
  address: NewDepositAddress,
): Promise<void> {
  await uow.run(async (tx) => {
    await tx.requests.insert(terms, quotedState(terms.kind));
    await tx.depositAddresses.insert(address);
    await tx.depositAddresses.setAddress(terms.requestId, address.address);
  });
}

/**
 * @throws ServiceError SERVICE_UNAVAILABLE if the factory or program is unusable, RPC_HTTP_ERROR if its node
 * does not answer
 */
async function checkSource(services: Needs, chainId: number): Promise<void> {
  const connected = connectedChainOf(services.chains, chainId);
  if (connected === undefined) return;
  const { displayName, name } = connected.chain;
  const pendingCheck = perKind(connected, {
    evm: async (evmChain) => (await factoryProblem(services, evmChain))?.message,
    nonEvm: async ({ connection }) => await connection.depositAddresses?.problem?.(),
  });
  const problem = await pendingCheck.catch((cause: unknown) => {
    throw new ServiceError(
      "RPC_HTTP_ERROR",
      `The node of ${displayName} did not return the code that controls its deposit addresses; try again`,
      {
        field: "originChainId",
        cause,
      },
    );
  });
  if (problem === undefined) return;
  services.events.alarm("deposit_addresses_unusable", { chain: name, why: problem });
  throw new ServiceError(
    "SERVICE_UNAVAILABLE",
    `useDepositAddress is unavailable on ${displayName}; use an ordinary deposit or try again later`,
    { field: "useDepositAddress" },
  );
}
