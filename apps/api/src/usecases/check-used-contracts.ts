import { serviceContracts, ServiceError } from "@causeway/domain";
import type { Chain } from "@causeway/domain";
import type { Services } from "../ports/services.ts";
import type { UsedContract, UsedContracts } from "../ports/used-contracts.ts";

type Configured = Pick<Chain, "id" | "name" | "contracts">;

/**
 * At the start of a process: no contract that a chain used before may be forgotten. Accounts of ours may have roles in it, so the configuration must name it among `formerContracts`; and
 * nobody watches a former depository, so quotes that still lead there are told loudly.
 * @throws ServiceError SERVICE_UNAVAILABLE naming every contract that is missing
 */
export async function checkUsedContracts(
  { clock, events }: Pick<Services, "clock" | "events">,
  store: UsedContracts,
  chains: readonly Configured[],
): Promise<void> {
  const nowMs = clock.nowMs();
  const known = await store.all();
  const missing = chains.flatMap(({ id, name, contracts }) => {
    const guarded = serviceContracts(contracts);
    return known
      .filter(({ chainId, address }) => chainId === id && !guarded.has(address))
      .map(
        ({ role, address }) =>
          `chain ${name}: its former ${role} ${address} must be in contracts.formerContracts`,
      );
  });
  if (missing.length > 0) throw new ServiceError("SERVICE_UNAVAILABLE", missing.join("; "));
  await store.note(chains.flatMap((chain) => usedBy(chain, nowMs)));
  for (const { id, name, contracts } of chains) {
    const depositories = known.filter(({ chainId, role }) => chainId === id && role === "depository");
    if (!depositories.some(({ address }) => address !== contracts.depository)) continue;
    const since =
      depositories.find(({ address }) => address === contracts.depository)?.firstUsedAtMs ?? nowMs;
    const { count, untilMs } = await store.openQuotes(id, since, nowMs);
    if (count > 0)
      events.alarm("former_depository_quoted", {
        chain: name,
        openQuotes: count,
        until: new Date(untilMs).toISOString(),
      });
  }
}

function usedBy({ id, contracts }: Configured, nowMs: number): readonly UsedContract[] {
  const { depository, router, approvalProxy, serviceReceiver, depositAddressFactory } = contracts;
  const roles = { depository, router, approvalProxy, serviceReceiver, depositAddressFactory };
  return Object.entries(roles).flatMap(([role, address]) =>
    address === undefined ? [] : [{ chainId: id, address, role, firstUsedAtMs: nowMs }],
  );
}
