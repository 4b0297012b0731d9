// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocator} from "./Allocator.sol";
import {Hub} from "./Hub.sol";
import {Oracle} from "./Oracle.sol";

/// @title Creates the contracts of a hub that have roles, grants the roles, and transfers their ownership.
/// @notice All in one transaction: only `owner_` can ever grant another role, and a hub is created
/// completely or not at all.
/// @dev The sender of the creation gets no rights: the arguments determine addresses, owner and roles.
contract HubSetup {
    error AddressCannotBeZero();
    error RoleMissing(address contract_, address holder);
    error OwnerMismatch(address contract_, address owner);

    Hub public immutable hub;
    Oracle public immutable oracle;
    Allocator public immutable allocator;

    /// @param owner_ the final owner of the three contracts
    /// @param oracleMultisig the only account whose signatures the Oracle accepts
    /// @param allocatorAccount records the payloads of withdrawals
    /// @param name of the Oracle's EIP-712 domain
    /// @param version of the Oracle's EIP-712 domain
    constructor(
        address owner_,
        address oracleMultisig,
        address allocatorAccount,
        string memory name,
        string memory version
    ) {
        // The contracts refuse the other zero addresses themselves.
        if (allocatorAccount == address(0)) revert AddressCannotBeZero();
        hub = new Hub{salt: 0}(address(this));
        oracle = new Oracle{salt: 0}(address(this), hub, name, version);
        allocator = new Allocator{salt: 0}(address(this), oracleMultisig);

        hub.grantRoles(address(oracle), hub.MINTER_ROLE());
        oracle.grantRoles(oracleMultisig, oracle.ORACLE_ROLE());
        allocator.grantRoles(allocatorAccount, allocator.ALLOCATOR_ROLE());
        if (hub.rolesOf(address(oracle)) != hub.MINTER_ROLE()) revert RoleMissing(address(hub), address(oracle));
        if (oracle.rolesOf(oracleMultisig) != oracle.ORACLE_ROLE()) {
            revert RoleMissing(address(oracle), oracleMultisig);
        }
        if (allocator.rolesOf(allocatorAccount) != allocator.ALLOCATOR_ROLE()) {
            revert RoleMissing(address(allocator), allocatorAccount);
        }

        // Must be last: afterwards, this contract cannot grant anything.
        hub.transferOwnership(owner_);
        oracle.transferOwnership(owner_);
        allocator.transferOwnership(owner_);
        if (hub.owner() != owner_) revert OwnerMismatch(address(hub), hub.owner());
        if (oracle.owner() != owner_) revert OwnerMismatch(address(oracle), oracle.owner());
        if (allocator.owner() != owner_) revert OwnerMismatch(address(allocator), allocator.owner());
    }
}
