/**
 * Another database server has answered for less than a minute, so plans may rest on commits that it lacks.
 * Nothing was committed; plan again.
 */
export class ServerReplaced extends Error {
  constructor() {
    super(
      "the database server was replaced or restarted less than a minute ago; the payment is planned again",
    );
    this.name = "ServerReplaced";
  }
}
