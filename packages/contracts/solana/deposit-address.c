/*
 * Deposit addresses: each is an account of this program that can only pay into one depository.
 * README.md describes it; deposit-address.idl.json lists instructions and errors for clients.
 *
 * An address has the seeds "deposit_address", depository program, operator, depositor, order id, strict (one
 * byte). It belongs to the system program, has no data, and owns token accounts like a wallet. The program has
 * no state and no administrator: whatever an address may do follows from its seeds.
 *
 * Like the depository, the program uses no development kit, keeps its working memory at the start of the heap,
 * allocates nothing and has no unbounded loop. It shares no source with the depository, so that built.json
 * covers each program with one hash.
 */

typedef unsigned char u8;
typedef unsigned long long u64;

struct slice { const void *at; u64 length; };

/* An account in the layout of the runtime's calls to other programs. */
struct account {
  u64 *key;
  u64 *lamports;
  u64 length;
  u8 *data;
  u64 *owner;
  u64 rent_epoch;
  u8 is_signer;
  u8 is_writable;
  u8 is_executable;
};

struct meta { const u64 *key; u8 is_writable; u8 is_signer; };
struct instruction { const u64 *program; struct meta *metas; u64 count; u8 *data; u64 length; };
struct seeds { struct slice *list; u64 count; };

extern u64 sol_try_find_program_address(const struct slice *seeds, u64 count, const void *program, u64 *key, u8 *bump);
extern u64 sol_invoke_signed_c(const struct instruction *what, const struct account *accounts, u64 count,
                               const struct seeds *signers, u64 signer_count);
extern u64 sol_get_rent_sysvar(u64 *rent);

#define FAIL_INVALID_DATA (3ULL << 32)
#define FAIL_NO_SIGNATURE (8ULL << 32)
#define FAIL_TOO_FEW_ACCOUNTS (11ULL << 32)
enum {
  UNAUTHORIZED = 6000,
  INVALID_DEPOSIT_ADDRESS,
  INVALID_DEPOSITORY,
  ORDER_MISMATCH,
  INSUFFICIENT_BALANCE,
};

/* Discriminators as little-endian words: the first 8 bytes of instructions and accounts. */
#define SWEEP_NATIVE 0x70ee9afb7e055bb3ULL
#define SWEEP_TOKEN 0x5367b72a37d2b1c5ULL
/* Of the depository. */
#define DEPOSIT_NATIVE 0x61cd55fdf0d9e0dULL
#define DEPOSIT_TOKEN 0x13b4a327da609c0bULL
#define DEPOSITORY_ACCOUNT 0x6bf553f3bd9c3580ULL
#define DEPOSITORY_LENGTH 106

#define MAX_ACCOUNTS 20

/* Working memory. The runtime gives each call 32 KiB of heap. */
struct memory {
  struct account accounts[MAX_ACCOUNTS];
  const u8 *data;
  u64 length;
  const void *program;
  u64 count;

  struct meta metas[10];
  struct account infos[10];
  struct instruction call;
  u64 call_data[6];

  u64 address_seed[2], depository_seed[2];
  struct slice address_seeds[7], depository_seeds[1];
  struct seeds signer;
  u8 address_bump, depository_bump;
  u64 address[4], depository[4];
  u64 rent[3];
};
#define M ((struct memory *)0x300000000ULL)
#define A(index) (&M->accounts[index])
#define TRY(act) do { u64 failure = (act); if (failure) return failure; } while (0)
#define REQUIRE(condition, error) do { if (!(condition)) return (error); } while (0)

/* The data of both instructions, after the discriminator. */
#define DATA_LENGTH 121
#define OPERATOR (M->data + 8)
#define ID (M->data + 40)
#define STRICT (M->data + 72)
#define ORDER (M->data + 73)
#define AMOUNT u64_at(M->data + 105)
#define EXCESS u64_at(M->data + 113)

static inline int same(const void *a, const void *b) {
  const u64 *x = a, *y = b;
  return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3];
}

static inline u64 u64_at(const u8 *at) { return *(const u64 *)at; }

/* The runtime's own copy of the length, because a call to another program can change it. */
static inline u64 length_of(const struct account *account) { return *(const u64 *)(account->data - 8); }

