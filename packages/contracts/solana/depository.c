/*
 * Depository: holds deposits and pays them out against requests that the allocator signed.
 * README.md describes it; idl.json lists instructions, accounts, events and errors for clients.
 *
 * The program uses no development kit, so that a plain clang builds it (build.ts). All working memory is
 * one struct at the start of the heap, because the stack of a BPF function is small. The program allocates
 * nothing, has no unbounded loop and does not divide.
 *
 * Accounts that this program owns (PDAs; integers are little endian):
 *   depository    seeds "depository". 106 bytes: discriminator 8, owner 32, allocator 32, bump of the vault 1,
 *                 Option tag 1 (always 1), domain separator 32.
 *   used_request  seeds "used_request", sha256 of the request. 9 bytes: discriminator 8, 1. It exists once
 *                 the request was paid, and stays forever: that is what makes a request payable once.
 * The vault (seeds "vault") belongs to the system program and has no data. It holds the lamports; tokens are in
 * its associated token accounts.
 */

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

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

extern u64 sol_sha256(const struct slice *parts, u64 count, u64 *hash);
extern u64 sol_log_data(const struct slice *parts, u64 count);
extern u64 sol_try_find_program_address(const struct slice *seeds, u64 count, const void *program, u64 *key, u8 *bump);
extern u64 sol_create_program_address(const struct slice *seeds, u64 count, const void *program, u64 *key);
extern u64 sol_invoke_signed_c(const struct instruction *what, const struct account *accounts, u64 count,
                               const struct seeds *signers, u64 signer_count);
extern u64 sol_get_clock_sysvar(u64 *clock);
extern u64 sol_get_rent_sysvar(u64 *rent);

#define FAIL_INVALID_DATA (3ULL << 32)
#define FAIL_WRONG_PROGRAM (7ULL << 32)
#define FAIL_NO_SIGNATURE (8ULL << 32)
#define FAIL_INITIALIZED (9ULL << 32)
#define FAIL_TOO_FEW_ACCOUNTS (11ULL << 32)
enum {
  TRANSFER_REQUEST_ALREADY_USED = 6000,
  INVALID_MINT,
  INVALID_TOKEN_PROGRAM,
  UNAUTHORIZED,
  ALLOCATOR_SIGNER_MISMATCH,
  MESSAGE_MISMATCH,
  MALFORMED_ED25519_DATA,
  MISSING_SIGNATURE,
  SIGNATURE_EXPIRED,
  INVALID_RECIPIENT,
  INVALID_VAULT_TOKEN_ACCOUNT,
  INSUFFICIENT_VAULT_BALANCE,
  INVALID_DOMAIN_SEPARATOR,
  DOMAIN_SEPARATOR_ALREADY_SET,
  INVALID_VAULT_ADDRESS,
  ACCOUNT_WRITE_FAILED,
  INVALID_DEPOSITORY_PDA,
  MALFORMED_ACCOUNT,
  INVALID_ACCOUNT_DISCRIMINATOR,
  REENTRANCY_DETECTED,
  INVALID_ACCOUNT_SIZE,
  INVALID_PROGRAM_DATA,
};

/* Discriminators as little-endian words: the first 8 bytes of instructions, events and accounts. */
#define INITIALIZE 0xed9b980d1f6dafafULL
#define DEPOSIT_NATIVE 0x61cd55fdf0d9e0dULL
#define DEPOSIT_TOKEN 0x13b4a327da609c0bULL
#define EXECUTE_TRANSFER 0x771fceebb8a07ee9ULL
#define DEPOSIT_EVENT 0x906b8e1f533df878ULL
#define TRANSFER_EXECUTED_EVENT 0x7c782c12b8b20a5cULL
#define DEPOSITORY_ACCOUNT 0x6bf553f3bd9c3580ULL
#define USED_REQUEST_ACCOUNT 0x6bb462964d6e8687ULL

