// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Ownable} from "solady/src/auth/Ownable.sol";
import {LibCWIA} from "solady/src/utils/legacy/LibCWIA.sol";

import {DepositAddress} from "./DepositAddress.sol";
import {Depository} from "./Depository.sol";

/// What an address is made of: another value anywhere is another address.
struct DepositAddressKey {
    /// Of a strict address the id of its order; of an open one anything that tells it from others.
    bytes32 id;
    /// Who the deposits belong to; zero is the address itself.
    address depositor;
    /// Who may withdraw everything; zero means that this is not possible.
    address recovery;
    /// Whether everything at the address is deposited under the order `id` and under no other. Anyone may
    /// then deposit it.
    bool strict;
}

/// One deposit of what is at an address.
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

/// @title Addresses to which anyone can pay without calling anything, and what happens to these payments.
/// @notice An address has no code until something is to be moved out of it. Then its clone is created and
/// passes the money on, only to the depository or to the recovery address of its key.
/// @dev At open addresses the operator decides under which order a sum is deposited, so it is trusted with
/// what is there and not yet deposited. At strict ones it decides only how much is deposited when, never
/// under which order. Under the lock, nothing that is called in between can move anything at any address.
contract DepositAddressFactory is Ownable, ReentrancyGuardTransient {
    event OperatorChanged(address previousOperator, address newOperator);
    event Recovered(address depositAddress, address currency, uint256 amount);

    error AddressCannotBeZero();
    error OnlyOperator();
    error OnlyRecovery();
    /// The address is open: only the operator can say which order a sum at it is for.
    error NotStrict();
    /// The address is strict: what is there is deposited under the order of its key alone.
    error NotOrderOfKey(bytes32 orderId, bytes32 keyId);
    /// What the depositor allows the address is not `amount`: the permit was refused, or is for another
    /// amount.
    error AllowanceIsNotAmount(uint256 allowance, uint256 amount);

    /// What all addresses are clones of.
    DepositAddress public immutable implementation;
    /// Of every clone: with this factory and the hash of a key (as salt) it makes the address, by CREATE2.
    bytes32 public immutable initCodeHash;

    /// Decides which order a sum is for. The owner may change it: addresses that were given out cannot be
    /// revoked, and would be out of reach with a lost key.
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

    /// @notice Where to pay for `key`, whether anything was created there or not. The salt is
    /// keccak256(abi.encode(key)).
    function addressOf(DepositAddressKey calldata key) public view returns (address) {
        return LibCWIA.predictDeterministicAddress(initCodeHash, keccak256(abi.encode(key)), address(this));
    }

    /// @notice Deposits `amount` of what is at the address of `key` under `orderId`. Only the operator.
    /// @param orderId of a strict key its own id
    /// @param currency zero is native
    function sweep(DepositAddressKey calldata key, address currency, uint256 amount, bytes32 orderId)
        external
        nonReentrant
    {
        _requireOperator();
        _sweep(key, currency, amount, orderId);
    }

    /// @notice Makes deposits in order, all or none. Only the operator.
    /// @dev When more was paid than quoted, the quoted amount and the excess become two deposits in one
    /// transaction.
    function sweepMany(Sweep[] calldata sweeps) external nonReentrant {
        _requireOperator();
        for (uint256 i = 0; i < sweeps.length; ++i) {
            Sweep calldata one = sweeps[i];
            _sweep(one.key, one.currency, one.amount, one.orderId);
        }
    }

    /// @notice Deposits all of `currency` that is at a strict address under the order of its key. Anyone may,
    /// because nothing else can be done with it.
    /// @param currency zero is native
    function sweepStrict(DepositAddressKey calldata key, address currency) external nonReentrant {
        if (!key.strict) revert NotStrict();
        DepositAddress clone = _created(key);
        clone.deposit(key.depositor, currency, clone.balanceOf(currency), key.id);
    }

    /// @notice Pays all of `currency` that is at the address of `key` to its recovery address. Only that
    /// address may.
    /// @param currency zero is native
    function recover(DepositAddressKey calldata key, address currency) external nonReentrant {
        if (msg.sender != key.recovery) revert OnlyRecovery();
        DepositAddress clone = _created(key);
        uint256 amount = clone.withdraw(currency, key.recovery);
        emit Recovered(address(clone), currency, amount);
    }

    /// @notice Pulls `amount` of `token` from the depositor with its signature and deposits it under the
    /// order of a strict `key`. Anyone may: the address can do nothing else with it.
    /// @dev A permit that another account submitted before is as good: only the allowance counts. It must be
    /// exactly `amount`; otherwise the first caller could deposit a part of what was signed.
    function pull(DepositAddressKey calldata key, address token, uint256 amount, Permit calldata permit)
        external
        nonReentrant
    {
        if (!key.strict) revert NotStrict();
        DepositAddress clone = _created(key);
        try IERC20Permit(token).permit(
            key.depositor, address(clone), amount, permit.deadline, permit.v, permit.r, permit.s
        ) {} catch {}
        uint256 allowance = IERC20(token).allowance(key.depositor, address(clone));
        if (allowance != amount) revert AllowanceIsNotAmount(allowance, amount);
        clone.pull(key.depositor, token, amount, key.id);
    }

    function _sweep(DepositAddressKey calldata key, address currency, uint256 amount, bytes32 orderId) private {
        if (key.strict && orderId != key.id) revert NotOrderOfKey(orderId, key.id);
        _created(key).deposit(key.depositor, currency, amount, orderId);
    }

    /// The clone of `key`, created unless it was before.
    function _created(DepositAddressKey calldata key) private returns (DepositAddress) {
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

    /// @dev A second initialisation of the owner must fail.
    function _guardInitializeOwner() internal pure override returns (bool) {
        return true;
    }
}
