// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A common contract wallet: a proxy that delegates even plain payments to shared code.
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

/// @title The shared code: reports each payment and sums them.
contract WalletCode {
    event Received(address indexed sender, uint256 value);

    uint256 public received;

    receive() external payable {
        received += msg.value;
        emit Received(msg.sender, msg.value);
    }
}