#define SYSTEM 0, 0, 0, 0
#define TOKEN 0x93a165d7e1f6dd06ULL, 0xac79ebce46e1cbd9ULL, 0x91375b5fed85b41cULL, 0xa900ff7e85f58c3aULL
#define TOKEN_2022 0xde8f75eee1f6dd06ULL, 0xdacd6ce4bc5d4218ULL, 0x270db9834dfc1ab6ULL, 0xfc8ba1d828f9bdfeULL
#define ASSOCIATED_TOKEN 0xf189244e8f25978cULL, 0x830d8e1429103dbbULL, 0x8410ffda99135a0bULL, 0x59f8e9dbd87b8e04ULL
#define INSTRUCTIONS_SYSVAR 0x66d17b1817d5a706ULL, 0xc0c2fd5504d4da35ULL, 0xa57556218fc624c1ULL, 0x85fcbbadbULL
/* BPFLoaderUpgradeab1e11111111111111111111111 */
#define UPGRADEABLE_LOADER 0xb0a1884e91f6a802ULL, 0x2bae63f73e1510e2ULL, 0xd224c1163db9c200ULL, 0x8004107a53c0ULL
#define ED25519 0xbefb937cd6467d03ULL, 0xff408d838f42f912ULL, 0x648af42749747005ULL, 0x804470cafcULL

#define MAX_ACCOUNTS 16
#define DEPOSITORY_LENGTH 106
#define USED_REQUEST_LENGTH 9
/* The loader's record of a program: tag 3 (u32), slot (u64), Option<upgrade authority>, then the ELF file. */
#define PROGRAM_DATA_TAG 3
#define PROGRAM_DATA_HEADER 45
#define MAX_CHAIN_ID_LENGTH 64

/* Working memory. The runtime gives each call 32 KiB of heap. */
struct memory {
  struct account accounts[MAX_ACCOUNTS];
  const u8 *data;
  u64 length;
  const void *program;

  struct meta metas[8];
  struct account infos[8];
  struct instruction call;
  u8 call_data[64];
  u64 count;

  u64 vault_seed, depository_seed[2], used_request_seed[2];
  struct slice vault_seeds[2], depository_seeds[2], used_request_seeds[3], token_account_seeds[3],
      program_data_seeds[1], parts[5];
  struct seeds signer;
  u8 vault_bump, depository_bump, used_request_bump, token_account_bump, program_data_bump;
  u64 depository[4], vault[4], used_request[4], token_account[4], program_data[4], loader[4], hash[4];

  u64 clock[5];
  u64 rent[3];
  u8 domain_prefix[16];
  u8 event[256];
};
#define M ((struct memory *)0x300000000ULL)
#define A(index) (&M->accounts[index])
#define TRY(act) do { u64 failure = (act); if (failure) return failure; } while (0)
#define REQUIRE(condition, error) do { if (!(condition)) return (error); } while (0)

static inline int same(const void *a, const void *b) {
  const u64 *x = a, *y = b;
  return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3];
}

static inline int is(const void *key, u64 a, u64 b, u64 c, u64 d) {
  const u64 *x = key;
  return x[0] == a && x[1] == b && x[2] == c && x[3] == d;
}

static inline void copy_key(void *to, const void *from) {
  u64 *x = to;
  const u64 *y = from;
  x[0] = y[0], x[1] = y[1], x[2] = y[2], x[3] = y[3];
}

/* The runtime's own copy of the length, because a call to another program can change it. */
static inline u64 length_of(const struct account *account) { return *(const u64 *)(account->data - 8); }
static inline u64 u64_at(const u8 *at) { return *(const u64 *)at; }

/*
 * Parses the runtime's input. An instruction may have more accounts than it needs, because wallets append
 * references, up to MAX_ACCOUNTS in total.
 */
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

/* The rent-exempt minimum, in lamports. The threshold is a binary64 number, 2 or 1. */
static u64 min_balance(u64 length, u64 *minimum) {
  TRY(sol_get_rent_sysvar(M->rent));
  *minimum = (128 + length) * M->rent[0];
  if (M->rent[1] == 0x4000000000000000ULL) *minimum *= 2;
  else REQUIRE(M->rent[1] == 0x3ff0000000000000ULL, FAIL_INVALID_DATA);
  return 0;
}

static inline void begin_call(const u64 *program) { M->call.program = program, M->call.count = 0, M->call.length = 0; }

static void add_account(const struct account *account, u8 is_writable, u8 is_signer) {
  u64 at = M->call.count++;
  M->metas[at].key = account->key, M->metas[at].is_writable = is_writable, M->metas[at].is_signer = is_signer;
  M->infos[at] = *account;
  M->infos[at].length = length_of(account);
}

