/** A refusal as the key service words it: the type that its clients tell apart, and its status. */
export class KmsError extends Error {
  override readonly name = "KmsError";
  readonly type: string;
  readonly status: number;

  constructor(type: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

export const validation = (message: string): KmsError => new KmsError("ValidationException", message);
