// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title Takes half of the requested amount and leaves the rest of the allowance.
contract HalfDepository {
    function depositErc20(address, address token, uint256 amount, bytes32) external {
        IERC20(token).transferFrom(msg.sender, address(this), amount / 2);
    }
}
