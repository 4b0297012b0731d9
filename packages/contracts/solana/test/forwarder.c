/*
 * Forwarder, for tests: calls the program that its first account names with the other accounts, as they were given to it, and its own data. Stands for wallets
 * that are programs, and for strangers that put a program between a user and the depository.
 */

typedef unsigned char u8;
typedef unsigned long long u64;

struct account {
  u64 *key, *lamports;
  u64 length;
  u8 *data;
  u64 *owner;
  u64 rent_epoch;
  u8 is_signer, is_writable, is_executable;
};
struct meta { const u64 *key; u8 is_writable, is_signer; };
struct instruction { const u64 *program; struct meta *metas; u64 count; u8 *data; u64 length; };

extern u64 sol_invoke_signed_c(const struct instruction *what, const struct account *accounts, u64 count,
                               const void *signers, u64 signer_count);

#define MOST 20
struct memory {
  struct account accounts[MOST];
  struct meta metas[MOST];
  struct instruction call;
};
#define M ((struct memory *)0x300000000ULL)

u64 entrypoint(u8 *input) {
  u64 count = *(u64 *)input;
  if (count < 1 || count > MOST) return 2ULL << 32;
  u8 *at = input + 8;
  for (u64 index = 0; index < count; index++) {
    struct account *account = &M->accounts[index];
    u8 first = at[0];
    if (first != 0xff) {
      struct account *earlier = &M->accounts[first];
      account->key = earlier->key, account->lamports = earlier->lamports, account->length = earlier->length;
      account->data = earlier->data, account->owner = earlier->owner, account->rent_epoch = earlier->rent_epoch;
      account->is_signer = earlier->is_signer, account->is_writable = earlier->is_writable;
      account->is_executable = earlier->is_executable;
      at += 8;
    } else {
      account->is_signer = at[1], account->is_writable = at[2], account->is_executable = at[3];
      account->key = (u64 *)(at + 8), account->owner = (u64 *)(at + 40), account->lamports = (u64 *)(at + 72);
      account->length = *(u64 *)(at + 80), account->data = at + 88;
      u8 *end = (u8 *)(((u64)(account->data + account->length + 10240) + 7) & ~7ULL);
      account->rent_epoch = *(u64 *)end;
      at = end + 8;
    }
    M->metas[index].key = account->key;
    M->metas[index].is_signer = account->is_signer, M->metas[index].is_writable = account->is_writable;
  }
  M->call.program = M->accounts[0].key, M->call.metas = M->metas + 1, M->call.count = count - 1;
  M->call.length = *(u64 *)at, M->call.data = at + 8;
  return sol_invoke_signed_c(&M->call, M->accounts + 1, count - 1, 0, 0);
}
