/** An error in the format of AWS KMS: the type that clients distinguish, and the HTTP status. */
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
