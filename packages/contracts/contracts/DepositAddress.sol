// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";

import {Depository} from "./Depository.sol";

/// @title The code of a deposit address, which can only forward what it receives, as its factory requests.
/// @notice Money goes from here to the depository, or to the recovery address of the client that requested
/// the address. The clone receives plain native transfers without a call to this code, so the 2,300 gas of
/// the smallest payment suffice.
contract DepositAddress {
    error OnlyFactory();
    /// The balance is zero.
    error NothingThere(address currency);
    /// The balance of `currency` (zero: native) is less than `amount`.
    error BalanceTooLow(address currency, uint256 balance, uint256 amount);

    Depository public immutable depository;
    /// The only permitted caller. It checks permissions, and that a clone is called with the key from which
    /// its address is derived.
    address public immutable factory;

    modifier onlyFactory() {
        if (msg.sender != factory) revert OnlyFactory();
        _;
    }

    constructor(Depository depository_) {
        depository = depository_;
        factory = msg.sender;
    }

    /// @notice Deposits `amount` of `currency`, for `depositor`, under `orderId`.
    /// @dev If a token charges for transfers, less than `amount` arrives; the depository's event states how
    /// much.
    /// @param depositor zero means this address
    /// @param currency zero is native
    function deposit(address depositor, address currency, uint256 amount, bytes32 orderId) public onlyFactory {
        if (amount == 0) revert NothingThere(currency);
        uint256 balance = balanceOf(currency);
        if (balance < amount) revert BalanceTooLow(currency, balance, amount);
        if (currency == address(0)) {
            depository.depositNative{value: amount}(depositor, orderId);
        } else {
            SafeTransferLib.safeApproveWithRetry(currency, address(depository), amount);
            depository.depositErc20(depositor, currency, amount, orderId);
        }
    }

    /// @notice Pulls `amount` of `token`, which `depositor` approved to this address, and deposits what
    /// arrives.
    function pull(address depositor, address token, uint256 amount, bytes32 orderId) external onlyFactory {
        uint256 balanceBefore = balanceOf(token);
        SafeTransferLib.safeTransferFrom(token, depositor, address(this), amount);
        uint256 arrived = balanceOf(token) - balanceBefore;
        // A sender's hook may have sent more in the meantime, which was not signed.
        deposit(depositor, token, arrived < amount ? arrived : amount, orderId);
    }

    /// @notice Pays the whole balance of `currency` to `to`.
    function withdraw(address currency, address to) external onlyFactory returns (uint256 amount) {
        amount = balanceOf(currency);
        if (amount == 0) revert NothingThere(currency);
        if (currency == address(0)) {
            SafeTransferLib.safeTransferETH(to, amount);
        } else {
            SafeTransferLib.safeTransfer(currency, to, amount);
        }
    }

    /// @param currency zero is native
    function balanceOf(address currency) public view returns (uint256) {
        return currency == address(0) ? address(this).balance : IERC20(currency).balanceOf(address(this));
    }
}
