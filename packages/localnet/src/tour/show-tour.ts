import { API_FAMILIES, type VmType } from "@causeway/domain";
import { encodeAddress } from "@causeway/families";
import { familyChains } from "../families/family-plan.ts";
import { watchPosition } from "../hub-position.ts";
import type { System } from "../system.ts";
import type { TerminalStyle } from "../terminal.ts";
import { familyWallets } from "./family-wallets.ts";
import { tourLegs } from "./legs.ts";
import { runTour, tourHead } from "./run-tour.ts";
import { PATIENCE_MS } from "@causeway/testkit";

const families: Readonly<Record<string, VmType>> = {
  [familyChains.solana]: API_FAMILIES.svm,
  [familyChains.bitcoin]: API_FAMILIES.bvm,
  [familyChains.hyperliquid]: API_FAMILIES.hypevm,
};

/**
 * Transfers funds through every family as a user would, and prints a table of the results.
 * @returns whether every leg arrived, was attested by a quorum and was settled
 */
export async function showTour(
  system: System,
  print: (line: string) => void,
  style: TerminalStyle,
): Promise<boolean> {
  const { families: running, endpoints, chains, solver } = system;
  const [evmChain] = chains;
  const { hub, oracles } = endpoints;
  if (running === undefined || evmChain === undefined || hub === undefined) {
    print("The tour requires oracles and all four chain families that the service pays on.");
    return false;
  }
  print(
    `\n${style.bold("Transfers between EVM chains, Solana, Bitcoin and Hyperliquid, as a user makes them:")}`,
  );
  print(style.dim(`  ${tourHead}`));
  const results = await runTour({
    apiUrl: endpoints.api.url,
    legs: tourLegs,
    wallets: await familyWallets(system, running),
    watchHub: async ({ chain }, currency) => {
      const position = await watchPosition({
        hub,
        oracles,
        holder: { chainName: evmChain.name, address: solver.address },
        currency: { chainName: chain, address: encodeAddress(families[chain] ?? API_FAMILIES.evm, currency) },
      });
      return {
        waitForGrowth: async (amount, deadline) =>
          (await position.waitForGrowth(amount, deadline)).signers.length,
      };
    },
    print: (line) => print(`  ${line}`),
    deadlineMs: PATIENCE_MS,
  });
  const arrivedCount = results.filter(({ reason }) => reason === undefined).length;
  const hasArrived = arrivedCount === tourLegs.length;
  const verdict = `${arrivedCount} of ${tourLegs.length} legs arrived and were settled.`;
  print(`  ${hasArrived ? style.passed(verdict) : style.failed(verdict)}\n`);
  return hasArrived;
}
