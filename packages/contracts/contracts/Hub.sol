// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC6909TokenSupply} from "@openzeppelin/contracts/token/ERC6909/extensions/ERC6909TokenSupply.sol";
import {OwnableRoles} from "solady/src/auth/OwnableRoles.sol";

/// @title The ledger of the claims on what the depositories hold (ERC-6909).
/// @notice A token id identifies a currency of a chain, and an address identifies an owner on a chain. Most
/// addresses are hashes (of an owner's name, an order, a withdrawal) without a known key: their balances move
/// only by what the oracles attest. An account with a key can move its balance like any ERC-6909 token.
/// @dev Calls no other contract, so it cannot be reentered.
contract Hub is ERC6909TokenSupply, OwnableRoles {
    error AddressCannotBeZero();

    /// May create, destroy and move any balance. Only the Oracle contract has it.
    uint256 public constant MINTER_ROLE = _ROLE_0;

    constructor(address owner_) {
        if (owner_ == address(0)) revert AddressCannotBeZero();
        _initializeOwner(owner_);
    }

    function mint(address to, uint256 id, uint256 amount) external onlyRoles(MINTER_ROLE) {
        _mint(to, id, amount);
    }

    function burn(address from, uint256 id, uint256 amount) external onlyRoles(MINTER_ROLE) {
        _burn(from, id, amount);
    }

    /// @notice Moves a balance without its holder's approval, for an attested execution.
    function move(address from, address to, uint256 id, uint256 amount) external onlyRoles(MINTER_ROLE) {
        _transfer(from, to, id, amount);
    }

    /// @dev Makes a second initialization of the owner fail.
    function _guardInitializeOwner() internal pure override returns (bool) {
        return true;
    }
}
