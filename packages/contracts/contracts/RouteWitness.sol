// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Call, hashCalls} from "./Call.sol";

/// What a user signs in addition to the amounts: their use. Field order is part of the EIP-712 type.
struct RouteWitness {
    /// The account that may submit it; zero means anyone.
    address relayer;
    /// The recipient of remainders; zero means the signer.
    address refundTo;
    /// Tokens, in addition to the input tokens, whose remainders are refunded.
    address[] refundTokens;
    Call[] calls;
}

bytes32 constant ROUTE_WITNESS_TYPEHASH = keccak256(
    "RouteWitness(address relayer,address refundTo,address[] refundTokens,Call[] calls)"
    "Call(address to,bytes data,uint256 value,bool allowFailure)"
);

/// The EIP-712 struct hash of a witness, which has no domain.
function hashRouteWitness(RouteWitness calldata witness) pure returns (bytes32) {
    return keccak256(
        abi.encode(
            ROUTE_WITNESS_TYPEHASH,
            witness.relayer,
            witness.refundTo,
            keccak256(abi.encodePacked(witness.refundTokens)),
            hashCalls(witness.calls)
        )
    );
}
