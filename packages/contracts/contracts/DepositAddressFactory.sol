// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Ownable} from "solady/src/auth/Ownable.sol";
import {LibCWIA} from "solady/src/utils/legacy/LibCWIA.sol";

import {DepositAddress} from "./DepositAddress.sol";
import {Depository} from "./Depository.sol";

/// The data from which an address is derived: every different value gives a different address.
struct DepositAddressKey {
    /// For a strict address, the id of its order; for an open one, any value that makes it unique.
    bytes32 id;
    /// The owner of the deposits; zero means the address itself.
    address depositor;
    /// The account that may withdraw everything; zero means that no one may.
    address recovery;
    /// Whether everything at the address is deposited only under the order `id`. Anyone may then deposit it.
    bool strict;
}

/// One deposit of funds at an address.
struct Sweep {
    DepositAddressKey key;
    /// Zero is native.
    address currency;
    uint256 amount;
    bytes32 orderId;
}

/// An EIP-2612 signature of the depositor, for the address as spender and the whole amount.
struct Permit {
    /// Unix seconds.
    uint256 deadline;
    uint8 v;
    bytes32 r;
    bytes32 s;
}

/// @title Creates deposit addresses, to which anyone can pay with a plain transfer, and deposits their funds.
/// @notice An address has no code until something must be moved out of it. Then its clone is created, which
/// sends the money only to the depository or to the recovery address of its key.
/// @dev For open addresses, the operator decides under which order an amount is deposited, so it is trusted
/// with what is not yet deposited. For strict ones, it decides only when and how much is deposited, never
/// under which order. Because of the lock, no contract called in between can move anything at any address.
contract DepositAddressFactory is Ownable, ReentrancyGuardTransient {
    event OperatorChanged(address previousOperator, address newOperator);
    event Recovered(address depositAddress, address currency, uint256 amount);

    error AddressCannotBeZero();
    error OnlyOperator();
    error OnlyRecovery();
    /// The address is open: only the operator can decide for which order an amount is.
    error NotStrict();
    /// The address is strict: its funds are deposited only under the order of its key.
    error NotOrderOfKey(bytes32 orderId, bytes32 keyId);
    /// The depositor's allowance for the address is not `amount`: the permit was refused, or is for another
    /// amount.
    error AllowanceIsNotAmount(uint256 allowance, uint256 amount);

    /// The code that all clones use.
    DepositAddress public immutable implementation;
    /// The same for every clone. With this factory and the hash of a key (the salt), it determines the
    /// address by CREATE2.
    bytes32 public immutable initCodeHash;

    /// Decides for which order an amount is. The owner may change it: published addresses cannot be revoked,
    /// and a lost key would make them unusable.
    address public operator;

    constructor(Depository depository, address owner_, address operator_) {
        if (address(depository) == address(0) || owner_ == address(0)) revert AddressCannotBeZero();
        _initializeOwner(owner_);
        implementation = new DepositAddress(depository);
        initCodeHash = LibCWIA.initCodeHash(address(implementation), new bytes(0));
        _setOperator(operator_);
    }

    function setOperator(address newOperator) external onlyOwner {
        _setOperator(newOperator);
    }

    /// @notice The address of `key`, whether its clone exists or not. The salt is
    /// keccak256(abi.encode(key)).
    function addressOf(DepositAddressKey calldata key) public view returns (address) {
        return LibCWIA.predictDeterministicAddress(initCodeHash, keccak256(abi.encode(key)), address(this));
    }

    /// @notice Deposits `amount` from the address of `key` under `orderId`. Only the operator may.
    /// @param orderId for a strict key, its own id
    /// @param currency zero is native
    function sweep(DepositAddressKey calldata key, address currency, uint256 amount, bytes32 orderId)
        external
        nonReentrant
    {
        _requireOperator();
        _sweep(key, currency, amount, orderId);
    }

    /// @notice Makes deposits in order, all or none. Only the operator may.
    /// @dev If more was paid than quoted, the quoted amount and the excess become two deposits in one
    /// transaction.
    function sweepMany(Sweep[] calldata sweeps) external nonReentrant {
        _requireOperator();
        for (uint256 i = 0; i < sweeps.length; ++i) {
            Sweep calldata one = sweeps[i];
            _sweep(one.key, one.currency, one.amount, one.orderId);
        }
    }

    /// @notice Deposits the whole balance of `currency` at a strict address under the order of its key.
    /// Anyone may, because it cannot be used for anything else.
    /// @param currency zero is native
    function sweepStrict(DepositAddressKey calldata key, address currency) external nonReentrant {
        if (!key.strict) revert NotStrict();
        DepositAddress clone = _getOrCreate(key);
        clone.deposit(key.depositor, currency, clone.balanceOf(currency), key.id);
    }

    /// @notice Pays the whole balance of `currency` at the address of `key` to its recovery address. Only
    /// that address may.
    /// @param currency zero is native
    function recover(DepositAddressKey calldata key, address currency) external nonReentrant {
        if (msg.sender != key.recovery) revert OnlyRecovery();
        DepositAddress clone = _getOrCreate(key);
        uint256 amount = clone.withdraw(currency, key.recovery);
        emit Recovered(address(clone), currency, amount);
    }

    /// @notice Pulls `amount` of `token` from the depositor with its signature and deposits it under the
    /// order of a strict `key`. Anyone may: the address cannot use it for anything else.
    /// @dev A permit that another account has already submitted works too: only the allowance counts. It must
    /// be exactly `amount`; otherwise the first caller could deposit a part of what was signed.
    function pull(DepositAddressKey calldata key, address token, uint256 amount, Permit calldata permit)
        external
        nonReentrant
    {
        if (!key.strict) revert NotStrict();
        DepositAddress clone = _getOrCreate(key);
        try IERC20Permit(token).permit(
            key.depositor, address(clone), amount, permit.deadline, permit.v, permit.r, permit.s
        ) {} catch {}
        uint256 allowance = IERC20(token).allowance(key.depositor, address(clone));
        if (allowance != amount) revert AllowanceIsNotAmount(allowance, amount);
        clone.pull(key.depositor, token, amount, key.id);
    }

    function _sweep(DepositAddressKey calldata key, address currency, uint256 amount, bytes32 orderId) private {
        if (key.strict && orderId != key.id) revert NotOrderOfKey(orderId, key.id);
        _getOrCreate(key).deposit(key.depositor, currency, amount, orderId);
    }

    /// The clone of `key`, created if it does not exist.
    function _getOrCreate(DepositAddressKey calldata key) private returns (DepositAddress) {
        address clone = addressOf(key);
        if (clone.code.length == 0) {
            LibCWIA.cloneDeterministic(address(implementation), new bytes(0), keccak256(abi.encode(key)));
        }
        return DepositAddress(clone);
    }

    function _requireOperator() private view {
        if (msg.sender != operator) revert OnlyOperator();
    }

    function _setOperator(address newOperator) private {
        if (newOperator == address(0)) revert AddressCannotBeZero();
        emit OperatorChanged(operator, newOperator);
        operator = newOperator;
    }

    /// @dev Makes a second initialization of the owner fail.
    function _guardInitializeOwner() internal pure override returns (bool) {
        return true;
    }
}
