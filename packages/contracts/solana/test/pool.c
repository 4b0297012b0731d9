/*
 * Swap pools, for tests: what an aggregator's program is on public clusters. It takes two instructions of Jupiter's
 * program, route and exact_out_route, and swaps by constant product, with a fee of 30 bps, between two token accounts of
 * its PDA (seeds "pool"). Not for money.
 *
 * The data is decoded from the front, and bytes behind it are ignored, as Anchor does. The steps of a plan must name a
 * pool of Raydium or a Whirlpool; what they say is ignored.
 *
 * The accounts are those of Jupiter's program. Behind its own address follow the account that the pool receives in, the
 * account that it pays from, and the PDA.
 */

typedef unsigned char u8;
typedef unsigned long long u64;

struct slice { const void *at; u64 length; };
struct seeds { struct slice *list; u64 count; };
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

extern u64 sol_try_find_program_address(const struct slice *seeds, u64 count, const void *program, u64 *key, u8 *bump);
extern u64 sol_invoke_signed_c(const struct instruction *what, const struct account *accounts, u64 count,
                               const struct seeds *signers, u64 signer_count);

#define ROUTE 0x2aade37a97cb17e5ULL
#define EXACT_OUT_ROUTE 0x5ced2b7b97ef33d0ULL
#define NUMBERS 19
#define RAYDIUM 7
#define WHIRLPOOL 17
#define EMPTY_ROUTE 6000
#define BPS 10000ULL
#define AFTER_FEE 9970ULL
#define SLIPPAGE_EXCEEDED 6001
#define INVALID (3ULL << 32)
#define MOST 20

struct memory {
  struct account accounts[MOST], infos[3];
  struct meta metas[3];
  struct instruction call;
  u8 call_data[9];
  u64 seed, pda[4];
  u8 bump;
  struct slice seeds[2];
  struct seeds signer;
};
#define M ((struct memory *)0x300000000ULL)
#define A(index) (&M->accounts[index])
#define REQUIRE(condition, error) do { if (!(condition)) return (error); } while (0)

/* Numbers in the data lie at any address. */
static u64 number_at(const u8 *at, u64 bytes) {
  u64 number = 0;
  for (u64 index = 0; index < bytes; index++) number |= (u64)at[index] << (8 * index);
  return number;
}

/* a * b / c, rounded down; all ones when that is no u64. */
static u64 mul_div(u64 a, u64 b, u64 c) {
  u64 low = 0xffffffffULL;
  u64 p00 = (a & low) * (b & low), p01 = (a & low) * (b >> 32), p10 = (a >> 32) * (b & low);
  u64 middle = (p00 >> 32) + (p01 & low) + (p10 & low);
  u64 rest = (a >> 32) * (b >> 32) + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
  u64 bits = (p00 & low) | (middle << 32);
  if (rest >= c) return ~0ULL;
  u64 quotient = 0;
  for (u64 step = 0; step < 64; step++) {
    u64 carry = rest >> 63;
    rest = (rest << 1) | (bits >> 63), bits <<= 1, quotient <<= 1;
    if (carry || rest >= c) rest -= c, quotient |= 1;
  }
  return quotient;
}

static u64 move(u64 from, u64 to, u64 authority, u64 amount, u64 is_pool) {
  u64 places[3] = {from, to, authority};
  for (u64 index = 0; index < 3; index++) {
    M->infos[index] = *A(places[index]);
    M->metas[index].key = M->infos[index].key;
    M->metas[index].is_writable = index < 2, M->metas[index].is_signer = index == 2;
  }
  M->call_data[0] = 3;
  for (u64 index = 0; index < 8; index++) M->call_data[1 + index] = amount >> (8 * index);
  M->call.program = A(0)->key, M->call.metas = M->metas, M->call.count = 3;
  M->call.data = M->call_data, M->call.length = 9;
  return sol_invoke_signed_c(&M->call, M->infos, 3, &M->signer, is_pool);
}

/* Where the plan ends; 0 when it cannot be decoded. */
static u64 plan_end(const u8 *data, u64 length) {
  u64 steps = number_at(data + 8, 4), at = 12;
  for (u64 step = 0; step < steps; step++) {
    REQUIRE(at < length && (data[at] == RAYDIUM || data[at] == WHIRLPOOL), 0);
    at += data[at] == WHIRLPOOL ? 5 : 4;
  }
  return at;
}

u64 entrypoint(u8 *input) {
  u64 count = *(u64 *)input;
  REQUIRE(count <= MOST, INVALID);
  u8 *at = input + 8;
  for (u64 index = 0; index < count; index++) {
    struct account *account = A(index);
    u8 first = at[0];
    if (first != 0xff) {
      *account = *A(first);
      at += 8;
      continue;
    }
    account->is_signer = at[1], account->is_writable = at[2], account->is_executable = at[3];
    account->key = (u64 *)(at + 8), account->owner = (u64 *)(at + 40), account->lamports = (u64 *)(at + 72);
    account->length = *(u64 *)(at + 80), account->data = at + 88;
    u8 *end = (u8 *)(((u64)(account->data + account->length + 10240) + 7) & ~7ULL);
    account->rent_epoch = *(u64 *)end;
    at = end + 8;
  }
  u64 length = *(u64 *)at;
  u8 *data = at + 8, *program = data + length;
  REQUIRE(length >= 12, INVALID);
  u64 name = number_at(data, 8);
  REQUIRE(name == ROUTE || name == EXACT_OUT_ROUTE, INVALID);
  u64 pool = name == ROUTE ? 9 : 11;
  REQUIRE(count >= pool + 3, INVALID);

  M->seed = 0x6c6f6f70ULL;
  M->seeds[0].at = &M->seed, M->seeds[0].length = 4;
  M->seeds[1].at = &M->bump, M->seeds[1].length = 1;
  M->signer.list = M->seeds, M->signer.count = 2;
  u64 failure = sol_try_find_program_address(M->seeds, 1, program, M->pda, &M->bump);
  REQUIRE(!failure, failure);
  for (u64 word = 0; word < 4; word++) REQUIRE(A(pool + 2)->key[word] == M->pda[word], INVALID);
  REQUIRE(A(pool)->length >= 72 && A(pool + 1)->length >= 72, INVALID);
  u64 has_in = number_at(A(pool)->data + 64, 8), has_out = number_at(A(pool + 1)->data + 64, 8);

  u64 end = plan_end(data, length);
  REQUIRE(end && end + NUMBERS <= length, INVALID);
  REQUIRE(end > 12, EMPTY_ROUTE);
  const u8 *numbers = data + end;
  u64 fixed = number_at(numbers, 8), quoted = number_at(numbers + 8, 8), slippage = number_at(numbers + 16, 2);
  REQUIRE(slippage <= BPS, INVALID);
  u64 in = fixed, out = fixed;
  if (name == ROUTE) {
    u64 counted = mul_div(in, AFTER_FEE, BPS);
    out = mul_div(has_out, counted, has_in + counted);
    REQUIRE(out >= mul_div(quoted, BPS - slippage, BPS), SLIPPAGE_EXCEEDED);
  } else {
    REQUIRE(out < has_out, SLIPPAGE_EXCEEDED);
    in = mul_div(mul_div(has_in, out, has_out - out) + 1, BPS, AFTER_FEE) + 1;
    REQUIRE(in <= mul_div(quoted, BPS + slippage, BPS), SLIPPAGE_EXCEEDED);
  }
  failure = move(2, pool, 1, in, 0);
  REQUIRE(!failure, failure);
  return move(pool + 1, 3, pool + 2, out, 1);
}
