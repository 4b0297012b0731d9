// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";

import {Call, CallResult} from "./Call.sol";

/// @title Makes payments and calls on a destination chain, and says in events exactly what it made.
/// @notice Holds nothing between transactions: what is left at the end goes to the refund address, and native that
/// arrives outside a multicall is refused. Bytes after the calldata (the order id of a fill) are ignored here and
/// read by whoever checks the fill.
/// @dev Anyone may make this contract call anything. So: never approve a token to it (use ApprovalProxy), never leave
/// a balance in it, never give it a role. Approvals *from* it may exist, left by anyone: tokens that arrive in it must
/// be spent or refunded before a call hands control to someone who is not trusted with them.
contract Router is ReentrancyGuardTransient {
    event SolverNativeTransfer(address to, uint256 amount);
    event SolverCallExecuted(address to, bytes data, uint256 amount);

    /// The value sent along is not the amount to pay.
    error ValueMismatch(uint256 value, uint256 amount);
    /// Native came from outside, or while refunds were being paid, and would have been stranded.
    error NativeNotExpected();

    /// Gas for the recipient of a payment: several times what wallet proxies need to note and tell a payment. A
    /// recipient that is modest in a simulation and burns gas on chain costs its payer no more than this.
    uint256 private constant RECIPIENT_GAS = 60_000;
    /// Of a recipient's reason so many bytes are handed on; more would cost the payer as much again.
    uint256 private constant REASON_BYTES = 1_024;

    /// True while the calls of a multicall run: a swap or an unwrap may send native back then.
    bool private transient _acceptsNative;

    receive() external payable {
        if (!_acceptsNative) revert NativeNotExpected();
    }

    /// @notice Pays `amount` of native, all of it from `msg.value`. Inside a multicall: a call to this contract itself.
    /// The recipient gets 60,000 gas (and the 2,300 of every payment) to take it with.
    /// @dev Needs no lock: it touches no state and passes on exactly what came with it.
    function nativeTransfer(address to, uint256 amount) external payable {
        if (msg.value != amount) revert ValueMismatch(msg.value, amount);
        // Copies nothing of what the recipient answers.
        if (!SafeTransferLib.trySafeTransferETH(to, amount, RECIPIENT_GAS)) _bubbleBeginning();
        emit SolverNativeTransfer(to, amount);
    }

    /// @notice Makes the calls in order, then sends what is left of native and of `refundTokens` to `refundTo`.
    /// @dev A call to this contract itself can only be `nativeTransfer` (the lock stops the rest) and emits no
    /// SolverCallExecuted, so that one payment can never count both as a payment and as a call.
    /// @param refundTo zero means the caller
    function multicall(Call[] calldata calls, address refundTo, address[] calldata refundTokens)
        external
        payable
        nonReentrant
        returns (CallResult[] memory results)
    {
        _acceptsNative = true;
        results = new CallResult[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            Call calldata call = calls[i];
            (bool success, bytes memory returnData) = call.to.call{value: call.value}(call.data);
            if (!success && !call.allowFailure) _bubble(returnData);
            if (success && call.to != address(this)) emit SolverCallExecuted(call.to, call.data, call.value);
            results[i] = CallResult(success, returnData);
        }
        _acceptsNative = false;
        _refund(refundTo == address(0) ? msg.sender : refundTo, refundTokens);
    }

    function _refund(address refundTo, address[] calldata refundTokens) private {
        for (uint256 i = 0; i < refundTokens.length; ++i) {
            uint256 left = IERC20(refundTokens[i]).balanceOf(address(this));
            if (left != 0) SafeTransferLib.safeTransfer(refundTokens[i], refundTo, left);
        }
        if (address(this).balance != 0) SafeTransferLib.safeTransferAllETH(refundTo);
    }

    /// Reverts with what the last call reverted with, cut to REASON_BYTES.
    function _bubbleBeginning() private pure {
        assembly ("memory-safe") {
            let size := returndatasize()
            if gt(size, REASON_BYTES) { size := REASON_BYTES }
            let at := mload(0x40)
            returndatacopy(at, 0, size)
            revert(at, size)
        }
    }

    function _bubble(bytes memory returnData) private pure {
        assembly ("memory-safe") {
            revert(add(returnData, 32), mload(returnData))
        }
    }
}