/* Parses the runtime's input. Wallets append references, so there may be more accounts than needed. */
static inline u64 read_input(u8 *input) {
  u64 count = *(u64 *)input;
  REQUIRE(count <= MAX_ACCOUNTS, FAIL_INVALID_DATA);
  u8 *at = input + 8;
  for (u64 index = 0; index < count; index++) {
    struct account *account = A(index);
    u8 first = at[0];
    if (first != 0xff) {
      /* A duplicate; the runtime refers to earlier accounts only. */
      struct account *earlier = A(first);
      account->key = earlier->key, account->lamports = earlier->lamports, account->length = earlier->length;
      account->data = earlier->data, account->owner = earlier->owner, account->rent_epoch = earlier->rent_epoch;
      account->is_signer = earlier->is_signer, account->is_writable = earlier->is_writable;
      account->is_executable = earlier->is_executable;
      at += 8;
      continue;
    }
    account->is_signer = at[1], account->is_writable = at[2], account->is_executable = at[3];
    account->key = (u64 *)(at + 8), account->owner = (u64 *)(at + 40), account->lamports = (u64 *)(at + 72);
    account->length = *(u64 *)(at + 80), account->data = at + 88;
    /* The data is followed by 10240 bytes of room to grow, and the rent epoch at the next multiple of 8. */
    u8 *end = (u8 *)(((u64)(account->data + account->length + 10240) + 7) & ~7ULL);
    account->rent_epoch = *(u64 *)end;
    at = end + 8;
  }
  M->length = *(u64 *)at, M->data = at + 8, M->program = at + 8 + M->length, M->count = count;
  return 0;
}

/* The rent-exempt minimum of an account without data, in lamports. The threshold is a binary64 number, 2 or 1. */
static u64 min_balance(u64 *minimum) {
  TRY(sol_get_rent_sysvar(M->rent));
  *minimum = 128 * M->rent[0];
  if (M->rent[1] == 0x4000000000000000ULL) *minimum *= 2;
  else REQUIRE(M->rent[1] == 0x3ff0000000000000ULL, FAIL_INVALID_DATA);
  return 0;
}

/* The owner that the depository recorded may stand in for a lost operator: it appointed the allocator. */
static u64 check_owner(const struct account *program, const struct account *depository,
                       const struct account *authority) {
  M->depository_seed[0] = 0x6f7469736f706564ULL, M->depository_seed[1] = 0x7972ULL;
  M->depository_seeds[0].at = M->depository_seed, M->depository_seeds[0].length = 10;
  TRY(sol_try_find_program_address(M->depository_seeds, 1, program->key, M->depository, &M->depository_bump));
  REQUIRE(same(depository->key, M->depository) && same(depository->owner, program->key), INVALID_DEPOSITORY);
  REQUIRE(length_of(depository) == DEPOSITORY_LENGTH, INVALID_DEPOSITORY);
  REQUIRE(u64_at(depository->data) == DEPOSITORY_ACCOUNT, INVALID_DEPOSITORY);
  REQUIRE(same(authority->key, depository->data + 8), UNAUTHORIZED);
  return 0;
}

/* Checks who asks, for which order, and that the address has these seeds. The seeds stay in memory for signing. */
static u64 check(const struct account *program, const struct account *depository, const struct account *authority,
                 const struct account *depositor, const struct account *address) {
  REQUIRE(M->length == DATA_LENGTH && *STRICT <= 1 && AMOUNT > 0, FAIL_INVALID_DATA);
  REQUIRE(authority->is_signer, FAIL_NO_SIGNATURE);
  if (!same(authority->key, OPERATOR)) TRY(check_owner(program, depository, authority));
  if (*STRICT) REQUIRE(same(ORDER, ID), ORDER_MISMATCH);

  M->address_seed[0] = 0x5f7469736f706564ULL, M->address_seed[1] = 0x73736572646461ULL;
  M->address_seeds[0].at = M->address_seed, M->address_seeds[0].length = 15;
  M->address_seeds[1].at = program->key, M->address_seeds[1].length = 32;
  M->address_seeds[2].at = OPERATOR, M->address_seeds[2].length = 32;
  M->address_seeds[3].at = depositor->key, M->address_seeds[3].length = 32;
  M->address_seeds[4].at = ID, M->address_seeds[4].length = 32;
  M->address_seeds[5].at = STRICT, M->address_seeds[5].length = 1;
  M->address_seeds[6].at = &M->address_bump, M->address_seeds[6].length = 1;
  TRY(sol_try_find_program_address(M->address_seeds, 6, M->program, M->address, &M->address_bump));
  REQUIRE(same(address->key, M->address), INVALID_DEPOSIT_ADDRESS);
  return 0;
}

