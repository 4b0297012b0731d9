/** An API key as a client sends it: `cwk_<id>_<secret>`. */
export interface ApiKeyText {
  /** 16 lower-case hex digits. */
  readonly id: string;
  /** 32 bytes in base64url. */
  readonly secret: string;
}

const FORM = /^cwk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/** Undefined if the text is not in the format of a key. */
export function readApiKey(text: string): ApiKeyText | undefined {
  const [, id, secret] = FORM.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

export const writeApiKey = ({ id, secret }: ApiKeyText): string => `cwk_${id}_${secret}`;
