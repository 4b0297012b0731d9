// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// One call to make on someone's behalf. Field order is part of the EIP-712 type of a call request.
struct Call {
    address to;
    bytes data;
    uint256 value;
    bool allowFailure;
}

/// The result of a call; `returnData` is the revert data if `success` is false.
struct CallResult {
    bool success;
    bytes returnData;
}

// A literal here and in every type that contains calls: the compiler hashes only literals in constants.
bytes32 constant CALL_TYPEHASH = keccak256("Call(address to,bytes data,uint256 value,bool allowFailure)");

/// The EIP-712 hash of an array of calls.
function hashCalls(Call[] calldata calls) pure returns (bytes32) {
    uint256 count = calls.length;
    bytes32[] memory callHashes = new bytes32[](count);
    for (uint256 i = 0; i < count; ++i) {
        Call calldata call = calls[i];
        callHashes[i] = keccak256(abi.encode(CALL_TYPEHASH, call.to, keccak256(call.data), call.value, call.allowFailure));
    }
    return keccak256(abi.encodePacked(callHashes));
}