static inline void append_u8(u8 value) { M->call_data[M->call.length++] = value; }
static inline void append_u32(u32 value) { *(u32 *)(M->call_data + M->call.length) = value, M->call.length += 4; }
static inline void append_u64(u64 value) { *(u64 *)(M->call_data + M->call.length) = value, M->call.length += 8; }

/* Makes the call. `signer`: the seeds of a PDA of this program that signs, or null. */
static u64 make_call(struct slice *signer, u64 seed_count) {
  M->call.metas = M->metas, M->call.data = M->call_data;
  M->signer.list = signer, M->signer.count = seed_count;
  return sol_invoke_signed_c(&M->call, M->infos, M->call.count, &M->signer, signer == 0 ? 0 : 1);
}

static u64 move_lamports(const struct account *from, const struct account *to, u64 amount, struct slice *signer,
                         const u64 *system) {
  begin_call(system);
  add_account(from, 1, 1), add_account(to, 1, 0);
  append_u32(2), append_u64(amount);
  return make_call(signer, 2);
}

/* Derives the depository's address. The seeds of both PDAs stay in memory for signing. */
static u64 derive(void) {
  M->depository_seed[0] = 0x6f7469736f706564ULL, M->depository_seed[1] = 0x7972ULL;
  M->depository_seeds[0].at = M->depository_seed, M->depository_seeds[0].length = 10;
  M->depository_seeds[1].at = &M->depository_bump, M->depository_seeds[1].length = 1;
  M->vault_seed = 0x746c756176ULL;
  M->vault_seeds[0].at = &M->vault_seed, M->vault_seeds[0].length = 5;
  M->vault_seeds[1].at = &M->vault_bump, M->vault_seeds[1].length = 1;
  return sol_try_find_program_address(M->depository_seeds, 1, M->program, M->depository, &M->depository_bump);
}

/*
 * Creates an account of this program. The address may hold lamports already: anyone can send some to it, which
 * must not prevent its creation.
 */
static u64 create_account(const struct account *account, const struct account *payer, u64 length, struct slice *seeds,
                        u64 seed_count, const u64 *system) __attribute__((always_inline));
static u64 create_account(const struct account *account, const struct account *payer, u64 length, struct slice *seeds,
                        u64 seed_count, const u64 *system) {
  u64 minimum;
  TRY(min_balance(length, &minimum));
  if (*account->lamports < minimum) TRY(move_lamports(payer, account, minimum - *account->lamports, 0, system));
  begin_call(system);
  add_account(account, 1, 1);
  append_u32(8), append_u64(length);
  TRY(make_call(seeds, seed_count));
  begin_call(system);
  add_account(account, 1, 1);
  append_u32(1), append_u64(((const u64 *)M->program)[0]), append_u64(((const u64 *)M->program)[1]);
  append_u64(((const u64 *)M->program)[2]), append_u64(((const u64 *)M->program)[3]);
  TRY(make_call(seeds, seed_count));
  REQUIRE(same(account->owner, M->program) && length_of(account) == length, ACCOUNT_WRITE_FAILED);
  return 0;
}

/* Checks both addresses and the depository's layout. Leaves the bump of the vault in memory. */
static u64 check_depository(const struct account *depository, const struct account *vault) {
  TRY(derive());
  REQUIRE(same(depository->key, M->depository) && same(depository->owner, M->program), INVALID_DEPOSITORY_PDA);
  REQUIRE(length_of(depository) == DEPOSITORY_LENGTH, INVALID_ACCOUNT_SIZE);
  REQUIRE(u64_at(depository->data) == DEPOSITORY_ACCOUNT, INVALID_ACCOUNT_DISCRIMINATOR);
  M->vault_bump = depository->data[72];
  TRY(sol_create_program_address(M->vault_seeds, 2, M->program, M->vault));
  REQUIRE(same(vault->key, M->vault), INVALID_VAULT_ADDRESS);
  return 0;
}

