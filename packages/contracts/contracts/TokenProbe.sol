// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title Determines how a token behaves when it is transferred and approved.
/// @notice Never deployed. An `eth_call` puts its code at an account that holds tokens (a pool) and at one
/// without any. It moves tokens from the first through the second as their owner would, without lasting
/// effect.
contract TokenProbe {
    struct Move {
        /// Whether the token reported success.
        bool moved;
        uint256 asked;
        /// Decrease of the owner's balance.
        uint256 taken;
        /// Increase of the recipient's balance.
        uint256 received;
    }

    struct Approvals {
        bool first;
        /// Whether an existing allowance could be changed to another amount.
        bool changed;
        /// Whether it could be after it was set to zero.
        bool changedAfterZero;
    }

    /// The amount to move is the balance divided by this: small enough for tokens that limit transfers, and
    /// large enough to reveal a charge of a few basis points.
    uint256 private constant PART = 10_000;

    /// @notice Moves tokens from the pool to `other`, from there to `stranger` and back to the pool, then
    /// approves as `other`.
    /// @param other also has this code
    function behaviour(address token, TokenProbe other, address stranger)
        external
        returns (Move[3] memory moves, Approvals memory approvals)
    {
        uint256 held = IERC20(token).balanceOf(address(this));
        uint256 amount = held / PART + 1;
        moves[0] = move(token, address(other), amount < held ? amount : held);
        moves[1] = other.move(token, stranger, moves[0].received / 2);
        moves[2] = other.move(token, address(this), moves[0].received - moves[0].received / 2);
        approvals = other.approve(token, stranger);
    }

    /// @notice Pays a recipient, and an address that was never used.
    function payments(address token, address recipient, address stranger) external returns (Move[2] memory moves) {
        uint256 held = IERC20(token).balanceOf(address(this));
        uint256 amount = held / PART + 1;
        if (amount > held / 2) amount = held / 2;
        moves[0] = move(token, recipient, amount);
        moves[1] = move(token, stranger, amount);
    }

    function move(address token, address to, uint256 amount) public returns (Move memory made) {
        made.asked = amount;
        uint256 here = IERC20(token).balanceOf(address(this));
        uint256 there = IERC20(token).balanceOf(to);
        made.moved = _succeeds(token, abi.encodeCall(IERC20.transfer, (to, amount)));
        uint256 hereAfter = IERC20(token).balanceOf(address(this));
        uint256 thereAfter = IERC20(token).balanceOf(to);
        made.taken = here > hereAfter ? here - hereAfter : 0;
        made.received = thereAfter > there ? thereAfter - there : 0;
    }

    function approve(address token, address spender) external returns (Approvals memory said) {
        said.first = _approves(token, spender, 1);
        said.changed = _approves(token, spender, 2);
        said.changedAfterZero = _approves(token, spender, 0) && _approves(token, spender, 2);
    }

    function _approves(address token, address spender, uint256 amount) private returns (bool) {
        return _succeeds(token, abi.encodeCall(IERC20.approve, (spender, amount)))
            && IERC20(token).allowance(address(this), spender) == amount;
    }

    /// Old tokens return nothing; false means that nothing moved.
    function _succeeds(address token, bytes memory data) private returns (bool) {
        (bool success, bytes memory answer) = token.call(data);
        return success && (answer.length == 0 || (answer.length >= 32 && abi.decode(answer, (uint256)) == 1));
    }
}
