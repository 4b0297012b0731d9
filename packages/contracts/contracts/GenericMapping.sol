// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title Statements of hub accounts, signed by the oracles.
/// @notice An entry is written once: the first statement of an account about an id cannot be changed, so all
/// oracles read the same one. Anyone may submit an entry, but only with the oracles' signature.
contract GenericMapping is EIP712 {
    event EntrySet(address indexed user, bytes32 indexed id, bytes data, bytes32 nonce, uint256 setAt);

    /// An entry of a batch was skipped: it is already set, or not signed.
    event EntryLeftOut(address indexed user, bytes32 indexed id);

    error AddressCannotBeZero();
    error DataCannotBeEmpty();
    error InvalidSignature();
    /// The account already has an entry for that id.
    error EntryIsSet(address user, bytes32 id);

    /// An entry with the oracles' signature.
    struct SignedEntry {
        address user;
        bytes32 id;
        bytes data;
        bytes32 nonce;
        bytes signature;
    }

    struct Entry {
        bytes data;
        uint256 setAt;
    }

    bytes32 private constant SET_ENTRY_TYPEHASH =
        keccak256("SetEntry(address user,bytes32 id,bytes data,bytes32 nonce)");

    /// The signer of entries: the OracleMultisig, or an account.
    address public immutable oracle;

    mapping(address user => mapping(bytes32 id => Entry)) private _entries;

    constructor(address oracle_) EIP712("GenericMapping", "1") {
        if (oracle_ == address(0)) revert AddressCannotBeZero();
        oracle = oracle_;
    }

    /// @param nonce distinguishes signatures of one account. It is signed and emitted, but does not protect
    /// anything: the entry itself does
    function setEntry(address user, bytes32 id, bytes calldata data, bytes32 nonce, bytes calldata signature) external {
        if (data.length == 0) revert DataCannotBeEmpty();
        if (_entries[user][id].setAt != 0) revert EntryIsSet(user, id);
        if (!_isSigned(user, id, data, nonce, signature)) revert InvalidSignature();
        _set(user, id, data, nonce);
    }

    /// @notice Sets several entries. Those that cannot be set are skipped, so that one does not block others.
    function setEntries(SignedEntry[] calldata entries) external {
        for (uint256 i = 0; i < entries.length; ++i) {
            SignedEntry calldata entry = entries[i];
            if (
                entry.data.length == 0 || _entries[entry.user][entry.id].setAt != 0
                    || !_isSigned(entry.user, entry.id, entry.data, entry.nonce, entry.signature)
            ) {
                emit EntryLeftOut(entry.user, entry.id);
            } else {
                _set(entry.user, entry.id, entry.data, entry.nonce);
            }
        }
    }

    /// @return data empty if there is no entry
    /// @return setAt time of the block in which it was set, in Unix seconds; zero if there is none
    function getEntry(address user, bytes32 id) external view returns (bytes memory data, uint256 setAt) {
        Entry storage entry = _entries[user][id];
        return (entry.data, entry.setAt);
    }

    function _isSigned(address user, bytes32 id, bytes calldata data, bytes32 nonce, bytes calldata signature)
        private
        view
        returns (bool)
    {
        bytes32 digest =
            _hashTypedDataV4(keccak256(abi.encode(SET_ENTRY_TYPEHASH, user, id, keccak256(data), nonce)));
        return SignatureChecker.isValidSignatureNowCalldata(oracle, digest, signature);
    }

    function _set(address user, bytes32 id, bytes calldata data, bytes32 nonce) private {
        _entries[user][id] = Entry({data: data, setAt: block.timestamp});
        emit EntrySet(user, id, data, nonce, block.timestamp);
    }
}