/* Checks that `account` is the associated token account of `wallet` for `mint`. It need not exist. */
static u64 check_token_account(const struct account *account, const u64 *wallet, const u64 *token_program,
                               const u64 *mint, const u64 *associated_token) {
  M->token_account_seeds[0].at = wallet, M->token_account_seeds[0].length = 32;
  M->token_account_seeds[1].at = token_program, M->token_account_seeds[1].length = 32;
  M->token_account_seeds[2].at = mint, M->token_account_seeds[2].length = 32;
  TRY(sol_try_find_program_address(M->token_account_seeds, 3, associated_token, M->token_account,
                                   &M->token_account_bump));
  REQUIRE(same(account->key, M->token_account), INVALID_VAULT_TOKEN_ACCOUNT);
  return 0;
}

static u64 check_token_programs(const struct account *mint, const struct account *token,
                                const struct account *associated_token, const struct account *system) {
  REQUIRE(is(token->key, TOKEN) || is(token->key, TOKEN_2022), INVALID_TOKEN_PROGRAM);
  REQUIRE(same(mint->owner, token->key) && length_of(mint) >= 82, INVALID_MINT);
  REQUIRE(is(associated_token->key, ASSOCIATED_TOKEN) && is(system->key, SYSTEM), FAIL_WRONG_PROGRAM);
  return 0;
}

/*
 * Creates the token account unless it exists. The associated token program rejects an account whose owner was
 * changed.
 */
static u64 create_token_account(const struct account *payer, const struct account *account,
                              const struct account *wallet, const struct account *mint, const struct account *system,
                              const struct account *token, const u64 *associated_token)
    __attribute__((always_inline));
static u64 create_token_account(const struct account *payer, const struct account *account,
                              const struct account *wallet, const struct account *mint, const struct account *system,
                              const struct account *token, const u64 *associated_token) {
  begin_call(associated_token);
  add_account(payer, 1, 1), add_account(account, 1, 0), add_account(wallet, 0, 0);
  add_account(mint, 0, 0), add_account(system, 0, 0), add_account(token, 0, 0);
  append_u8(1);
  return make_call(0, 0);
}

/* TransferChecked: names the mint and its decimals. */
static inline void begin_token_transfer(const struct account *token, const struct account *from,
                                        const struct account *mint, const struct account *to,
                                        const struct account *authority, u64 amount) {
  begin_call(token->key);
  add_account(from, 1, 0), add_account(mint, 0, 0), add_account(to, 1, 0), add_account(authority, 0, 1);
  append_u8(12), append_u64(amount), append_u8(mint->data[44]);
}

static inline u64 emit(u64 length) {
  M->parts[0].at = M->event, M->parts[0].length = length;
  return sol_log_data(M->parts, 1);
}

/* Only the upgrade authority may initialize, so that no one else can do it first after a deployment. */
static u64 check_upgrade_authority(const struct account *program_data, const struct account *authority) {
  M->program_data_seeds[0].at = M->program, M->program_data_seeds[0].length = 32;
  const u64 loader[4] = {UPGRADEABLE_LOADER};
  copy_key(M->loader, loader);
  TRY(sol_try_find_program_address(M->program_data_seeds, 1, M->loader, M->program_data, &M->program_data_bump));
  REQUIRE(same(program_data->key, M->program_data) && same(program_data->owner, M->loader), INVALID_PROGRAM_DATA);
  REQUIRE(length_of(program_data) >= PROGRAM_DATA_HEADER, INVALID_PROGRAM_DATA);
  REQUIRE(*(const u32 *)program_data->data == PROGRAM_DATA_TAG, INVALID_PROGRAM_DATA);
  REQUIRE(program_data->data[12] == 1 && same(program_data->data + 13, authority->key), UNAUTHORIZED);
  return 0;
}

/*
 * Accounts: depository (w), vault (w), authority (s, w), allocator, program data, system program, owner.
 * Data: discriminator, chain id as a borsh string.
 * The authority is the upgrade authority of this program and pays the rent. Owner and allocator are recorded.
 */
