// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";
import {Ownable} from "solady/src/auth/Ownable.sol";

/// @title Represents a set of oracles: `threshold` of their signatures are its signature (EIP-1271).
/// @notice A signature is a sequence of 65-byte entries r, s, v (27 or 28; s in the lower half) in strictly
/// ascending order of signers, so that no signer counts twice. Only the first `threshold` entries are read,
/// and each must be by a signer of the set: remove signatures by others before you concatenate them.
contract OracleMultisig is IERC1271, Ownable {
    using EnumerableSet for EnumerableSet.AddressSet;

    event SignersChanged(address[] signers, uint256 threshold);

    error AddressCannotBeZero();
    error DuplicateSigner(address signer);
    error InvalidThreshold(uint256 threshold, uint256 signers);

    uint256 private constant ENTRY = 65;

    EnumerableSet.AddressSet private _signers;

    /// The number of signers that must sign.
    uint256 public threshold;

    constructor(address owner_, address[] memory signers_, uint256 threshold_) {
        if (owner_ == address(0)) revert AddressCannotBeZero();
        _initializeOwner(owner_);
        _setSigners(signers_, threshold_);
    }

    /// @notice Replaces the whole set atomically, so a smaller quorum never applies in between.
    function setSigners(address[] calldata signers_, uint256 threshold_) external onlyOwner {
        _setSigners(signers_, threshold_);
    }

    function signers() external view returns (address[] memory) {
        return _signers.values();
    }

    function isSigner(address account) external view returns (bool) {
        return _signers.contains(account);
    }

    /// @return the selector of this function if valid, otherwise 0xffffffff. It never reverts because of the
    /// content of a signature
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return _isValid(hash, signature) ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }

    function _isValid(bytes32 hash, bytes calldata signature) private view returns (bool) {
        if (signature.length < threshold * ENTRY || signature.length % ENTRY != 0) return false;
        address previous = address(0);
        for (uint256 i = 0; i < threshold; ++i) {
            (address signer, ECDSA.RecoverError problem,) =
                ECDSA.tryRecoverCalldata(hash, signature[i * ENTRY:(i + 1) * ENTRY]);
            if (problem != ECDSA.RecoverError.NoError) return false;
            if (signer <= previous || !_signers.contains(signer)) return false;
            previous = signer;
        }
        return true;
    }

    function _setSigners(address[] memory signers_, uint256 threshold_) private {
        if (threshold_ == 0 || threshold_ > signers_.length) revert InvalidThreshold(threshold_, signers_.length);
        _signers.clear();
        for (uint256 i = 0; i < signers_.length; ++i) {
            if (signers_[i] == address(0)) revert AddressCannotBeZero();
            if (!_signers.add(signers_[i])) revert DuplicateSigner(signers_[i]);
        }
        threshold = threshold_;
        emit SignersChanged(signers_, threshold_);
    }

    /// @dev Makes a second initialization of the owner fail.
    function _guardInitializeOwner() internal pure override returns (bool) {
        return true;
    }
}
