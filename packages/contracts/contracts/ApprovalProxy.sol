// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";

import {Call, CallResult} from "./Call.sol";
import {Router} from "./Router.sol";

/// @title The one contract that tokens are approved to before they are routed.
/// @notice It can only move the caller's own tokens, and only to the Router within the same call, so an approval to it
/// is of no use to anyone else.
contract ApprovalProxy is ReentrancyGuardTransient {
    error AddressCannotBeZero();

    Router public immutable router;

    constructor(Router router_) {
        if (address(router_) == address(0)) revert AddressCannotBeZero();
        router = router_;
    }

    /// @notice Pulls `amount` of `token` from the caller into the Router and makes `calls` there.
    /// @dev What is left of native, of `token` and of `refundTokens` goes to `refundTo`; zero means the caller.
    /// A token that calls back its receiver (ERC-777) must not be routed: the Router is not locked during the pull.
    function pullAndRoute(
        address token,
        uint256 amount,
        Call[] calldata calls,
        address refundTo,
        address[] calldata refundTokens
    ) external payable nonReentrant returns (CallResult[] memory) {
        SafeTransferLib.safeTransferFrom(token, msg.sender, address(router), amount);
        address[] memory leftovers = _with(refundTokens, token);
        // The Router's caller is this contract, which must never be where the rest goes.
        return _route(calls, refundTo == address(0) ? msg.sender : refundTo, leftovers);
    }

    function _route(Call[] calldata calls, address refundTo, address[] memory leftovers)
        private
        returns (CallResult[] memory)
    {
        return router.multicall{value: msg.value}(calls, refundTo, leftovers);
    }

    function _with(address[] calldata tokens, address token) private pure returns (address[] memory all) {
        all = new address[](tokens.length + 1);
        for (uint256 i = 0; i < tokens.length; ++i) {
            all[i] = tokens[i];
        }
        all[tokens.length] = token;
    }
}
