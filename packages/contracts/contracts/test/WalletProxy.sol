// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A common contract wallet: a proxy that delegates even a plain payment to the code it shares.
contract WalletProxy {
    address private immutable code;

    constructor(address code_) {
        code = code_;
    }

    receive() external payable {
        (bool success,) = code.delegatecall("");
        require(success, "not taken");
    }
}

/// @title The shared code: reports the payment and keeps a sum of what came.
contract WalletCode {
    event Received(address indexed sender, uint256 value);

    uint256 public received;

    receive() external payable {
        received += msg.value;
        emit Received(msg.sender, msg.value);
    }
}