static inline u64 initialize(void) {
  struct account *depository = A(0), *vault = A(1), *authority = A(2), *allocator = A(3), *program_data = A(4),
                 *system = A(5), *owner = A(6);
  REQUIRE(M->count >= 7, FAIL_TOO_FEW_ACCOUNTS);
  REQUIRE(M->length >= 12, FAIL_INVALID_DATA);
  u64 chain_id_length = *(const u32 *)(M->data + 8);
  REQUIRE(chain_id_length >= 1 && chain_id_length <= MAX_CHAIN_ID_LENGTH, FAIL_INVALID_DATA);
  REQUIRE(M->length == 12 + chain_id_length, FAIL_INVALID_DATA);
  REQUIRE(authority->is_signer, FAIL_NO_SIGNATURE);
  TRY(check_upgrade_authority(program_data, authority));
  REQUIRE(is(system->key, SYSTEM), FAIL_WRONG_PROGRAM);
  TRY(derive());
  REQUIRE(same(depository->key, M->depository), INVALID_DEPOSITORY_PDA);
  REQUIRE(is(depository->owner, SYSTEM) && length_of(depository) == 0, FAIL_INITIALIZED);
  TRY(sol_try_find_program_address(M->vault_seeds, 1, M->program, M->vault, &M->vault_bump));
  REQUIRE(same(vault->key, M->vault), INVALID_VAULT_ADDRESS);

  TRY(create_account(depository, authority, DEPOSITORY_LENGTH, M->depository_seeds, 2, system->key));
  /* A vault below the rent-exempt minimum could not receive a small deposit. */
  u64 minimum;
  TRY(min_balance(0, &minimum));
  if (*vault->lamports < minimum) TRY(move_lamports(authority, vault, minimum - *vault->lamports, 0, system->key));

  /*
   * Domain separator: sha256 of "Depository", "1", the chain id and this program's address. A request signed
   * for one deployment is invalid on every other.
   */
  *(u64 *)M->domain_prefix = 0x6f7469736f706544ULL;
  M->domain_prefix[8] = 'r', M->domain_prefix[9] = 'y', M->domain_prefix[10] = '1';
  M->parts[0].at = M->domain_prefix, M->parts[0].length = 11;
  M->parts[1].at = M->data + 12, M->parts[1].length = chain_id_length;
  M->parts[2].at = M->program, M->parts[2].length = 32;
  TRY(sol_sha256(M->parts, 3, M->hash));

  u8 *data = depository->data;
  *(u64 *)data = DEPOSITORY_ACCOUNT;
  copy_key(data + 8, owner->key);
  copy_key(data + 40, allocator->key);
  data[72] = M->vault_bump;
  data[73] = 1;
  copy_key(data + 74, M->hash);
  return 0;
}

/*
 * Accounts: depository, sender (s, w), depositor, vault (w), system program.
 * Data: discriminator, amount (u64), id (32 bytes).
 */
static inline u64 deposit_native(void) {
  struct account *depository = A(0), *sender = A(1), *depositor = A(2), *vault = A(3), *system = A(4);
  REQUIRE(M->count >= 5, FAIL_TOO_FEW_ACCOUNTS);
  REQUIRE(M->length == 48, FAIL_INVALID_DATA);
  TRY(check_depository(depository, vault));
  REQUIRE(is(system->key, SYSTEM), FAIL_WRONG_PROGRAM);
  REQUIRE(sender->is_signer, FAIL_NO_SIGNATURE);
  u64 amount = u64_at(M->data + 8);
  TRY(move_lamports(sender, vault, amount, 0, system->key));
  *(u64 *)M->event = DEPOSIT_EVENT;
  copy_key(M->event + 8, depositor->key);
  M->event[40] = 0;
  *(u64 *)(M->event + 41) = amount;
  copy_key(M->event + 49, M->data + 16);
  return emit(81);
}

/*
 * Accounts: depository, sender (s, w), depositor, vault, mint, sender's token account (w), vault's token account
 * (w), token program, associated token program, system program.
 * Data: discriminator, amount (u64), id (32 bytes).
 */
