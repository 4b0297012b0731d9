// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// One call to make on someone's behalf. Field order is part of the EIP-712 type of a call request.
struct Call {
    address to;
    bytes data;
    uint256 value;
    bool allowFailure;
}

/// What a call answered; `returnData` is the revert data when `success` is false.
struct CallResult {
    bool success;
    bytes returnData;
}
