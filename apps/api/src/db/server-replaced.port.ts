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

/**
 * The lane must not pay: a failover may have lost its last payments, and it was not compared with its chain.
 */
export class LaneHeld extends Error {
  constructor(chainId: number, sender: string) {
    super(`the lane of ${sender} on chain ${chainId} is held until it has been compared with its chain`);
    this.name = "LaneHeld";
  }
}

/** The database is a former primary: another one has been promoted, and only it may pay. */
export class FormerPrimary extends Error {
  constructor(identity: string) {
    super(
      `the database ${identity} is a former primary: a newer one has been promoted. Connect this process to the newer one`,
    );
    this.name = "FormerPrimary";
  }
}
