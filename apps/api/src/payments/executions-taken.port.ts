/** Another process planned a transaction for one of these executions: this plan is dropped. */
export class ExecutionsTaken extends Error {
  constructor() {
    super("an execution is already part of another hub transaction");
    this.name = "ExecutionsTaken";
  }
}
