// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Receives native payments for the solver. The whole calldata of a payment is its id.
/// @notice A payment without a 32-byte id is refused, because its purpose would be unknown.
contract Receiver {
    event NativeForwarded(address from, uint256 amount, bytes32 id);

    error AddressCannotBeZero();
    error IdMissing();
    error ForwardFailed();

    address public immutable solver;

    constructor(address solver_) {
        if (solver_ == address(0)) revert AddressCannotBeZero();
        solver = solver_;
    }

    receive() external payable {
        revert IdMissing();
    }

    fallback() external payable {
        if (msg.data.length != 32) revert IdMissing();
        (bool success,) = solver.call{value: msg.value}("");
        if (!success) revert ForwardFailed();
        emit NativeForwarded(msg.sender, msg.value, bytes32(msg.data));
    }
}
