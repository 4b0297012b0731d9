// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title An oracle contract that reenters the caller that asks for a signature check, and then reports it
/// valid.
contract ReenteringOracle {
    bytes public data;
    /// Whether a failure of the reentering call is ignored.
    bool public tolerant;

    function arm(bytes calldata data_, bool tolerant_) external {
        (data, tolerant) = (data_, tolerant_);
    }

    /// @dev Not declared as a view, but the caller makes a static call.
    function isValidSignature(bytes32, bytes calldata) external returns (bytes4) {
        (bool success,) = msg.sender.call(data);
        require(success || tolerant, "not entered");
        return IERC1271.isValidSignature.selector;
    }
}