static inline u64 deposit_token(void) {
  struct account *depository = A(0), *sender = A(1), *depositor = A(2), *vault = A(3), *mint = A(4), *from = A(5),
                 *to = A(6), *token = A(7), *associated_token = A(8), *system = A(9);
  REQUIRE(M->count >= 10, FAIL_TOO_FEW_ACCOUNTS);
  REQUIRE(M->length == 48, FAIL_INVALID_DATA);
  TRY(check_depository(depository, vault));
  REQUIRE(sender->is_signer, FAIL_NO_SIGNATURE);
  TRY(check_token_programs(mint, token, associated_token, system));
  TRY(check_token_account(to, vault->key, token->key, mint->key, associated_token->key));
  TRY(create_token_account(sender, to, vault, mint, system, token, associated_token->key));
  REQUIRE(same(to->owner, token->key) && length_of(to) >= 165, INVALID_VAULT_TOKEN_ACCOUNT);
  REQUIRE(same(to->data, mint->key) && same(to->data + 32, vault->key), INVALID_VAULT_TOKEN_ACCOUNT);
  /* The event states what the vault received: mints of Token-2022 may keep a transfer fee. */
  u64 before = u64_at(to->data + 64);
  begin_token_transfer(token, from, mint, to, sender, u64_at(M->data + 8));
  TRY(make_call(0, 0));
  u64 after = u64_at(to->data + 64);
  REQUIRE(after >= before, INVALID_VAULT_TOKEN_ACCOUNT);
  *(u64 *)M->event = DEPOSIT_EVENT;
  copy_key(M->event + 8, depositor->key);
  M->event[40] = 1;
  copy_key(M->event + 41, mint->key);
  *(u64 *)(M->event + 73) = after - before;
  copy_key(M->event + 81, M->data + 16);
  return emit(113);
}

/*
 * The previous instruction must be the runtime's ed25519 check that the allocator signed exactly `hash`: one
 * signature, with key, signature and message in that instruction itself. With offsets into other instructions,
 * the bytes read here would not be the bytes that were verified.
 */
static inline u64 check_signature(const struct account *sysvar, const u8 *allocator, const u64 *hash) {
  REQUIRE(is(sysvar->key, INSTRUCTIONS_SYSVAR), MISSING_SIGNATURE);
  u64 length = length_of(sysvar);
  const u8 *data = sysvar->data;
  REQUIRE(length >= 4, MISSING_SIGNATURE);
  u64 current = *(const u16 *)(data + length - 2);
  REQUIRE(current >= 1, MISSING_SIGNATURE);
  u64 start = *(const u16 *)(data + 2 + 2 * (current - 1));
  REQUIRE(start + 2 <= length, MALFORMED_ED25519_DATA);
  const u8 *at = data + start;
  u64 program = start + 2 + 33ULL * *(const u16 *)at;
  REQUIRE(program + 32 + 2 + 144 <= length, MISSING_SIGNATURE);
  at = data + program;
  REQUIRE(is(at, ED25519), MISSING_SIGNATURE);
  REQUIRE(*(const u16 *)(at + 32) == 144, MALFORMED_ED25519_DATA);
  at += 34;
  REQUIRE(at[0] == 1 && at[1] == 0, MALFORMED_ED25519_DATA);
  const u16 *places = (const u16 *)(at + 2);
  REQUIRE(places[0] == 48 && places[1] == 0xffff && places[2] == 16 && places[3] == 0xffff, MALFORMED_ED25519_DATA);
  REQUIRE(places[4] == 112 && places[5] == 32 && places[6] == 0xffff, MALFORMED_ED25519_DATA);
  REQUIRE(same(at + 16, allocator), ALLOCATOR_SIGNER_MISMATCH);
  REQUIRE(same(at + 112, hash), MESSAGE_MISMATCH);
  return 0;
}

/*
 * Accounts: depository, executor (s, w), recipient (w), vault (w), mint or this program, recipient's token account
 * (w) or this program, vault's token account (w) or this program, used_request (w), instructions sysvar, token
 * program, associated token program, system program.
 * Data: discriminator, request: domain separator 32, recipient 32, Option<mint> 1 or 33, amount (u64), nonce
 * (u64), expiration (i64, Unix seconds), vault 32.
 */
