// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title Statements of hub accounts that the oracles signed.
/// @notice An entry is written once: the first statement of an account about an id cannot be changed, so that
/// all oracles read the same. Anyone may submit an entry that the oracles signed, and no other can be set.
contract GenericMapping is EIP712 {
    event EntrySet(address indexed user, bytes32 indexed id, bytes data, bytes32 nonce, uint256 setAt);

    /// In a batch: it is set already, or not signed.
    event EntryLeftOut(address indexed user, bytes32 indexed id);

    error AddressCannotBeZero();
    error DataCannotBeEmpty();
    error InvalidSignature();
    /// The account has an entry for that id.
    error EntryIsSet(address user, bytes32 id);

    /// What the oracles signed, and their signature.
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

    /// Whose signature proves an entry: the OracleMultisig, or an account.
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

    /// @notice Several at once. What cannot be set is left out: one entry must not hold up the others.
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

    /// @return data empty while there is no entry
    /// @return setAt time of the block in which it was set, Unix seconds; zero while there is none
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
