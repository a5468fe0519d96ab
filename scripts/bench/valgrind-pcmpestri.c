/*
 * Loaded before Bun under Valgrind (`bun run bench instructions`): Valgrind 3.19 does not know PCMPESTRI with the mode 4
 * (unsigned bytes, ranges, lowest index), which Bun's parser of HTTP heads uses, and raises SIGILL for it. The handler here
 * does what the instruction does. Bun's own handler of SIGILL is kept out, because it would take the place of this one.
 *
 * Only ECX is set: the parser reads nothing else, and Valgrind takes no flags back from a handler. Valgrind neither shows a
 * handler the vector registers in its context nor restores them after it: so they are read from the processor itself, and
 * this is built with -mgeneral-regs-only.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

typedef int (*set_action)(int, const struct sigaction *, struct sigaction *);

static set_action real_sigaction(void) {
  static set_action found;
  if (!found) found = (set_action)dlsym(RTLD_NEXT, "sigaction");
  return found;
}

/* Registers in the order of their numbers in machine code. */
static const int NUMBERED[16] = {
  REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
  REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/* Explicit lengths are signed, and at most 16 bytes are looked at. */
static int length_of(greg_t value) {
  int32_t length = (int32_t)value;
  if (length < 0) length = length == INT32_MIN ? 16 : -length;
  return length > 16 ? 16 : length;
}

/* 66 [REX] 0F 3A 61 /r 04; ends the process for anything else. */
static void on_illegal(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  uint8_t vectors[2][16];
  __asm__ volatile("movdqu %%xmm0, %0\n\tmovdqu %%xmm1, %1" : "=m"(vectors[0]), "=m"(vectors[1]));
  ucontext_t *at = context;
  greg_t *registers = at->uc_mcontext.gregs;
  const uint8_t *code = (const uint8_t *)registers[REG_RIP];
  int rex = 0;
  if (*code++ != 0x66) abort();
  if ((*code & 0xF0) == 0x40) rex = *code++;
  if (code[0] != 0x0F || code[1] != 0x3A || code[2] != 0x61) abort();
  code += 3;

  int modrm = *code++;
  int mode = modrm >> 6;
  int first = ((modrm >> 3) & 7) | ((rex & 4) << 1);
  int base = (modrm & 7) | ((rex & 1) << 3);
  /* The parser has its ranges in one of two registers and its text in memory, never beside RIP or without a base. */
  if (first > 1 || mode == 3 || (mode == 0 && (modrm & 7) == 5)) abort();
  greg_t address = 0;
  if ((modrm & 7) == 4) {
    int sib = *code++;
    int index = ((sib >> 3) & 7) | ((rex & 2) << 2);
    base = (sib & 7) | ((rex & 1) << 3);
    if (mode == 0 && (base & 7) == 5) abort();
    if (index != 4) address += registers[NUMBERED[index]] << (sib >> 6);
  }
  address += registers[NUMBERED[base]];
  if (mode == 1) address += (int8_t)*code++;
  if (mode == 2) {
    address += *(const int32_t *)code;
    code += 4;
  }
  if (*code++ != 0x04) abort();

  const uint8_t *text = (const uint8_t *)address;
  const uint8_t *ranges = vectors[first];
  int bounds = length_of(registers[REG_RAX]);
  int length = length_of(registers[REG_RDX]);
  int found = 16;
  for (int i = 0; i < length && found == 16; i++)
    for (int bound = 0; bound + 1 < bounds; bound += 2)
      if (ranges[bound] <= text[i] && text[i] <= ranges[bound + 1]) found = i;
  registers[REG_RCX] = found;
  registers[REG_RIP] = (greg_t)code;
}

int sigaction(int signal, const struct sigaction *wanted, struct sigaction *before) {
  if (signal == SIGILL && wanted) return 0;
  return real_sigaction()(signal, wanted, before);
}

__attribute__((constructor)) static void install(void) {
  struct sigaction action = { .sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO | SA_NODEFER };
  real_sigaction()(SIGILL, &action, NULL);
}
