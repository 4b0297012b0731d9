import type { FactsOf, FamilyId } from "@causeway/domain";
import type { AttestationChainEntry } from "./attestation-schema.ts";

/** The entry in the chain file, and the list of problems. */
export interface EntrySource {
  readonly entry: AttestationChainEntry;
  readonly rpcUrls: readonly string[];
  /** The entry's place in its file. */
  readonly place: string;
  /** Problems are added here. */
  readonly problems: string[];
}

/** How a family's chains are configured. Reads no library of the family: every process loads all of these. */
export interface FamilyEntry<F extends FamilyId> {
  /** The facts that only chains of this family have. */
  facts(source: EntrySource): FactsOf<F>;
  /** A fact that no two chains of the family share, by its name in messages; undefined: not configured. */
  network(facts: FactsOf<F>): readonly [name: string, value: string | number | bigint] | undefined;
  /** Whether a depository identifies its chain. False if several chains can have the same address. */
  isIdentifiedByDepository(all: readonly FactsOf<F>[]): boolean;
  /** Absent: the family's canonical format. */
  readonly depository?: (text: string, place: string, problems: string[]) => string;
  /** Absent: derived from the chain's name. */
  readonly hubChainId?: (facts: FactsOf<F>) => string;
  /** What the entry of a chain that the API pays on must also satisfy. */
  readonly paid?: {
    problems(entry: PaidEntry): readonly EntryProblem[];
    /** Its entry has the field `exchange`. */
    readonly hasExchange?: true;
    /** Absent: every address is an account. */
    readonly isAccount?: (text: string) => boolean;
  };
}

/** The fields of such an entry that differ between families. */
export interface PaidEntry {
  readonly tokens: readonly unknown[];
  readonly confirmations: number;
  readonly exchange?: unknown;
  readonly additionalData: {
    readonly finalizationBlocks?: number | undefined;
    readonly esploraCompatibleApiUrl?: string | undefined;
  };
}

/** A problem of an entry, with the path of its field. */
export interface EntryProblem {
  readonly path: (string | number)[];
  readonly message: string;
}
