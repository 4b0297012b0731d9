import type { Hex } from "@causeway/domain";

/** Events of the router that report its payments and calls. */

/** keccak256 of `SolverNativeTransfer(address,uint256)`; no field is indexed. */
export const SOLVER_NATIVE_TRANSFER_TOPIC: Hex =
  "0xd35467972d1fda5b63c735f59d3974fa51785a41a92aa3ed1b70832836f8dba6";
/** keccak256 of `SolverCallExecuted(address,bytes,uint256)`; no field is indexed. */
export const SOLVER_CALL_EXECUTED_TOPIC: Hex =
  "0x93485dcd31a905e3ffd7b012abe3438fa8fa77f98ddc9f50e879d3fa7ccdc324";