static void add_account(const struct account *account, u8 is_writable, u8 is_signer) {
  u64 at = M->call.count++;
  M->metas[at].key = account->key, M->metas[at].is_writable = is_writable, M->metas[at].is_signer = is_signer;
  M->infos[at] = *account;
  M->infos[at].length = length_of(account);
}

/* Calls the depository, signed by the address, with the accounts that were added. */
static u64 deposit(const struct account *program, u64 name, u64 amount) {
  const u64 *order = (const u64 *)ORDER;
  M->call_data[0] = name, M->call_data[1] = amount;
  M->call_data[2] = order[0], M->call_data[3] = order[1], M->call_data[4] = order[2], M->call_data[5] = order[3];
  M->call.program = program->key, M->call.metas = M->metas;
  M->call.data = (u8 *)M->call_data, M->call.length = 48;
  M->signer.list = M->address_seeds, M->signer.count = 7;
  return sol_invoke_signed_c(&M->call, M->infos, M->call.count, &M->signer, 1);
}

/*
 * Accounts: depository program, depository, authority (s), depositor, deposit address (w), vault (w), system
 * program.
 * Data: discriminator, operator 32, id 32, strict 1, order id 32, amount (u64), excess (u64).
 * Makes one deposit of `amount` and one of `excess`. What would stay at the address, but cannot, because it is
 * below the rent-exempt minimum, adds to the excess: anyone can send one lamport to fail a sweep otherwise.
 */
static u64 sweep_native(void) {
  struct account *program = A(0), *depository = A(1), *authority = A(2), *depositor = A(3), *address = A(4),
                 *vault = A(5), *system = A(6);
  REQUIRE(M->count >= 7, FAIL_TOO_FEW_ACCOUNTS);
  TRY(check(program, depository, authority, depositor, address));
  u64 lamports = *address->lamports, amount = AMOUNT, excess = EXCESS;
  REQUIRE(amount <= lamports && excess <= lamports - amount, INSUFFICIENT_BALANCE);
  u64 rest = lamports - amount - excess, minimum;
  TRY(min_balance(&minimum));
  if (rest < minimum) excess += rest;
  M->call.count = 0;
  add_account(depository, 0, 0), add_account(address, 1, 1), add_account(depositor, 0, 0);
  add_account(vault, 1, 0), add_account(system, 0, 0);
  TRY(deposit(program, DEPOSIT_NATIVE, amount));
  if (excess > 0) TRY(deposit(program, DEPOSIT_NATIVE, excess));
  return 0;
}

/*
 * Accounts: depository program, depository, authority (s), depositor, deposit address (w), vault, mint, token
 * account of the address (w), vault's token account (w), token program, associated token program, system program.
 * Data: as above. The vault's token account must exist: the address has no lamports to pay for it.
 */
static u64 sweep_token(void) {
  struct account *program = A(0), *depository = A(1), *authority = A(2), *depositor = A(3), *address = A(4),
                 *vault = A(5), *mint = A(6), *from = A(7), *to = A(8), *token = A(9), *associated_token = A(10),
                 *system = A(11);
  REQUIRE(M->count >= 12, FAIL_TOO_FEW_ACCOUNTS);
  TRY(check(program, depository, authority, depositor, address));
  M->call.count = 0;
  add_account(depository, 0, 0), add_account(address, 1, 1), add_account(depositor, 0, 0);
  add_account(vault, 0, 0), add_account(mint, 0, 0), add_account(from, 1, 0), add_account(to, 1, 0);
  add_account(token, 0, 0), add_account(associated_token, 0, 0), add_account(system, 0, 0);
  TRY(deposit(program, DEPOSIT_TOKEN, AMOUNT));
  if (EXCESS > 0) TRY(deposit(program, DEPOSIT_TOKEN, EXCESS));
  return 0;
}

u64 entrypoint(u8 *input) {
  TRY(read_input(input));
  REQUIRE(M->length >= 8, FAIL_INVALID_DATA);
  u64 name = u64_at(M->data);
  if (name == SWEEP_NATIVE) return sweep_native();
  if (name == SWEEP_TOKEN) return sweep_token();
  return FAIL_INVALID_DATA;
}
