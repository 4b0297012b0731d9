// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";

import {Call, CallResult} from "./Call.sol";
import {Depository} from "./Depository.sol";
import {IWrappedNative} from "./IWrappedNative.sol";

/// @title Makes payments and calls on a destination chain, and reports exactly these in events.
/// @notice Holds nothing between transactions: remainders go to the refund address, and native token that
/// arrives outside a multicall is refused. Bytes after the calldata (the order id of a fill) are ignored here
/// and read when the fill is verified.
/// @dev Anyone can make this contract call anything. Therefore never approve a token to it (use
/// ApprovalProxy), never leave a balance in it, never give it a role. Anyone may have left approvals *from*
/// it: tokens that arrive in it must be spent or refunded before a call gives control to an untrusted
/// contract, or the calls must end with a minimum (`depositBalance`, `payBalance`) that fails if they are
/// gone.
contract Router is ReentrancyGuardTransient {
    event SolverNativeTransfer(address to, uint256 amount);
    event SolverCallExecuted(address to, bytes data, uint256 amount);

    /// The value of the call differs from the amount to pay.
    error ValueMismatch(uint256 value, uint256 amount);
    /// Native token arrived outside a multicall or while refunds were paid, and would have stayed here.
    error NativeNotExpected();
    /// Only a multicall of this contract may make this call.
    error OnlyFromMulticall();
    /// The balance was already recorded in this transaction; a second record could be lower.
    error NotedBefore(address currency, address account);
    /// The balance was not recorded in this transaction.
    error NotNoted(address currency, address account);
    /// The balance has grown by less than `amount` since it was recorded.
    error NotReceived(address currency, address account, uint256 noted, uint256 balance, uint256 amount);
    /// This contract's balance of `currency` (zero: native) is less than the call requires.
    error BalanceBelowMinimum(address currency, uint256 balance, uint256 minimum);

    /// Gas for the recipient of a payment: several times what wallet proxies need to record and report a
    /// payment. A recipient that wastes gas on chain, but not in a simulation, costs its payer at most this
    /// much.
    uint256 private constant RECIPIENT_GAS = 60_000;
    /// Maximum bytes of a recipient's revert data to forward; the payer pays for them.
    uint256 private constant REASON_BYTES = 1_024;

    /// True while the calls of a multicall run, since a swap or an unwrap may send native token here.
    bool private transient _acceptsNative;

    /// Only a multicall of this contract may make the call, without value, which would only return to this
    /// contract.
    modifier onlyFromMulticall() {
        if (msg.sender != address(this)) revert OnlyFromMulticall();
        _;
    }

    receive() external payable {
        if (!_acceptsNative) revert NativeNotExpected();
    }

    /// @notice Pays `amount` of native token, all of it from `msg.value`. A multicall can include it as a
    /// call to this contract. The recipient gets 60,000 gas (and the 2,300 of every payment).
    /// @dev Needs no lock: it does not use any state and forwards exactly the value of the call.
    function nativeTransfer(address to, uint256 amount) external payable {
        if (msg.value != amount) revert ValueMismatch(msg.value, amount);
        _payNative(to, amount);
    }

    /// @notice Records the balance of the token `currency` that `account` has, for `requireReceived`. Only
    /// multicalls of this contract may call it, once per transaction for each pair.
    /// @dev A contract that is called between a record and its `requireReceived` can record other pairs, but
    /// not this one again: with a lower record, an amount that was there before would count as received. A
    /// second record of a pair fails.
    function noteBalance(address currency, address account) external onlyFromMulticall {
        bytes32 slot = _slotOf(currency, account);
        if (_load(slot) != 0) revert NotedBefore(currency, account);
        // One more than the balance: zero means that nothing was recorded.
        _store(slot, IERC20(currency).balanceOf(account) + 1);
    }

    /// @notice Fails, together with the whole multicall, unless `account` has at least `amount` more of the
    /// token `currency` than was recorded. Only multicalls of this contract may call it.
    /// @dev As the last call, it guarantees a payment: no call after the payment can have taken any of it
    /// back.
    function requireReceived(address currency, address account, uint256 amount) external view onlyFromMulticall {
        uint256 notedPlusOne = _load(_slotOf(currency, account));
        if (notedPlusOne == 0) revert NotNoted(currency, account);
        uint256 noted = notedPlusOne - 1;
        uint256 balance = IERC20(currency).balanceOf(account);
        if (balance < noted || balance - noted < amount) {
            revert NotReceived(currency, account, noted, balance, amount);
        }
    }

    /// @notice Deposits this contract's whole balance of `currency` into `depository`, for `depositor`, under
    /// `id`. Fails if it is less than `minimum`. Only multicalls of this contract may call it.
    /// @dev The author of the calls is responsible for `depository`. This also spends native token that is
    /// the value of a later call: put such calls first. If a token charges for transfers, `minimum` applies
    /// before the charge, and the depository's event states what arrived. No allowance remains, whatever part
    /// of it the depository used.
    /// @param currency zero is native
    function depositBalance(address depository, address depositor, address currency, uint256 minimum, bytes32 id)
        external
        onlyFromMulticall
    {
        uint256 balance = _balanceOfAtLeast(currency, minimum);
        if (currency == address(0)) {
            Depository(depository).depositNative{value: balance}(depositor, id);
            return;
        }
        SafeTransferLib.safeApproveWithRetry(currency, depository, balance);
        Depository(depository).depositErc20(depositor, currency, balance, id);
        if (IERC20(currency).allowance(address(this), depository) != 0) {
            SafeTransferLib.safeApprove(currency, depository, 0);
        }
    }

    /// @notice Pays this contract's whole balance of `currency` to `to`. Fails if it is less than `minimum`.
    /// Only multicalls of this contract may call it. Native is paid and reported as by `nativeTransfer`.
    /// @dev This also spends native token that is the value of a later call: put such calls first. To check
    /// that a token arrived, use `requireReceived`.
    /// @param currency zero is native
    function payBalance(address currency, address to, uint256 minimum) external onlyFromMulticall {
        uint256 balance = _balanceOfAtLeast(currency, minimum);
        if (currency == address(0)) {
            _payNative(to, balance);
        } else {
            SafeTransferLib.safeTransfer(currency, to, balance);
        }
    }

    /// @notice Unwraps this contract's whole balance of `wrapped` to native. Fails if it is less than
    /// `minimum`. Only multicalls of this contract may call it.
    function unwrapBalance(address wrapped, uint256 minimum) external onlyFromMulticall {
        IWrappedNative(wrapped).withdraw(_balanceOfAtLeast(wrapped, minimum));
    }

    /// @notice Wraps this contract's whole native balance to `wrapped`. Only multicalls of this contract may
    /// call it.
    /// @dev This also spends native token that is the value of a later call: put such calls first.
    function wrapBalance(address wrapped) external onlyFromMulticall {
        IWrappedNative(wrapped).deposit{value: address(this).balance}();
    }

    /// @notice Makes the calls in order, then sends the remainders of native token and `refundTokens` to
    /// `refundTo`.
    /// @dev Calls to this contract itself are allowed, except another multicall, which the lock refuses. They
    /// emit no SolverCallExecuted, so that a payment never counts both as a payment and as a call.
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

    function _payNative(address to, uint256 amount) private {
        // Copies none of the recipient's return data.
        if (!SafeTransferLib.trySafeTransferETH(to, amount, RECIPIENT_GAS)) _bubbleBeginning();
        emit SolverNativeTransfer(to, amount);
    }

    /// This contract's whole balance of `currency`; zero is native.
    function _balanceOfAtLeast(address currency, uint256 minimum) private view returns (uint256 balance) {
        balance = currency == address(0) ? address(this).balance : IERC20(currency).balanceOf(address(this));
        if (balance < minimum) revert BalanceBelowMinimum(currency, balance, minimum);
    }

    function _refund(address refundTo, address[] calldata refundTokens) private {
        for (uint256 i = 0; i < refundTokens.length; ++i) {
            uint256 left = IERC20(refundTokens[i]).balanceOf(address(this));
            if (left != 0) SafeTransferLib.safeTransfer(refundTokens[i], refundTo, left);
        }
        if (address(this).balance != 0) SafeTransferLib.safeTransferAllETH(refundTo);
    }

    /// The slot of a pair's record; a hash, so that it does not collide with other transient storage.
    function _slotOf(address currency, address account) private pure returns (bytes32) {
        return keccak256(abi.encode(currency, account));
    }

    function _load(bytes32 slot) private view returns (uint256 value) {
        assembly ("memory-safe") {
            value := tload(slot)
        }
    }

    function _store(bytes32 slot, uint256 value) private {
        assembly ("memory-safe") {
            tstore(slot, value)
        }
    }

    /// Reverts with the revert data of the last call, cut to REASON_BYTES.
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
