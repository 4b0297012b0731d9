// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";

import {Call, CallResult} from "./Call.sol";
import {Depository} from "./Depository.sol";
import {IWrappedNative} from "./IWrappedNative.sol";

/// @title Makes payments and calls on a destination chain, and reports in events exactly what it made.
/// @notice Holds nothing between transactions: what is left at the end goes to the refund address, and native
/// that arrives outside a multicall is refused. Bytes after the calldata (the order id of a fill) are ignored
/// here and read when the fill is checked.
/// @dev Anyone may make this contract call anything. So: never approve a token to it (use ApprovalProxy),
/// never leave a balance in it, never give it a role. Approvals *from* it may exist, left by anyone: tokens
/// that arrive in it must be spent or refunded before a call hands control to an untrusted contract, or the
/// calls must end with a minimum (`depositBalance`, `payBalance`) that fails when they are gone.
contract Router is ReentrancyGuardTransient {
    event SolverNativeTransfer(address to, uint256 amount);
    event SolverCallExecuted(address to, bytes data, uint256 amount);

    /// The value sent along is not the amount to pay.
    error ValueMismatch(uint256 value, uint256 amount);
    /// Native came from outside, or while refunds were being paid, and would have been stranded.
    error NativeNotExpected();
    /// This is no call of a multicall to this contract itself.
    error OnlyFromMulticall();
    /// The balance was noted before in this transaction; a second note could be taken of less.
    error NotedBefore(address currency, address account);
    /// The balance was not noted in this transaction.
    error NotNoted(address currency, address account);
    /// Since its note the balance has not grown by `amount`.
    error NotReceived(address currency, address account, uint256 noted, uint256 balance, uint256 amount);
    /// What this contract has of `currency` (zero: native) is less than the call asks for.
    error BalanceBelowMinimum(address currency, uint256 balance, uint256 minimum);

    /// Gas for the recipient of a payment: several times what wallet proxies need to record and report a
    /// payment. A recipient that is modest in a simulation and wastes gas on chain costs its payer at most
    /// this much.
    uint256 private constant RECIPIENT_GAS = 60_000;
    /// At most this much of a recipient's revert data is passed on; more would cost the payer as much again.
    uint256 private constant REASON_BYTES = 1_024;

    /// True while the calls of a multicall run: a swap or an unwrap may send native back then.
    bool private transient _acceptsNative;

    /// A call of a multicall to this contract itself. It takes no value, which would only return to this
    /// contract.
    modifier onlyFromMulticall() {
        if (msg.sender != address(this)) revert OnlyFromMulticall();
        _;
    }

    receive() external payable {
        if (!_acceptsNative) revert NativeNotExpected();
    }

    /// @notice Pays `amount` of native, all of it from `msg.value`. Inside a multicall: a call to this
    /// contract itself. The recipient gets 60,000 gas (and the 2,300 of every payment) to take it with.
    /// @dev Needs no lock: it touches no state and passes on exactly what came with it.
    function nativeTransfer(address to, uint256 amount) external payable {
        if (msg.value != amount) revert ValueMismatch(msg.value, amount);
        _payNative(to, amount);
    }

    /// @notice Records the balance that `account` has of the token `currency`, for `requireReceived`. Only as
    /// a call of a multicall to this contract itself, and once per transaction for each pair.
    /// @dev A contract that is called between a record and its `requireReceived` may record other pairs, but
    /// not this one again: a lower balance would count as received what was there before. A second record of
    /// a pair fails.
    function noteBalance(address currency, address account) external onlyFromMulticall {
        bytes32 slot = _slotOf(currency, account);
        if (_load(slot) != 0) revert NotedBefore(currency, account);
        // One more than the balance: zero means that nothing was recorded.
        _store(slot, IERC20(currency).balanceOf(account) + 1);
    }

    /// @notice Fails, and with it the whole multicall, unless `account` has at least `amount` more of the
    /// token `currency` than when it was recorded. Only as a call of a multicall to this contract itself.
    /// @dev As the last call it guarantees a payment: no call after the payment can have moved any of it away
    /// again.
    function requireReceived(address currency, address account, uint256 amount) external view onlyFromMulticall {
        uint256 notedPlusOne = _load(_slotOf(currency, account));
        if (notedPlusOne == 0) revert NotNoted(currency, account);
        uint256 noted = notedPlusOne - 1;
        uint256 balance = IERC20(currency).balanceOf(account);
        if (balance < noted || balance - noted < amount) {
            revert NotReceived(currency, account, noted, balance, amount);
        }
    }

    /// @notice Deposits all that this contract has of `currency` into `depository`, for `depositor`, under
    /// `id`. Only as a call of a multicall to this contract itself. Fails when that is less than `minimum`.
    /// @dev The author of the calls is responsible for `depository`. Also takes native that a later call was
    /// to be sent: put such calls first. For a token that charges for transfers, `minimum` is before the
    /// charge, and the depository's event shows what arrived. No allowance is left, whatever the depository
    /// took of it.
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

    /// @notice Pays all that this contract has of `currency` to `to`. Only as a call of a multicall to this
    /// contract itself. Fails when that is less than `minimum`. Native is paid and reported as by
    /// `nativeTransfer`.
    /// @dev Also takes native that a later call was to be sent: put such calls first. `requireReceived`
    /// checks that a token arrived.
    /// @param currency zero is native
    function payBalance(address currency, address to, uint256 minimum) external onlyFromMulticall {
        uint256 balance = _balanceOfAtLeast(currency, minimum);
        if (currency == address(0)) {
            _payNative(to, balance);
        } else {
            SafeTransferLib.safeTransfer(currency, to, balance);
        }
    }

    /// @notice Turns all that this contract has of `wrapped` into native. Only as a call of a multicall to
    /// this contract itself. Fails when that is less than `minimum`.
    function unwrapBalance(address wrapped, uint256 minimum) external onlyFromMulticall {
        IWrappedNative(wrapped).withdraw(_balanceOfAtLeast(wrapped, minimum));
    }

    /// @notice Turns all native that this contract has into `wrapped`. Only as a call of a multicall to this
    /// contract itself.
    /// @dev Also takes native that a later call was to be sent: put such calls first.
    function wrapBalance(address wrapped) external onlyFromMulticall {
        IWrappedNative(wrapped).deposit{value: address(this).balance}();
    }

    /// @notice Makes the calls in order, then sends what is left of native and of `refundTokens` to
    /// `refundTo`.
    /// @dev A call to this contract itself can be anything except another multicall, which the lock refuses.
    /// It emits no SolverCallExecuted, so that one payment can never count both as a payment and as a call.
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
        // Copies nothing of what the recipient answers.
        if (!SafeTransferLib.trySafeTransferETH(to, amount, RECIPIENT_GAS)) _bubbleBeginning();
        emit SolverNativeTransfer(to, amount);
    }

    /// All that this contract has of `currency`; zero is native.
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

    /// Where the note of a pair is; a hash, so that it is apart from all else that is transient.
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
