import { keccakText } from "@causeway/domain";

export type TypeFields = readonly { readonly name: string; readonly type: string }[];

/** One struct's declaration as EIP-712 hashes it: `Name(type field,…)`. */
export function declaration(name: string, fields: TypeFields): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`;
}

/**
 * EIP-712's type hash of `primary`: of its declaration, followed by the declarations of all referenced types,
 * sorted by name.
 * @throws RangeError if `types` lacks a referenced type
 */
export function typeHash(types: Readonly<Record<string, TypeFields>>, primary: string): Uint8Array {
  const referenced = new Set<string>();
  const visit = (name: string) => {
    const fields = types[name];
    if (fields === undefined) throw new RangeError(`invariant violated: no struct type ${name}`);
    if (referenced.has(name)) return;
    referenced.add(name);
    for (const { type } of fields) {
      const element = type.replace(/\[\]$/, "");
      // Names of struct types are capitalized, those of built-in types are not.
      if (/^[A-Z]/.test(element)) visit(element);
    }
  };
  visit(primary);
  referenced.delete(primary);
  const names = [primary, ...[...referenced].toSorted()];
  return keccakText(names.map((name) => declaration(name, types[name] ?? [])).join(""));
}
