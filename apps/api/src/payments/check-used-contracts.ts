import { serviceContracts, ServiceError } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import type { UsedContract, UsedContracts } from "./used-contracts.port.ts";

type ConfiguredChain = Pick<Chain, "id" | "name" | "contracts">;

/**
 * Refuses to start while the configuration omits a contract that a chain used before: our accounts may have
 * roles in it. Raises an alarm if open quotes use a former depository that is not read, or open orders name a
 * former router.
 * @throws ServiceError SERVICE_UNAVAILABLE naming every missing contract
 */
export async function checkUsedContracts(
  { clock, events }: Pick<Services, "clock" | "events">,
  store: UsedContracts,
  chains: readonly ConfiguredChain[],
): Promise<void> {
  const nowMs = clock.nowMs();
  const usedBefore = await store.all();
  const missing = chains.flatMap(({ id, name, contracts }) => {
    const configured = serviceContracts(contracts);
    return usedBefore
      .filter(({ chainId, address }) => chainId === id && !configured.has(address))
      .map(
        ({ role, address }) =>
          `chain ${name}: contracts.formerContracts must contain the former ${role} ${address}`,
      );
  });
  if (missing.length > 0) throw new ServiceError("SERVICE_UNAVAILABLE", missing.join("; "));
  await store.note(chains.flatMap((chain) => contractsInUse(chain, nowMs)));
  for (const { id, name, contracts } of chains) {
    const report = async (
      role: "depository" | "router",
      event: "former_depository_quoted" | "former_router_ordered",
      openRequests: UsedContracts["openOrders"],
      inUse: readonly Address[],
    ): Promise<void> => {
      const used = usedBefore.filter((contract) => contract.chainId === id && contract.role === role);
      if (used.every(({ address }) => inUse.includes(address))) return;
      const since = used.find(({ address }) => address === contracts[role])?.firstUsedAtMs ?? nowMs;
      const { count, untilMs } = await openRequests(id, since, nowMs);
      if (count > 0)
        events.alarm(event, {
          chain: name,
          openQuotes: count,
          until: new Date(untilMs).toISOString(),
        });
    };
    const { depository, formerDepositories = [], router } = contracts;
    const watched = [depository, ...formerDepositories];
    await report("depository", "former_depository_quoted", store.openQuotes, watched);
    await report("router", "former_router_ordered", store.openOrders, [router]);
  }
}

function contractsInUse({ id, contracts }: ConfiguredChain, nowMs: number): readonly UsedContract[] {
  const { depository, router, approvalProxy, serviceReceiver, depositAddressFactory } = contracts;
  const roles = { depository, router, approvalProxy, serviceReceiver, depositAddressFactory };
  return Object.entries(roles).flatMap(([role, address]) =>
    address === undefined ? [] : [{ chainId: id, address, role, firstUsedAtMs: nowMs }],
  );
}
