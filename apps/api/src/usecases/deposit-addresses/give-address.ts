import { cloneCodeHash, quotedState, ServiceError } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import type { DepositAddress } from "../../ports/deposit-addresses.ts";
import type { QuotedRequests } from "../../ports/quote.ts";
import type { Services } from "../../ports/services.ts";

type Needs = Pick<Services, "uow" | "chains" | "executor">;

/** `initCodeHash()` and `operator()` of the factory. */
const CODE_HASH = "0xdb4c545e";
const OPERATOR = "0x570ca735";

/**
 * Stores quotes, those with a deposit address together with it. Before the first address of a chain is given out the factory is asked whether it makes the clones that addresses are
 * computed for, and obeys this instance's executor: what is sent to an address that nobody can empty would be lost.
 */
export function storeQuotes(
  services: Needs,
  insertPlain: (terms: RequestTerms) => Promise<void>,
): QuotedRequests {
  const checked = new Set<number>();
  const insertGivingOut = async (terms: RequestTerms, address: DepositAddress): Promise<void> => {
    const { chainId } = terms.origin;
    if (!checked.has(chainId)) await checkFactory(services, chainId);
    checked.add(chainId);
    await insertWithAddress(services, terms, address);
  };
  return {
    insertQuoted: (terms, address) =>
      address === undefined ? insertPlain(terms) : insertGivingOut(terms, address),
  };
}

async function insertWithAddress(
  { uow }: Needs,
  terms: RequestTerms,
  address: DepositAddress,
): Promise<void> {
  await uow.run(async (tx) => {
    await tx.requests.insert(terms, quotedState(terms.kind));
    await tx.depositAddresses.insert(address);
    await tx.depositAddresses.setAddress(terms.requestId, address.address);
  });
}

/** @throws ServiceError SERVICE_UNAVAILABLE when the factory is another one, RPC_HTTP_ERROR when the chain does not tell */
async function checkFactory({ chains, executor }: Needs, chainId: number): Promise<void> {
  const connected = chains.get(chainId);
  const factory = connected?.chain.contracts.depositAddressFactory;
  if (connected === undefined || factory === undefined) return;
  const { reader } = connected.connection;
  const [codeHash, operator] = await Promise.all([
    reader.ask(factory, CODE_HASH),
    reader.ask(factory, OPERATOR),
  ]).catch((cause: unknown) => {
    throw new ServiceError("RPC_HTTP_ERROR", `${connected.chain.displayName} did not tell its factory`, {
      field: "originChainId",
      cause,
    });
  });
  const isOurs =
    codeHash === cloneCodeHash(factory) &&
    operator !== undefined &&
    executor !== undefined &&
    operator.endsWith(executor.address.slice(2));
  if (!isOurs)
    throw new ServiceError(
      "SERVICE_UNAVAILABLE",
      `The deposit addresses of ${connected.chain.displayName} cannot be used now`,
      { field: "useDepositAddress" },
    );
}
