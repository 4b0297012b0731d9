import { cloneImplementation, judgeFactory, ServiceError } from "@causeway/domain";
import type { FactoryProblem, Hex } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { Events } from "../../db/events.port.ts";
import type { OwnKeys } from "../../chains/index.ts";

const SELECTORS = {
  initCodeHash: "0xdb4c545e",
  operator: "0x570ca735",
  owner: "0x8da5cb5b",
  depository: "0xbedd12a5",
} as const satisfies Readonly<Record<string, Hex>>;

/** The chain of a factory, and how to call contracts there. */
interface FactoryChain {
  readonly chain: Pick<ConnectedChain["chain"], "contracts">;
  readonly connection: { readonly reader: Pick<ConnectedChain["connection"]["reader"], "ask"> };
}

/**
 * Checks who may move funds from a chain's deposit addresses, and where to. Undefined: as configured, or no
 * factory.
 * @throws RpcFault
 */
export async function factoryProblem(
  { signer, executor, depositAddressOperator }: OwnKeys,
  { chain, connection }: FactoryChain,
): Promise<FactoryProblem | undefined> {
  const { depositAddressFactory: factory, depository } = chain.contracts;
  if (factory === undefined) return undefined;
  const { reader } = connection;
  const [initCodeHash, operator, owner, factoryDepository] = await Promise.all([
    reader.ask(factory, SELECTORS.initCodeHash),
    reader.ask(factory, SELECTORS.operator),
    reader.ask(factory, SELECTORS.owner),
    reader.ask(cloneImplementation(factory), SELECTORS.depository),
  ]);
  return judgeFactory(
    { initCodeHash, operator, owner, depository: factoryDepository },
    {
      factory,
      depository,
      operator: depositAddressOperator?.address,
      otherKeys: [signer.address, ...(executor === undefined ? [] : [executor.address])],
    },
  );
}

/**
 * Refuses to start with a factory that could send funds elsewhere. If the node does not answer, the check is
 * repeated before an address is issued and before funds are moved.
 * @throws ServiceError SERVICE_UNAVAILABLE
 */
export async function checkFactoryAtStart(
  keys: OwnKeys,
  connected: Pick<ConnectedChain, "chain" | "connection">,
  events: Events,
): Promise<void> {
  const { name } = connected.chain;
  let problem: FactoryProblem | undefined;
  try {
    problem = await factoryProblem(keys, connected);
  } catch (error) {
    events.fault("chain_fault", error, { chain: name, at: "start" });
    return;
  }
  if (problem?.kind === "unsafe")
    throw new ServiceError("SERVICE_UNAVAILABLE", `chain ${name}: ${problem.message}`);
  if (problem !== undefined)
    events.alarm("deposit_addresses_unusable", { chain: name, why: problem.message });
}
