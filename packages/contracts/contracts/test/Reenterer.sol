// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Calls a chosen target once when it receives native, and records the result.
contract Reenterer {
    address public target;
    bytes public data;
    uint256 public value;
    bool public called;
    bool public succeeded;
    bytes public answer;

    function arm(address target_, bytes calldata data_, uint256 value_) external {
        (target, data, value, called, succeeded, answer) = (target_, data_, value_, false, false, "");
    }

    receive() external payable {
        if (target == address(0) || called) return;
        called = true;
        (succeeded, answer) = target.call{value: value}(data);
    }
}
