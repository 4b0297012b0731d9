/** A row stayed locked by others for longer than the lock timeout; nothing was committed. */
export class LockTimeout extends Error {
  constructor(options?: ErrorOptions) {
    super("a row stayed locked longer than the lock timeout of the transaction", options);
    this.name = "LockTimeout";
  }
}
