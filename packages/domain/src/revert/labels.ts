const MAX_LABEL = 64;

/**
 * SCREAMING_SNAKE of an identifier: `ERC20InsufficientBalance` → `ERC20_INSUFFICIENT_BALANCE`; undefined if
 * no letter is left.
 */
export function labelOfName(name: string): string | undefined {
  return slug(
    name
      .slice(0, MAX_LABEL * 2)
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
      .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2"),
  );
}

/**
 * SCREAMING_SNAKE of a text: `ERC20: transfer amount exceeds balance` →
 * `ERC20_TRANSFER_AMOUNT_EXCEEDS_BALANCE`.
 */
export function labelOfText(text: string): string | undefined {
  return slug(text.slice(0, MAX_LABEL * 4).replaceAll(/(\p{L})['’](\p{L})/gu, "$1$2"));
}

/**
 * An identifier as words: `InvalidSignature` → `Invalid signature`, `ERC20InsufficientBalance` → `ERC20
 * insufficient balance`.
 */
export function sentenceOfName(name: string): string {
  const words = name
    .replaceAll("_", " ")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => (/^[A-Z][a-z]/.test(word) || word === "A" ? word.toLowerCase() : word));
  const sentence = words.join(" ");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function slug(text: string): string | undefined {
  const words = text
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((word) => word !== "");
  let label = "";
  for (const word of words) {
    const longer = label === "" ? word : `${label}_${word}`;
    if (longer.length > MAX_LABEL) break;
    label = longer;
  }
  // A first word that is too long by itself makes no useful label.
  return /[A-Z]/.test(label) ? label : undefined;
}