static inline u64 execute_transfer(void) {
  struct account *depository = A(0), *executor = A(1), *recipient = A(2), *vault = A(3), *mint = A(4), *to = A(5),
                 *from = A(6), *used = A(7), *sysvar = A(8), *token = A(9), *associated_token = A(10), *system = A(11);
  REQUIRE(M->count >= 12, FAIL_TOO_FEW_ACCOUNTS);
  const u8 *request = M->data + 8;
  u64 length = M->length - 8;
  REQUIRE(M->length >= 8 + 65, FAIL_INVALID_DATA);
  u64 is_token = request[64];
  REQUIRE(is_token <= 1, FAIL_INVALID_DATA);
  REQUIRE(length == (is_token ? 153 : 121), FAIL_INVALID_DATA);
  const u8 *numbers = request + (is_token ? 97 : 65);
  u64 amount = u64_at(numbers);
  i64 expiration = (i64)u64_at(numbers + 16);

  TRY(check_depository(depository, vault));
  REQUIRE(executor->is_signer, FAIL_NO_SIGNATURE);
  REQUIRE(is(system->key, SYSTEM), FAIL_WRONG_PROGRAM);
  REQUIRE(same(numbers + 24, vault->key), INVALID_VAULT_ADDRESS);
  REQUIRE(same(request + 32, recipient->key) && !same(recipient->key, vault->key), INVALID_RECIPIENT);
  REQUIRE(depository->data[73] == 1 && same(request, depository->data + 74), INVALID_DOMAIN_SEPARATOR);

  M->parts[0].at = request, M->parts[0].length = length;
  TRY(sol_sha256(M->parts, 1, M->hash));
  M->used_request_seed[0] = 0x7165725f64657375ULL, M->used_request_seed[1] = 0x74736575ULL;
  M->used_request_seeds[0].at = M->used_request_seed, M->used_request_seeds[0].length = 12;
  M->used_request_seeds[1].at = M->hash, M->used_request_seeds[1].length = 32;
  M->used_request_seeds[2].at = &M->used_request_bump, M->used_request_seeds[2].length = 1;
  TRY(sol_try_find_program_address(M->used_request_seeds, 2, M->program, M->used_request, &M->used_request_bump));
  REQUIRE(same(used->key, M->used_request), MALFORMED_ACCOUNT);
  REQUIRE(is(used->owner, SYSTEM) && length_of(used) == 0, TRANSFER_REQUEST_ALREADY_USED);

  TRY(sol_get_clock_sysvar(M->clock));
  REQUIRE((i64)M->clock[4] < expiration, SIGNATURE_EXPIRED);
  TRY(check_signature(sysvar, depository->data + 40, M->hash));

  TRY(create_account(used, executor, USED_REQUEST_LENGTH, M->used_request_seeds, 3, system->key));
  *(u64 *)used->data = USED_REQUEST_ACCOUNT;
  used->data[8] = 1;

  if (is_token) {
    TRY(check_token_programs(mint, token, associated_token, system));
    REQUIRE(same(request + 65, mint->key), INVALID_MINT);
    TRY(check_token_account(from, vault->key, token->key, mint->key, associated_token->key));
    TRY(check_token_account(to, recipient->key, token->key, mint->key, associated_token->key));
    TRY(create_token_account(executor, to, recipient, mint, system, token, associated_token->key));
    REQUIRE(same(from->owner, token->key) && length_of(from) >= 165, INVALID_VAULT_TOKEN_ACCOUNT);
    REQUIRE(u64_at(from->data + 64) >= amount, INSUFFICIENT_VAULT_BALANCE);
    begin_token_transfer(token, from, mint, to, vault, amount);
    TRY(make_call(M->vault_seeds, 2));
  } else {
    u64 minimum;
    TRY(min_balance(0, &minimum));
    REQUIRE(*vault->lamports >= minimum && *vault->lamports - minimum >= amount, INSUFFICIENT_VAULT_BALANCE);
    TRY(move_lamports(vault, recipient, amount, M->vault_seeds, system->key));
  }

  *(u64 *)M->event = TRANSFER_EXECUTED_EVENT;
  for (u64 at = 0; at < length; at++) M->event[8 + at] = request[at];
  copy_key(M->event + 8 + length, executor->key);
  copy_key(M->event + 40 + length, used->key);
  return emit(72 + length);
}

u64 entrypoint(u8 *input) {
  TRY(read_input(input));
  REQUIRE(M->length >= 8, FAIL_INVALID_DATA);
  u64 name = u64_at(M->data);
  if (name == DEPOSIT_NATIVE) return deposit_native();
  if (name == DEPOSIT_TOKEN) return deposit_token();
  if (name == EXECUTE_TRANSFER) return execute_transfer();
  if (name == INITIALIZE) return initialize();
  return FAIL_INVALID_DATA;
}
